/// A configuration file for 'hand serve' that says what there is: every option, and its default, as comments.
enum ServeExample {
    struct Entry {
        let name: String
        /// What the option does.
        let text: String
        /// Its default, as it stands in the file; nil if it has none.
        let value: String?
    }

    /// From what the parser knows of the options.
    static func entries() throws -> [Entry] {
        let settings = ServeSetting.all(of: try Serve.parse(["--listen", Serve.defaultEndpoint]))
        let serve = try CommandDump.all().subcommands?.first { $0.commandName == Serve._commandName }
        return (serve?.arguments ?? []).compactMap { argument in
            // A flag has its negation beside it.
            let names = (argument.names ?? []).map(\.name)
            guard let setting = settings.first(where: { names.contains($0.name) }) else { return nil }
            return Entry(name: setting.name, text: argument.abstract ?? "", value: setting.literal)
        }
    }

    static func text() throws -> String {
        let intro = """
            # Settings of 'hand serve'. Each line that begins with '#' and a name shows a default: to change it, take the '#' away.
            # 'hand serve --print-config' shows what is in effect, and where it comes from.
            """
        let entries = try entries().map { entry in
            let text = Wrapping.lines(of: entry.text, width: 118).map { "# \($0)" }.joined(separator: "\n")
            return "\(text)\n" + (entry.value.map { "#\(entry.name) = \($0)" } ?? "#\(entry.name) =")
        }
        return ([intro] + entries).joined(separator: "\n\n")
    }
}
