import ArgumentParser
import HandClient
import HandCore
import HandFormats
import HandWire

struct Lists: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the lists of a server.")

    /// What is said of a list that is not there.
    static func missing(_ name: String, among names: [String]) -> String {
        let name = Printable.clean(name)
        let guess = Spelling.question(name, among: names)
        return "there is no list '\(name)'." + (guess.isEmpty ? " Make it with: hand create \(name)" : guess)
    }

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let entries = try await server.withClient { client, _ in try await client.lists() }
        for entry in entries {
            if server.json {
                Output.json([
                    "name": .string(entry.name), "count": JSONValue(entry.count), "revision": JSONValue(entry.revision),
                    "rules": JSON.rules(entry.rules),
                ])
            } else {
                let deck = entry.rules.hasDeck ? ", with a deck" : ""
                Output.line("\(entry.name)\t\(Words.count(entry.count, "item"))\trevision \(entry.revision)\(deck)")
            }
        }
        if entries.isEmpty && !server.json { server.say("no lists yet: make one with 'hand create NAME'") }
    }
}

struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a list.",
        discussion: "With --deck, cards come from a shuffled deck of 52: 'hand deal' takes them. "
            + "A five-card hand is: hand create poker --deck --max-items 5 --kinds card")

    @OptionGroup var server: ServerOptions

    @Argument(help: "Its name: letters, digits, '-', '_' and '.'.")
    var name: String

    @Option(help: ArgumentHelp("The most items that it may hold.", valueName: "number"))
    var maxItems: Int?

    @Option(help: ArgumentHelp("The most bytes that an item may have.", valueName: "number"))
    var maxSize: Int?

    @Option(
        help: ArgumentHelp(
            "The kinds that it takes, separated by commas: card, note, task, link, heading.", valueName: "kinds"))
    var kinds: String?

    @Flag(help: "Deal cards from a deck.")
    var deck = false

    func validate() throws {
        if let problem = ListName.problem(with: name) { throw ValidationError(problem) }
        _ = try rules()
    }

    private func rules() throws -> Rules {
        var rules = Rules(hasDeck: deck)
        if let maxItems {
            guard (1...Rules.unlimitedCount).contains(maxItems) else {
                throw ValidationError("--max-items: expected 1 to \(Rules.unlimitedCount), found \(maxItems)")
            }
            rules.maximumCount = maxItems
        }
        if let maxSize {
            guard maxSize >= 1 else { throw ValidationError("--max-size: expected at least 1, found \(maxSize)") }
            rules.maximumSize = maxSize
        }
        if let kinds {
            rules.allowedKinds = Set(
                try kinds.split(separator: ",").map { name in
                    guard let kind = Content.Kind(name: String(name)) else {
                        throw ValidationError("--kinds: '\(name)' is not a kind of item")
                    }
                    return kind
                })
        }
        return rules
    }

    func run() async throws {
        let (name, rules) = (name, try rules())
        try await server.withClient { client, _ in try await client.create(name, rules: rules) }
        if server.json {
            Output.json(["name": .string(name), "rules": JSON.rules(rules)])
        } else {
            let next =
                rules.hasDeck
                ? "deal from its deck with: hand deal -l \(name)" : "add to it with: hand add -l \(name) TEXT"
            server.say("created '\(name)'; \(next)")
        }
    }
}

struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Delete a list with its history.")

    @OptionGroup var server: ServerOptions

    @Argument(help: "Its name.", completion: Completions.lists)
    var name: String

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var force = false

    func run() async throws {
        let name = name
        if !force {
            // Nobody is asked about a list that is not there.
            let lists = try await server.withClient { client, _ in try await client.lists() }
            guard let list = lists.first(where: { $0.name == name }) else {
                throw Failure(.notFound, Lists.missing(name, among: lists.map(\.name)))
            }
            let items = Words.count(list.count, "item")
            Output.message("This deletes '\(name)' (\(items)) and its history for everybody. Type its name to go on:")
            guard readLine() == name else { throw Failure(.error, "nothing was deleted") }
        }
        try await server.withClient(list: name) { client, _ in try await client.delete(name) }
        server.say("deleted '\(name)'")
    }
}

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send the edits that were kept while the server could not be reached (--queue).",
        discussion: "Those of all lists, or of the one named with -l.")

    @OptionGroup var list: ListOptions

    func run() async throws {
        let address = try Settings.address(flag: list.server.url, list: list.list)
        let person = try Settings.person(flag: list.server.person)
        var problem: (any Error)?
        var hasSent = false
        for slot in Identity.used(at: address) {
            // What another command that is running keeps is its own to send.
            guard let client = try? Identity.client(at: address, person: person, among: [slot]) else { continue }
            do {
                for name in try await client.waitingLists() where list.list == nil || list.list == name {
                    hasSent = true
                    do { try await send(name, client, address) } catch {
                        if case ClientError.unreachable = error { throw error }
                        // The other lists have their turn.
                        list.server.say("'\(name)': \(Failure(error).message)")
                        problem = problem ?? error
                    }
                }
            } catch {
                await client.close()
                throw ServerOptions.explained(error, at: address.server)
            }
            await client.close()
        }
        if let problem { throw Failure(Failure(problem).status, "not everything was sent") }
        if !hasSent { list.server.say("nothing was waiting") }
    }

    /// Sends what waits of one list, and says what became of it.
    private func send(_ name: String, _ client: HandClient, _ address: HandAddress) async throws {
        let outcome = try await list.server.limited(client, address) {
            try await client.connected()
            return try await client.open(name).settled()
        }
        for notice in outcome.notices {
            if case .rejected = notice { continue }
            if let text = Notices.text(notice) { list.server.say("'\(name)': \(text)") }
        }
        if let rejection = outcome.rejections.first { throw ClientError.rejected(rejection) }
        if list.server.json {
            Output.json(["list": .string(name), "revision": outcome.revision.map { JSONValue($0) } ?? .null])
        } else {
            list.server.say("'\(name)': sent" + (outcome.revision.map { "; revision \($0)" } ?? ""))
        }
    }
}
