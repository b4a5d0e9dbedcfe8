import ArgumentParser
import HandFormats

/// `hand help`: of commands, which the parser writes, and of topics.
enum Help {
    /// What ends the help of a command: its examples.
    ///
    /// - Parameter text: what the parser prints; something else, such as the version, has no such end.
    static func completed(_ text: String, _ arguments: [String]) -> String {
        guard text.contains("\nUSAGE: ") || text.hasPrefix("USAGE: ") else { return text }
        return text.trimmingSuffix { $0.isNewline } + "\n" + Examples.text(of: Arguments.path(of: arguments))
    }

    /// Prints the topic that the arguments ask for. Returns whether they do.
    static func printTopic(_ arguments: [String]) -> Bool {
        guard arguments.first == "help", arguments.count == 2 else { return false }
        if arguments[1] == "topics" {
            Output.line(Topic.overview + "\n\nRead one with: hand help TOPIC")
            return true
        }
        guard let topic = Topic(rawValue: arguments[1]) else { return false }
        Output.line(Wrapping.text(topic.text))
        return true
    }
}

/// Lines of a width that everybody reads easily.
enum Wrapping {
    private static let width = 80

    /// Breaks the lines at spaces. Those that begin with a space stay as they are.
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

extension String {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isDropped(last) { text.removeLast() }
        return text
    }
}
