import ArgumentParser
import FoundationEssentials
import HandFormats

/// What a command takes from its environment and leaves there: the tables for the sections EXIT STATUS, ENVIRONMENT
/// and FILES of the manual pages.
enum CommandEnvironment {
    /// What a command has to do with.
    enum Side { case client, server, load }

    struct Entry {
        let name: String
        let meaning: String
        let sides: Set<Side>
    }

    /// The codes of all commands.
    static let exitCodes = ExitStatus.allCases.filter { ![.rate, .threshold].contains($0) }

    static var variables: [Entry] {
        Settings.Key.allCases.map { Entry(name: $0.variable, meaning: $0.summary, sides: [.client, .load]) } + [
            Entry(
                name: Contexts.variable, meaning: "The context to use, like -c; see hand-context(1).",
                sides: [.client]),
            Entry(
                name: "HAND_TOKEN_IN_CLEAR", meaning: "With 1, a token is also sent over a network without TLS.",
                sides: [.client, .load]),
            Entry(name: "HAND_DATA", meaning: "The folder of the server's lists, like --data.", sides: [.server]),
            Entry(
                name: "HAND_CONFIG", meaning: "The server's configuration file, like --config of 'hand serve'.",
                sides: [.server]),
            Entry(
                name: "PGPASSWORD, PGPASSFILE", meaning: "The password of the database that --store names.",
                sides: [.server]),
            Entry(
                name: "XDG_CONFIG_HOME, XDG_STATE_HOME",
                meaning: "Folders to use instead of ~/.config and ~/.local/state.", sides: [.client, .server]),
        ]
    }

    /// What was probably meant by variables whose names are almost those of settings.
    static func misspelt(in environment: [String: String] = ProcessInfo.processInfo.environment) throws -> [String] {
        let known = try variables.map(\.name) + ServeSetting.all(of: Serve.parse([])).map(\.variable)
        let words = known.filter { $0.hasPrefix("HAND_") }.map { $0.dropFirst(5) }
        return environment.keys.filter { $0.hasPrefix("HAND_") && !known.contains($0) }.sorted().compactMap { name in
            let meant = Spelling.nearest(to: String(name.dropFirst(5)), among: words.map(String.init))
            return meant.map { "$\(name) means nothing. Did you mean $HAND_\($0)?" }
        }
    }

    static let files = [
        Entry(
            name: "~/.config/hand/config.toml", meaning: "The user's settings; see hand-config.toml(5).",
            sides: [.client]),
        Entry(name: "~/.config/hand/contexts", meaning: "The servers that 'hand context' knows.", sides: [.client]),
        Entry(
            name: "~/.local/state/hand/clients", meaning: "Copies of lists, and edits that wait for a server.",
            sides: [.client]),
        Entry(
            name: "~/.config/hand/serve.toml", meaning: "The server's settings; see hand-serve.toml(5).",
            sides: [.server]),
        Entry(name: "~/.local/state/hand/server", meaning: "The server's lists and tokens.", sides: [.server]),
        Entry(
            name: "\(PackagedServer.configuration), \(PackagedServer.data)",
            meaning: "The same of the server that the package installs; see hand-serve(1).", sides: [.server]),
    ]

    /// The sides of a command, by its options.
    private static func sides(of command: CommandDump.Command) -> Set<Side> {
        let names = Set((command.arguments ?? []).flatMap { $0.names ?? [] }.map(\.name))
        if command.path.isEmpty { return [.client, .server] }
        if command.path == ["load"] { return [.load] }
        var sides: Set<Side> = []
        if names.contains("url") { sides.insert(.client) }
        if names.contains("data") { sides.insert(.server) }
        return sides
    }

    /// Adds the sections to a command's page.
    static func describe(_ command: CommandDump.Command, on page: inout Roff) {
        let sides = sides(of: command)
        page.heading("Exit status")
        let codes = sides.contains(.load) ? ExitStatus.allCases : exitCodes
        for code in codes { page.item("\(code.rawValue)", "\(code.summary)") }
        for (title, entries) in [("Environment", variables), ("Files", files)] {
            let some = entries.filter { !$0.sides.isDisjoint(with: sides) }
            if some.isEmpty { continue }
            page.heading(title)
            for entry in some { page.item(entry.name, entry.meaning) }
        }
    }
}
