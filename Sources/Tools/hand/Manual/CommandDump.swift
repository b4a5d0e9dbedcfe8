import ArgumentParser
import FoundationEssentials

/// The commands as the argument parser describes them in JSON. The manual pages of commands are made from it.
struct CommandDump: Decodable {
    struct Command: Decodable {
        let commandName: String
        let superCommands: [String]?
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool
        let arguments: [Argument]?
        let subcommands: [Command]?

        /// The visible subcommands, without `help`, which is described with its topics.
        var shown: [Command] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }
        /// The words after `hand`.
        var path: [String] { ((superCommands ?? []) + [commandName]).filter { $0 != "hand" } }
    }

    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let defaultValue: String?
        let allValues: [String]?
        let sectionTitle: String?
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let parsingStrategy: String

        var isPositional: Bool { kind == "positional" }
        /// The description, with the possible values and the default.
        var text: String {
            let notes = [
                allValues.map { "values: \($0.joined(separator: ", "))" }, defaultValue.map { "default: \($0)" },
            ]
            let note = notes.compactMap { $0 }.joined(separator: "; ")
            return (abstract ?? "") + (note.isEmpty ? "" : " (\(note))")
        }
    }

    let command: Command

    /// A command with its subcommands.
    static func of(_ command: any ParsableCommand.Type) throws -> Command {
        try JSONDecoder().decode(CommandDump.self, from: Data(command._dumpHelp().utf8)).command
    }
}
