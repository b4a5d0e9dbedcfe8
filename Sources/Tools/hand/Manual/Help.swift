import HandFormats

/// `hand help`, for commands (the parser writes their help) and for topics.
enum Help {
    /// Appends the command's examples to its help.
    ///
    /// - Parameter text: the parser's output. Other output than help, such as the version, is returned unchanged.
    static func completed(_ text: String, _ arguments: [String]) -> String {
        guard text.contains("\nUSAGE: ") || text.hasPrefix("USAGE: ") else { return text }
        return String(text.trimmed(\.isNewline)) + "\n" + Examples.text(of: Arguments.path(of: arguments))
    }

    /// Prints the topic that the arguments ask for. Returns false if they ask for none.
    static func printTopic(_ arguments: [String]) -> Bool {
        guard arguments.first == "help", arguments.count == 2 else { return false }
        if arguments[1] == "topics" {
            Output.line(Printable(lines: Topic.overview) + "\n\nRead one with: hand help TOPIC")
            return true
        }
        guard let topic = Topic.all.first(where: { $0.name == arguments[1] }) else { return false }
        Output.line(Printable(lines: HelpText.text(topic.text)))
        return true
    }
}

/// Wraps text at a width that is easy to read.
enum HelpText {
    private static let width = 80

    /// Breaks the lines at spaces. Lines that begin with a space stay as they are.
    static func text(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix(" ") ? String(line) : lines(of: line, width: width).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    static func lines(of paragraph: some StringProtocol, width: Int) -> [String] {
        var lines = [""]
        for word in paragraph.split(separator: " ") {
            if lines[lines.count - 1].isEmpty {
                lines[lines.count - 1] = String(word)
            } else if lines[lines.count - 1].count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
