/// The manual pages of commands, from the same source as their `--help`.
enum CommandPages {
    static func all() throws -> [Roff] {
        var pages: [Roff] = []
        func add(_ command: CommandDump.Command) {
            pages.append(page(command))
            command.shown.forEach(add)
        }
        add(try CommandDump.of(HandCommand.self))
        return pages
    }

    private static func name(_ path: [String]) -> String { (["hand"] + path).joined(separator: "-") }

    private static func page(_ command: CommandDump.Command) -> Roff {
        var page = Roff(name(command.path), section: 1, summary(command))
        let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
        page.heading("Synopsis")
        page.synopsis((["hand"] + command.path).joined(separator: " "), synopsis(command, arguments))
        // The abstract is in the page's section NAME, so the section DESCRIPTION does not repeat it.
        if let discussion = command.discussion { page.paragraphs(discussion, under: "Description") }
        if !command.shown.isEmpty {
            page.heading("Commands")
            for other in command.shown { page.item("\(name(other.path))(1)", other.abstract ?? "") }
        }
        options(arguments, &page)
        CommandEnvironment.describe(command, on: &page)
        page.heading("Examples")
        page.literal(Examples.of(command.path))
        page.paragraphs(related(command).joined(separator: ", "), under: "See also")
        return page
    }

    /// The abstract as a clause, as in `man -k`.
    private static func summary(_ command: CommandDump.Command) -> String {
        let abstract = command.abstract ?? ""
        let end = abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract
        return end.prefix(1).lowercased() + end.dropFirst()
    }

    private static func synopsis(_ command: CommandDump.Command, _ arguments: [CommandDump.Argument]) -> [String] {
        if !command.shown.isEmpty { return ["COMMAND"] }
        let positionals = arguments.filter(\.isPositional).map { argument in
            let name = (argument.valueName ?? "").uppercased() + (argument.isRepeating ? "..." : "")
            let words = argument.parsingStrategy == "postTerminator" ? "-- \(name)" : name
            return argument.isOptional ? "[\(words)]" : words
        }
        return ["[OPTIONS]"] + positionals
    }

    /// Adds the options under the section titles of the help, options without a title last.
    private static func options(_ arguments: [CommandDump.Argument], _ page: inout Roff) {
        var titles: [String?] = []
        for argument in arguments where !titles.contains(argument.sectionTitle) { titles.append(argument.sectionTitle) }
        titles.removeAll { $0 == nil }
        for title in titles + [nil] {
            let some = arguments.filter { $0.sectionTitle == title }
            if some.isEmpty { continue }
            page.heading(title ?? "Options")
            for (index, argument) in some.enumerated() {
                // Flags that exclude each other have one text.
                func continues(_ other: CommandDump.Argument) -> Bool {
                    argument.kind == "flag" && other.kind == "flag" && argument.abstract == other.abstract
                }
                if index > 0, continues(some[index - 1]) { continue }
                let terms = [argument] + some.dropFirst(index + 1).prefix(while: continues)
                page.item(terms.map(term).joined(separator: ", "), argument.text)
            }
        }
    }

    private static func term(_ argument: CommandDump.Argument) -> String {
        if argument.isPositional { return (argument.valueName ?? "").uppercased() }
        let names = (argument.names ?? []).map(\.text).joined(separator: ", ")
        return argument.kind == "option" ? "\(names) \((argument.valueName ?? "value").uppercased())" : names
    }

    private static func related(_ command: CommandDump.Command) -> [String] {
        var pages = command.path.isEmpty ? Topic.all.map { "hand-\($0.name)(7)" } : ["hand(1)"]
        if command.path.count > 1 { pages.append("\(name(Array(command.path.dropLast())))(1)") }
        switch command.path.first {
        case nil: pages += ["hand-config.toml(5)", "hand-protocol(7)"]
        case "serve": pages += ["hand-serve.toml(5)", "hand-tls(7)"]
        case "load": pages += ["hand-load-script(5)"]
        case "token", "share": pages += ["hand-roles(7)"]
        case "backup", "recover", "verify", "store": pages += ["hand-backups(7)"]
        case "deal": pages += ["hand-decks(7)"]
        case "sync": pages += ["hand-offline(7)"]
        case "import", "export": pages += ["hand-formats(7)"]
        case "keys", "context", "open": pages += ["hand-config.toml(5)"]
        default: break
        }
        return pages
    }
}
