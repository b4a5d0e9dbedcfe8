import ArgumentParser

/// A configuration file for 'hand serve' that shows every option and its default, commented out.
enum ServeExample {
    struct Entry {
        let name: String
        /// What the option does.
        let text: String
        /// The default, as it is written in the file; nil if there is none.
        let value: String?
    }

    /// The entries, from the parser's description of the options.
    static func entries() throws -> [Entry] {
        let settings = ServeSetting.all(of: try Serve.parse(["--listen", Serve.defaultEndpoint]))
        return (try CommandDump.of(Serve.self).arguments ?? []).compactMap { argument in
            // A flag also has the name of its negation.
            let names = (argument.names ?? []).map(\.name)
            guard let setting = settings.first(where: { names.contains($0.name) }) else { return nil }
            var text = argument.abstract ?? ""
            // The value is beside the text, which need not repeat it.
            if setting.literal != nil { text = text.replacing(#/ \(default: [^)]*\)$/#, with: "") }
            if case .texts = setting.value { text = text.replacing("May be repeated.", with: "A list.") }
            return Entry(name: setting.name, text: text, value: setting.literal)
        }
    }

    static func text() throws -> String {
        let intro = """
            # Settings of 'hand serve'. Each line that begins with '#' and a name shows a default: to change it, remove the '#'.
            # 'hand serve --print-config' shows the settings in effect and where each comes from.
            """
        let entries = try entries().map { entry in
            let text = HelpText.lines(of: entry.text, width: 118).map { "# \($0)" }.joined(separator: "\n")
            return "\(text)\n" + (entry.value.map { "#\(entry.name) = \($0)" } ?? "#\(entry.name) =")
        }
        return ([intro] + entries).joined(separator: "\n\n")
    }
}
