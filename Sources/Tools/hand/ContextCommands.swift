import ArgumentParser
import Foundation
import HandClient
import HandFormats

/// Which of the named servers a command talks to.
struct ContextOption: ParsableArguments {
    @Option(
        name: [.customShort("c"), .long],
        help: .init("The server that 'hand context add' gave this name to.", valueName: "name"),
        completion: Completions.contexts)
    var context: String?

    /// From here on it is the context of this process and its children. It is looked up when it is needed.
    func validate() { if let context { setenv(Contexts.variable, context, 1) } }
}

struct ContextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "context", abstract: "Name servers, and choose between them.",
        discussion: """
            A context is a server under a short name, with what belongs to it: your token, your name there, certificates. \
            It is kept in ~/.config/hand/contexts, where only you can read it.

            Which server a command talks to: --url, then -c or $HAND_CONTEXT, then $HAND_URL, then the context in use, then \
            "url" in ~/.config/hand/config.toml, then this machine.
            """,
        subcommands: [AddContext.self, ListContexts.self, UseContext.self, RemoveContext.self],
        defaultSubcommand: ListContexts.self)
}

private struct AddContext: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Give a server a name.",
        discussion: """
            The secret in a link (behind #) is kept as your token. With --ask-token you are asked for it, and it is kept; with \
            --ask-each-time it is not kept.
            """)

    @Argument(help: "Its name: letters, digits, - _ and dots.") var name: String
    @Argument(help: "The server's address, and perhaps a list's.") var address: String
    @Option(name: .customLong("as"), help: .init("The name that others see there.", valueName: "name")) var person:
        String?
    @Option(help: .init("The authorities that may sign its certificate.", valueName: "file")) var ca: String?
    @Option(help: .init("Your own certificate for it.", valueName: "file")) var cert: String?
    @Option(help: .init("That certificate's key, if it is in another file.", valueName: "file")) var certKey: String?
    @Flag(help: "Ask for the token now, and keep it.") var askToken = false
    @Flag(help: "Ask for the token whenever it is needed.") var askEachTime = false
    @Flag(help: "Replace a context of that name.") var replace = false

    func validate() throws {
        guard Contexts.isName(name) else {
            throw ValidationError(
                "'\(Printable.clean(name))' cannot be a context's name: expected up to 64 letters, digits, - _ or dots."
            )
        }
        if askToken, askEachTime { throw ValidationError("Either --ask-token or --ask-each-time.") }
        if certKey != nil, cert == nil { throw ValidationError("--cert-key needs --cert, the certificate.") }
    }

    func run() throws {
        let token = try HandAddress(address).token
        guard replace || !Contexts.names().contains(name) else {
            throw Failure(.conflict, "there is a context '\(name)' already. To replace it: --replace")
        }
        var texts = try files()
        texts[.url] = String(address.prefix { $0 != "#" })
        texts[.name] = person
        texts[.token] = try askToken ? SecretPrompt.token.get() : askEachTime ? "?" : token
        try Contexts.write(name, texts)
        Output.message("added '\(name)'; try it: hand -c \(name) lists, or always: hand context use \(name)")
    }

    /// The files' paths, from wherever the command is used later.
    private func files() throws -> [Settings.Key: String] {
        let given: [Settings.Key: String?] = [.ca: ca, .cert: cert, .certKey: certKey]
        return try given.compactMapValues { $0 }.mapValues { path in
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw Failure(
                    .notFound, "cannot read \(Printable.clean(path)): name a file that is there and that you may read")
            }
            return URL(fileURLWithPath: path).path
        }
    }
}

private struct ListContexts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the named servers. The one in use has a star.")

    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let current = try Contexts.currentName()
        let contexts = try Contexts.names().map(Contexts.existing)
        for context in contexts {
            let person = Settings.Layer.file(context.file).text(.name)
            let isCurrent = context.name == current
            if json {
                Output.json(
                    .object([
                        .init("name", .string(context.name)), .init("url", .string("\(context.address)")),
                        .init("as", person.map { .string($0) } ?? .null), .init("current", .bool(isCurrent)),
                    ]))
            } else {
                let name = person.map { "\tas \(Printable.clean($0))" } ?? ""
                Output.line("\(isCurrent ? "*" : " ") \(context.name)\t\(Printable.clean("\(context.address)"))\(name)")
            }
        }
        if contexts.isEmpty, !json { Output.message("no server has a name yet: hand context add NAME ADDRESS") }
    }
}

private struct UseContext: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Choose the server of all commands that name no other.",
        discussion: "Without a name, no context is used any more.")

    @Argument(help: "The context's name.", completion: Completions.contexts) var name: String?

    func run() throws {
        guard let name else {
            try Contexts.use(nil)
            return Output.message("no context is used now")
        }
        let context = try Contexts.existing(name)
        try Contexts.use(name)
        Output.message("commands now talk to \(Printable.clean("\(context.address.server)"))")
        if let url = ProcessInfo.processInfo.environment[Settings.Key.url.variable] {
            Output.message("but $HAND_URL is set and comes first: \(Printable.clean(url))")
        }
    }
}

private struct RemoveContext: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Forget a context. What this machine keeps of the server's lists stays.")

    @Argument(help: "The context's name.", completion: Completions.contexts) var name: String

    func run() throws {
        // One whose file does not read can be removed, too.
        guard Contexts.names().contains(name) else {
            _ = try Contexts.existing(name)
            return
        }
        try Contexts.remove(name)
        Output.message("removed '\(name)'")
    }
}
