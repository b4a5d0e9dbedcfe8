import ArgumentParser
import Glibc
import HandFormats

/// Reads the command line before it is parsed.
enum Arguments {
    /// The arguments of this process.
    ///
    /// - Throws: `Failure` if an argument is not UTF-8: replacement characters would put a different text into a list.
    static func given() throws -> [String] {
        try (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let bytes = CommandLine.unsafeArgv[index] else { return nil }
            if let text = String(validatingCString: bytes) { return text }
            throw Failure(.usage, "argument \(index) is not UTF-8: '\(String(cString: bytes))'")
        }
    }

    /// Overwrites secrets in links, so that other users do not see them in this process's command line.
    static func hideSecrets() {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index] else { continue }
            let length = strlen(bytes)
            let argument = String(cString: bytes)
            guard argument.contains("://"), let mark = argument.utf8.firstIndex(of: UInt8(ascii: "#")) else { continue }
            let start = argument.utf8.distance(from: argument.utf8.startIndex, to: mark) + 1
            if start < length { memset(bytes + start, Int32(UInt8(ascii: "*")), length - start) }
        }
    }

    /// Takes the context from before the command, as in `hand -c work ls`. After the command, it is an ordinary option.
    static func takeContext(from arguments: inout [String]) throws {
        guard let option = arguments.first else { return }
        let names = ["-c", "--context"]
        if names.contains(option) {
            try Contexts.name(arguments.dropFirst().first ?? "")
            arguments.removeFirst(2)
        } else if let joined = ["--context=", "-c=", "-c"].first(where: option.hasPrefix) {
            try Contexts.name(String(option.dropFirst(joined.count)))
            arguments.removeFirst()
        }
    }

    /// The value of an option; the last value if there are several.
    static func value(of names: [String], in words: [String]) -> String? {
        for (index, word) in words.enumerated().reversed() {
            if names.contains(word), index + 1 < words.count, !words[index + 1].isEmpty { return words[index + 1] }
            guard let name = names.first(where: { word.hasPrefix($0 + "=") }) else { continue }
            return String(word.dropFirst(name.count + 1))
        }
        return nil
    }

    /// The words before the first option, also after `hand help`.
    private static func words(_ arguments: [String]) -> ArraySlice<String> {
        let words = arguments.prefix { !$0.hasPrefix("-") }
        return words.first == "help" ? words.dropFirst() : words
    }

    /// The first words, as far as they name a command.
    static func path(of arguments: [String]) -> [String] {
        var path: [String] = []
        var command: any ParsableCommand.Type = HandCommand.self
        for word in words(arguments) {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            path.append(word)
            command = next
        }
        return path
    }

    /// The command that some words name.
    static func command(at path: [String]) -> any ParsableCommand.Type {
        path.reduce(HandCommand.self as any ParsableCommand.Type) { command, word in
            command.configuration.subcommands.first { $0._commandName == word } ?? command
        }
    }

    /// Guesses the intended command; some commands have other names in other programs.
    private static func question(_ word: String, among names: [String]) -> String {
        if ["remove", "delete"].contains(word), names.contains("rm") { return " Did you mean 'rm'?" }
        return Spelling.question(word, among: names)
    }

    /// Checks that the words before the first option name a command, also after `hand help`.
    static func checkCommand(_ arguments: [String]) throws {
        let path = path(of: arguments)
        let names = command(at: path).configuration.subcommands.map { $0._commandName }
        guard let word = words(arguments).dropFirst(path.count).first, !names.isEmpty else { return }
        let topics = arguments.first == "help" ? Topic.all.map(\.name) + ["topics"] : ["help"]
        let known = (["hand"] + path).joined(separator: " ")
        throw Failure(
            .usage,
            "there is no command '\(known) \(word)'." + question(word, among: names + (path.isEmpty ? topics : []))
                + " '\(known) --help' shows all.")
    }
}
