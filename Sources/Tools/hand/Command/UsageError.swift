import HandFormats

/// What the argument parser says about wrong arguments, in one form with all other messages.
struct UsageError {
    private let text: String
    private let path: [String]
    private let arguments: [String]

    /// - Parameter text: the parser's message.
    init(_ text: String, _ arguments: [String]) {
        self.text = text
        self.arguments = arguments
        path = Arguments.path(of: arguments)
    }

    /// The message, and where to read on.
    func described(_ explained: (String) -> String) -> Printable {
        let command = (["hand"] + path).joined(separator: " ")
        return "hand: \(Printable(lines: explained(sentence)))\nSee '\(command) --help'"
    }

    private var sentence: String {
        let table = (try? Arguments.table(of: path)) ?? []
        // The parser's guesses are far off.
        if let match = text.firstMatch(of: #/^Unknown option '([^'= ]+)/#) {
            return Arguments.unknown(String(match.1), in: table, path)
        }
        if let match = text.firstMatch(of: #/^Value to be set with flag '(.+)' had already been set with flag '/#) {
            return Self.choice(of: String(match.1), in: table)
        }
        let words = text.prefix(1).lowercased() + String(text.dropFirst())
        return [words, hint].compactMap { $0 }.joined(separator: ". ")
    }

    /// Names the flags that exclude each other: in the help they have one text.
    private static func choice(of flag: String, in table: [CommandDump.Argument]) -> String {
        let same = table.first { $0.names?.contains { $0.text == flag } ?? false }
        let flags = table.filter { $0.kind == "flag" && $0.abstract == same?.abstract }.compactMap {
            $0.names?.last?.text
        }
        let last = flags.last.map { " or \($0)" } ?? ""
        return "choose one: \(flags.dropLast().joined(separator: ", "))\(last)"
    }

    /// How to give a value that begins with a dash.
    private var hint: String? {
        guard let match = text.firstMatch(of: #/^Missing value for '(--?[a-z-]+)/#),
            let next = arguments.firstIndex(of: String(match.1)).map({ $0 + 1 }),
            next < arguments.count, arguments[next].hasPrefix("-")
        else { return nil }
        return "If '\(arguments[next])' is the value, write \(match.1)=\(ShellWord.quoted(arguments[next]))"
    }
}
