import ArgumentParser
import Glibc
import HandClient
import HandFormats
import HandWire

/// The menu that `hand` without arguments shows in a terminal: the server and its lists, and the first steps for a
/// newcomer.
enum FirstRun {
    private struct Choice {
        let words: String
        let command: [String]
        /// The arguments to ask for.
        var questions: [String] = []

        /// The command as the user would type it.
        var typed: String {
            let words = (command + questions.map { $0.uppercased() }).joined(separator: " ")
            // The other commands need no server.
            return ["open", "create", "doctor"].contains(command.first) ? Suggestion.command(words) : "hand " + words
        }
    }

    /// How long to wait for the server, in seconds.
    private static let timeout = "1"

    static var isWanted: Bool { isatty(0) == 1 && isatty(1) == 1 }

    /// Shows the menu, and asks. Returns the arguments of the chosen command; nil if none was chosen.
    static func ask() async throws -> [String]? {
        Output.line("hand: a list that several people edit at once from their terminals.\n")
        let choices = try await choices()
        let width = choices.map(\.words.count).max() ?? 0
        for (number, choice) in choices.enumerated() {
            let gap = String(repeating: " ", count: width - choice.words.count)
            Output.line("  \(number + 1)  \(choice.words)\(gap)  \(choice.typed)")
        }
        Output.line("\nType a number, or press Enter to leave. 'hand --help' shows all commands.")
        guard let line = answer(to: ">"), !line.isEmpty else { return nil }
        guard let number = Int(line), choices.indices.contains(number - 1) else {
            throw Failure(.usage, "expected a number from 1 to \(choices.count), found '\(line)'")
        }
        let choice = choices[number - 1]
        var command = choice.command
        for question in choice.questions {
            guard let word = answer(to: "\(question):"), !word.isEmpty else { return nil }
            let problem = command == ["context", "add"] ? Contexts.problem(withName: word) : nil
            if let problem { throw Failure(.usage, problem) }
            command.append(word)
        }
        return command
    }

    /// Describes the server, and returns what can be done with it.
    private static func choices() async throws -> [Choice] {
        let demo = Choice(words: "try it with a scripted person", command: ["demo"])
        let name = Choice(
            words: "name another server", command: ["context", "add"], questions: ["name", "address"])
        let check = Choice(words: "find out what is wrong", command: ["doctor"])
        let options = try ServerOptions.parse(["--timeout", timeout])
        let server = try options.address().server
        do {
            let names = try await options.withClient { client, _ in try await client.lists().map(\.name) }
            let make = Choice(words: "make a list", command: ["create"], questions: ["name"])
            Output.line("\(server) answers.\n\(summary(of: names))\n")
            return (names.isEmpty ? [] : [Choice(words: "open the lists", command: ["open"])]) + [make, demo, name]
        } catch {
            Output.line("\(Failure(error).message)\n")
            if case ClientError.refused = error { return [check, demo, name] }
            if !server.isThisMachine { return [check, demo, name] }
            return [demo, Choice(words: "start a server on this machine", command: ["serve"]), name, check]
        }
    }

    private static func summary(of names: [String]) -> String {
        if names.isEmpty { return "It has no lists yet." }
        return "It has \(Amount.count(names.count, "list")): \(Lists.summary(of: names))"
    }

    private static func answer(to question: String) -> String? {
        Output.ask("\(question)")
        return readLine().map { String($0.trimmed(\.isWhitespace)) }
    }
}
