import FoundationEssentials
import HandFormats

/// Commands in messages. They act on the same server or store as the command that prints them.
enum Suggestion {
    /// The commands of a server's operator, which act on a store.
    private static let operators = ["token", "recover", "backup", "verify"]

    /// The options that say where a command acts.
    private static func places(of command: String) -> [String] {
        if operators.contains(where: command.hasPrefix) { return ["--data", "--store"] }
        // What was refused is kept for each person.
        return command.hasPrefix("rejected") && !command.hasSuffix("--as") ? ["--url", "--as"] : ["--url"]
    }

    /// Returns a command with this command's context, and with its options that say where it acts.
    ///
    /// - Parameters:
    ///   - command: the command without `hand`, as the source says it.
    ///   - words: its arguments, which are quoted: a shell may get them.
    static func command(_ command: String, _ words: String...) -> String {
        let given = Array(CommandLine.arguments.dropFirst())
        let context = Contexts.givenName.map { ["-c", $0] }
        let options = places(of: command).flatMap { name in
            Arguments.value(of: [name], in: given).map { [name, $0] } ?? []
        }
        var (command, words, settings) = (command, words, options.map(withoutSecret))
        // A name may begin with a hyphen.
        if let list = words.first, list.hasPrefix("-"), command.hasSuffix(" -l") {
            command.removeLast(3)
            words.removeFirst()
            settings.insert("--list=\(list)", at: 0)
        }
        let all = words.contains { $0.hasPrefix("-") } ? settings + ["--"] + words : words + settings
        return (["hand"] + (context ?? []).map(ShellWord.quoted) + [command] + all.map(ShellWord.quoted))
            .joined(separator: " ")
    }

    /// The command that shows what was refused of a person's edits.
    ///
    /// - Parameter person: nil for the user without `--as`.
    static func rejected(of person: String?) -> String {
        person.map { command("rejected --as", $0) } ?? command("rejected")
    }

    /// The word without the secret or the password of an address.
    private static func withoutSecret(_ word: String) -> String {
        guard word.contains("://") else { return word }
        return String(word.prefix { $0 != "#" }).replacing(#/:\/\/([^:@\/]*):[^@\/]*@/#) { "://\($0.1)@" }
    }
}
