import ArgumentParser
import FoundationEssentials
import HandFormats

/// The named server that a command uses.
struct ContextOption: ParsableArguments {
    @Option(
        name: [.customShort("c"), .long],
        help: .init("A server that was named with 'hand context add'.", valueName: "name"),
        completion: Completions.contexts)
    var context: String?

    /// Makes the named context the context of this process and its children. The context is looked up when it is
    /// needed.
    func validate() throws { if let context { try Contexts.name(context) } }
}

struct ContextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context", abstract: "Name servers, and choose between them.",
        discussion: """
            A context gives a server a short name, and stores what belongs to it: your token, your name there, certificates. \
            Contexts are in ~/.config/hand/contexts, where only you can read them.

            A command uses the first of these servers: --url, -c or $HAND_CONTEXT, $HAND_URL, the context in use, "url" in \
            ~/.config/hand/config.toml, this machine. Your name, token and certificates are \
            looked up in the same order.
            """,
        subcommands: [AddContext.self, ListContexts.self, UseContext.self, RemoveContext.self],
        defaultSubcommand: ListContexts.self)
}

private struct AddContext: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Give a server a name.",
        discussion: """
            The secret in a link (after #) is stored as your token. --ask-token asks for the token and stores it; \
            --ask-each-time does not store it.
            """)

    @Argument(help: "The context's name: letters, digits, - _ and dots.") var name: String
    @Argument(help: "The server's address, optionally with a list.") var address: String
    @Option(name: .customLong("as"), help: .init("The name that others see there.", valueName: "name")) var person:
        String?
    @Option(
        help: .init("The authorities that may sign the server's certificate.", valueName: "file"), completion: .file())
    var ca: String?
    @Option(help: .init("Your own certificate for this server.", valueName: "file"), completion: .file()) var cert:
        String?
    @Option(help: .init("That certificate's key, if it is in another file.", valueName: "file"), completion: .file())
    var certKey: String?
    @Flag(help: "Ask for the token now, and store it.") var askToken = false
    @Flag(help: "Ask for the token whenever it is needed.") var askEachTime = false
    @Flag(help: "Replace an existing context of this name.") var replace = false
    @OptionGroup var result: ResultOptions

    func validate() throws {
        if let problem = Contexts.problem(withName: name) { throw ValidationError(problem) }
        if askToken, askEachTime { throw ValidationError("Use --ask-token or --ask-each-time, not both.") }
        if certKey != nil, cert == nil { throw ValidationError("--cert-key needs --cert, the certificate.") }
    }

    func run() throws {
        let token = try HandAddress(address).token
        guard replace || !Contexts.names().contains(name) else {
            throw Failure(.conflict, "there is already a context '\(name)'. To replace it, use --replace")
        }
        var texts = try files()
        texts[.url] = String(address.prefix { $0 != "#" })
        texts[.name] = try person?.filled("the name of --as")
        texts[.token] = try askToken ? SecretPrompt.token.get() : askEachTime ? "?" : token
        try Contexts.write(name, texts)
        result.tell(
            JSONValue(fields: ["name": name, "url": texts[.url], "as": JSONValue(orNull: texts[.name])]),
            "added '\(name)'; use it once: hand -c \(name) lists, or always: hand context use \(name)")
    }

    /// The files' absolute paths, as later commands may run in another folder.
    private func files() throws -> [Settings.Key: String] {
        let given: [Settings.Key: String?] = [.ca: ca, .cert: cert, .certKey: certKey]
        return try given.compactMapValues { $0 }.mapValues { path in
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw Failure(
                    .notFound, "cannot read \(path): name a file that exists and that you may read")
            }
            return URL(fileURLWithPath: path).path
        }
    }
}

private struct ListContexts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the named servers; a star marks the one in use, ! one that cannot be read."
    )

    @OptionGroup var result: ResultOptions

    func run() throws {
        let json = result.json
        let current = try? Contexts.currentName()
        let names = Contexts.names()
        var rows: [Printable] = []
        for name in names {
            let context: Contexts.Context
            // A file that cannot be read is no reason to hide the others.
            do { context = try Contexts.existing(name) } catch {
                let problem = Failure(error).message
                let unreadable: JSONValue = ["name": .string(name), "problem": .string(problem)]
                if json { Output.json(unreadable) } else { rows.append("! \(name)\tunreadable: \(problem)") }
                continue
            }
            let person = Settings.Layer.file(context.file).text(.name)
            let isCurrent = context.name == current
            if json {
                Output.json(
                    JSONValue(fields: [
                        "name": context.name, "url": "\(context.address)", "as": JSONValue(orNull: person),
                        "current": isCurrent,
                    ]))
            } else {
                let name: Printable = person.map { "\tas \($0)" } ?? ""
                rows.append("\(isCurrent ? "*" : " ") \(context.name)\t\(context.address)\(name)")
            }
        }
        Output.table(rows)
        if names.isEmpty, !json { result.say("no server has a name yet: hand context add NAME ADDRESS") }
    }
}

private struct UseContext: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Choose the server for all commands that name no other.",
        discussion: "Without a name, no context is in use.")

    @Argument(help: "The context's name.", completion: Completions.contexts) var name: String?
    @OptionGroup var result: ResultOptions

    func run() throws {
        guard let name else {
            try Contexts.use(nil)
            return result.tell(["name": .null], "no context is in use now")
        }
        let context = try Contexts.existing(name)
        try Contexts.use(name)
        result.tell(
            ["name": .string(name), "url": .string("\(context.address)")],
            "commands now use \(context.address.server)")
        if let url = ProcessInfo.processInfo.environment[Settings.Key.url.variable] {
            result.say("but $HAND_URL is set, and overrides it: \(url)")
        }
    }
}

private struct RemoveContext: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove a context. This machine's copies of the server's lists stay.")

    @Argument(help: "The context's name.", completion: Completions.contexts) var name: String
    @OptionGroup var result: ResultOptions

    func run() throws {
        // A context whose file cannot be parsed can be removed, too.
        guard Contexts.names().contains(name) else {
            _ = try Contexts.existing(name)
            return
        }
        let wasInUse = try? Contexts.currentName() == name
        try Contexts.remove(name)
        result.tell(
            ["name": .string(name), "removed": true],
            "removed '\(name)'\(wasInUse == true ? "; no context is in use now" : "")")
    }
}
