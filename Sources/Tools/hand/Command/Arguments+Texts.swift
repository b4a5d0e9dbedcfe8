import ArgumentParser
import HandFormats

/// Texts that begin with a dash, such as "- wash" or "-5". The parser would look for options in the letters of such a
/// text.
extension Arguments {
    /// Whether a word has the form of an option: `-x`, `-xyz`, `--word`, or one of these forms with `=` and a value.
    static func isOption(_ word: String) -> Bool {
        word.wholeMatch(of: #/(-[A-Za-z]+|--[A-Za-z][A-Za-z0-9-]*)(=.*)?/#.dotMatchesNewlines()) != nil
    }

    private static func isDashed(_ word: String) -> Bool { word.hasPrefix("-") && word != "-" }

    /// The arguments and options of the command that some words name.
    static func table(of path: [String]) throws -> [CommandDump.Argument] {
        try CommandDump.of(command(at: path)).arguments ?? []
    }

    /// Rewrites the arguments so that the parser takes each argument that cannot be an option as a text. The value of
    /// an option is joined to the option's name; other texts stand after `--`.
    ///
    /// - Throws: `ValidationError` for a word of letters that are not all options: among the letters, the parser might
    ///   find an option that prints help.
    static func separateTexts(in arguments: inout [String]) throws {
        // A shell asks for completions in words of its own.
        if arguments.first?.hasPrefix("---") == true { return }
        let path = path(of: arguments)
        let words = arguments.dropFirst(path.count)
        let ours = words.prefix { $0 != "--" }
        // The parser drops what stands after the equals sign, prints the help and succeeds.
        if let word = ours.first(where: { $0.hasPrefix("--help=") || $0.hasPrefix("--version=") }) {
            throw ValidationError("the option '\(word.prefix { $0 != "=" })' does not take any value: '\(word)'")
        }
        guard ours.contains(where: { isDashed($0) && (!isOption($0) || isLetters($0)) }) else { return }
        let table = try table(of: path)
        var (options, texts): ([String], [String]) = ([], [])
        var rest = ours
        while let word = rest.popFirst() {
            guard isOption(word) else {
                texts.append(word)
                continue
            }
            options.append(word)
            guard let option = try option(word, in: table, path), !word.contains("="), let value = rest.first else {
                continue
            }
            if isOption(value), isLetters(value) {
                throw ValidationError(
                    "--\(option) needs a value. If '\(value)' is the value, write --\(option)=\(ShellWord.quoted(value))"
                )
            }
            if isDashed(value), !isOption(value) {
                options[options.count - 1] = "--\(option)=\(value)"
                rest.removeFirst()
            } else if !isOption(value) {
                options.append(rest.removeFirst())
            }
        }
        // A command with such an argument has its texts after -- only.
        if table.contains(where: { $0.parsingStrategy == "postTerminator" }) { return }
        texts += words.dropFirst(ours.count + 1)
        arguments = path + options + (texts.isEmpty ? [] : ["--"] + texts)
    }

    /// Whether a word is a dash and several letters, or a letter and a value.
    private static func isLetters(_ word: String) -> Bool { word.utf8.count > 2 && !word.hasPrefix("--") }

    /// The long name of the option that takes the next word as its value; nil if no option does.
    private static func option(_ word: String, in table: [CommandDump.Argument], _ path: [String]) throws -> String? {
        let name = word.prefix { $0 != "=" }
        let names = name.hasPrefix("--") ? [String(name)] : name.dropFirst().map { "-\($0)" }
        let found = names.map { name in table.first { $0.names?.contains { $0.text == name } ?? false } }
        let takers = found.map { $0?.kind == "option" }
        if isLetters(word),
            found.contains(where: { $0 == nil }) || takers.dropLast().contains(true)
                || name != word && takers.last == false
        {
            throw ValidationError(unknown(word, in: table, path))
        }
        guard takers.last == true else { return nil }
        return found.last??.names?.first { $0.kind == "long" }?.name
    }

    /// The message about an option that the command does not have, with the one that may be meant, and how to write a
    /// text of that form if the command takes texts.
    static func unknown(_ option: String, in table: [CommandDump.Argument], _ path: [String]) -> String {
        let names = table.flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name)
        var sentences = ["unknown option '\(option)'"]
        if option.hasPrefix("--"), let meant = Spelling.nearest(to: String(option.dropFirst(2)), among: names) {
            sentences[0] += ". Did you mean '--\(meant)'?"
        }
        if table.contains(where: { $0.isPositional && $0.valueName?.hasPrefix("text") == true }) {
            let command = (["hand"] + path + ["--", ShellWord.quoted(option)]).joined(separator: " ")
            sentences.append("If it is a text, put it after --: \(command)")
        }
        return sentences.joined(separator: sentences[0].hasSuffix("?") ? " " : ". ")
    }
}
