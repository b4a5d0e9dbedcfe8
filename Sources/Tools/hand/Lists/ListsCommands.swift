import ArgumentParser
import Glibc
import HandApp
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

struct Lists: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "lists", abstract: "Show the lists of a server.")

    /// The message for a list that does not exist.
    ///
    /// - Parameters:
    ///   - role: what the user may do with all lists; nil if that is not known.
    ///   - orMake: whether to make the list would help.
    static func missing(
        _ name: String, among names: [String], _ role: Role? = nil, orMake: Bool = true
    ) -> String {
        let guess = Spelling.question(name, among: names)
        if !guess.isEmpty || ListName.problem(with: name) != nil { return "there is no list '\(name)'." + guess }
        if role == Role.none { return "there is no list '\(name)', or you have no role on it" }
        if let role, role < .write { return "there is no list '\(name)'" }
        if !orMake { return "there is no list '\(name)'; '\(Suggestion.command("lists"))' shows all" }
        return "there is no list '\(name)'. Make it with: " + Suggestion.command("create", name)
    }

    /// The failure for a missing list, which says whether the list can be brought back; nil if the list exists.
    static func missing(_ name: String, _ client: HandClient, orMake: Bool = true) async throws -> Failure? {
        let names = try await client.lists().map(\.name)
        if names.contains(name) { return nil }
        // The list is missing, even if this question is not answered.
        let deleted = try? await client.deletedLists(pages: 1).first { $0.list.name == name }
        guard let deleted else {
            let role = try await client.granted()?.everywhere
            return Failure(.notFound, missing(name, among: names, role, orMake: orMake))
        }
        return Failure(
            .notFound,
            "'\(name)' is deleted (by \(deleted.person), \(LocalTime.here(deleted.time))). Bring it back with: \(Suggestion.command("undelete", name))"
        )
    }

    /// The first names, for a sentence.
    static func summary(of names: [String]) -> String {
        names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
    }

    @OptionGroup var server: ServerOptions
    @Flag(help: "Show the deleted lists that 'hand undelete' can bring back, newest first.") var deleted = false
    @Flag(
        name: .customLong("new"),
        help: "Show only the lists that others have changed since you looked at them last, and who changed what.")
    var isNew = false

    func validate() throws {
        if deleted && isNew { throw ValidationError("Use --deleted or --new, not both.") }
    }

    func run() async throws {
        if deleted { return try await showDeleted() }
        if isNew { return try await showNews() }
        let entries = try await server.withClient { client, _ in try await client.lists() }
        show(
            entries.map { (Self.json($0), Self.line($0)) },
            orSay: "no lists yet: make one with '\(Suggestion.command("create NAME"))'")
    }

    /// Lists that their person has never looked at have no news.
    private func showNews() async throws {
        let reader = try NewsReader(server)
        let found = try await server.withClient(timeLimited: false) { [server] client, address in
            let lists = try await server.limited(client, address) { try await client.lists() }
            var found: [News] = []
            let ask: @Sendable (DownMessage.ListEntry) async throws -> News? = { list in
                try await Self.news(of: list, reader, client)
            }
            try await server.forEach(reader.candidates(among: lists), of: client, at: address, ask) {
                if let news = $1 { found.append(news) }
                return true
            }
            return found
        }
        show(
            found.compactMap { entry, unseen, commits in
                reader.warn(of: entry.name, commits)
                let (count, names) = (commits.places.count + unseen, commits.names)
                return NewsText.headline(count, by: names).map { headline in
                    (
                        Self.json(entry) + .init(["new": count, "by": names, "since": commits.since]),
                        "\(entry.name)\t\(headline)"
                    )
                }
            }, orSay: "nothing is new in the lists that you have looked at")
    }

    private typealias News = (entry: DownMessage.ListEntry, unseen: Int, commits: NewsOfCommits)

    /// Returns nil for a list that the person has never looked at.
    private static func news(
        of entry: DownMessage.ListEntry, _ reader: NewsReader, _ client: HandClient
    ) async throws -> News? {
        let log = try await client.excerpt(of: entry.name).logID
        guard let last = reader.lastLook(at: log) else { return nil }
        let since = min(last.revision, entry.revision)
        let commits = try await client.news(of: entry.name, since: since, through: entry.revision)
        return (entry, last.unseen.count, commits)
    }

    private func showDeleted() async throws {
        let entries = try await server.withClient { client, _ in try await client.deletedLists() }
        show(
            entries.map { entry in
                let (time, end) = (LocalTime.here(entry.time), LocalTime.here(entry.keptUntil))
                return (
                    Self.json(entry.list) + Self.json(entry),
                    "\(entry.deletion)\t\(Self.line(entry.list))\tdeleted \(time) by \(entry.person), kept until \(end)"
                )
            }, orSay: "no deleted list can be brought back")
    }

    private func show(_ entries: [(json: [JSONValue.Member], line: Printable)], orSay nothing: Printable) {
        if server.json {
            for entry in entries { Output.json(.object(entry.json)) }
        } else {
            Output.table(entries.map(\.line))
        }
        if entries.isEmpty && !server.json { server.say(nothing) }
    }

    private static func line(_ entry: DownMessage.ListEntry) -> Printable {
        let deck = entry.rules.hasDeck ? ", with a deck" : ""
        return "\(entry.name)\t\(Amount.count(entry.count, "item"))\trevision \(entry.revision)\(deck)"
    }

    private static func json(_ entry: DownMessage.ListEntry) -> [JSONValue.Member] {
        .init([
            "name": entry.name, "count": entry.count, "revision": entry.revision, "rules": JSON.rules(entry.rules),
        ])
    }

    /// The fields that only deleted lists have.
    static func json(_ entry: DownMessage.DeletedEntry) -> [JSONValue.Member] {
        .init([
            "id": entry.deletion, "deletedBy": entry.person, "deleted": JSON.date(milliseconds: entry.time),
            "keptUntil": JSON.date(milliseconds: entry.keptUntil),
        ])
    }
}

extension LocalTime {
    /// A time in this machine's time zone, with the zone's offset at that time.
    static func here(_ milliseconds: UInt64) -> String {
        text(milliseconds, offset: offset(at: time_t(clamping: milliseconds / 1_000)))
    }

    /// The day in this machine's time zone, some days from today, such as `2026-12-01`.
    static func day(_ days: Int = 0) -> String {
        // The offset of today: a day that is an hour longer or shorter is a day, too.
        let now = time(nil)
        return String(text(UInt64(max(0, now + days * 86_400)) * 1_000, offset: offset(at: now)).prefix(10))
    }
}

struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a list.",
        discussion: "With --deck, cards come from a shuffled deck of 52, and 'hand deal' deals them. "
            + "For a five-card hand: hand create poker --deck --max-items 5 --kinds card")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The list's name, such as 'Summer trip': up to 128 bytes, without '/'.") var name: String
    @Option(help: .init("The largest number of items in the list.", valueName: "number")) var maxItems: Int?
    @Option(help: .init("The largest size of an item, in bytes (default: 16384).", valueName: "number"))
    var maxSize: Int?

    @Option(
        help: .init(
            "The kinds of items that the list accepts, separated by commas: card, note, task, link, heading.",
            valueName: "kinds"))
    var kinds: String?

    @Option(help: .init("The highest level of an item, 0 to 15; 0 for a list without sub-items.", valueName: "number"))
    var maxLevel: UInt8?
    @Flag(help: "Deal cards from a deck.") var deck = false

    func validate() throws {
        if name.contains("://") {
            throw ValidationError("expected only the list's name, found an address. The server goes into --url.")
        }
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
        if let maxLevel {
            guard maxLevel <= Item.maxLevel else {
                throw ValidationError("--max-level: expected 0 to \(Item.maxLevel), found \(maxLevel)")
            }
            rules.maximumLevel = maxLevel
        }
        if let kinds {
            rules.allowedKinds = Set(
                try kinds.split(separator: ",").map { name in
                    guard let kind = Content.Kind(name: String(name)) else {
                        throw ValidationError(
                            "--kinds: expected card, note, task, link or heading, found '\(name)'")
                    }
                    return kind
                })
        }
        if let problem = rules.contradiction { throw ValidationError(problem) }
        return rules
    }

    func run() async throws {
        let (name, wish) = (name, try rules())
        // The server may choose the rules that the command leaves open.
        let chosen = try await server.change {
            try await $0.create(name, rules: wish)
        } thenAsk: {
            try await $0.excerpt(of: name).rules
        }
        let rules = chosen ?? wish
        let next =
            rules.hasDeck
            ? "deal from its deck with: " + Suggestion.command("deal -l", name)
            : "add to it with: " + Suggestion.command("add -l", name, "TEXT")
        server.tell(["name": .string(name), "rules": JSON.rules(rules)], "created '\(name)'; \(next)")
    }
}

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Send the edits that were kept while the server could not be reached (--queue).",
        discussion: "Sends the edits of all lists, or of the list named with -l. "
            + "Fails if some are refused, or wait with another running command.")

    @OptionGroup var list: ListOptions
    @Flag(help: "Discard the edits of the list instead of sending them.") var discard = false

    func run() async throws {
        if discard { return try await discardEdits() }
        let (address, person) = (try list.server.address(list.list), try list.server.user.name())
        var problems: [(list: String, status: ExitStatus)] = []
        var wasWaiting = false
        let held = try await forEachClient(at: address) { client in
            var server = list.server
            // Edits that were made under another name are kept under it.
            if client.person != person { server.user.person = client.person }
            let sender = server
            if try await server.limited(client, address, { await Losses.settle(client, sender) }) { wasWaiting = true }
            for name in try await client.waitingLists() where isWanted(name) {
                wasWaiting = true
                do {
                    if let reason = try await Self.send(name, client, address, sender) {
                        problems.append((name, Failure(ClientError.rejected(reason)).status))
                    }
                } catch {
                    if case ClientError.unreachable = error { throw error }
                    // The other lists are still sent.
                    let failure = Failure(error)
                    list.server.tell(
                        ["list": .string(name), "revision": .null, "problem": .string(failure.message)],
                        "'\(name)': \(failure.message)")
                    problems.append((name, failure.status))
                }
            }
        }
        for name in held {
            list.server.tell(
                ["list": .string(name), "revision": .null, "waits": true],
                "'\(name)': edits wait with another running command, which sends them itself")
            problems.append((name, .error))
        }
        if let first = problems.first {
            throw Failure(first.status, "not everything was sent: \(Lists.summary(of: problems.map(\.list)))")
        }
        if !wasWaiting { list.server.say("nothing was waiting") }
        if let kept = Shelf.summary(list.server, of: list.list) { list.server.say("\(kept)") }
    }

    private func isWanted(_ name: String) -> Bool { list.list == nil || list.list == name }

    /// Runs `body` with a client for each of this machine's ids that no running command uses. Returns the lists whose
    /// edits wait under the other ids.
    private func forEachClient(
        at address: HandAddress, _ body: (HandClient) async throws -> Void
    ) async throws -> [String] {
        let person = try list.server.user.name()
        var held: Set<String> = []
        for slot in try Identity.used(at: address) {
            guard let client = try await Identity.client(slot, at: address, person: person, timeout: .seconds(2))
            else {
                held.formUnion(Identity.waitingLists(slot, at: address).filter(isWanted))
                continue
            }
            do { try await body(client) } catch {
                await client.close()
                throw ServerOptions.explained(error, at: address.server)
            }
            await client.close()
        }
        return held.sorted()
    }

    /// Sends the waiting edits of a list, and prints the result. Returns the reason if some of the edits were refused.
    private static func send(
        _ name: String, _ client: HandClient, _ address: HandAddress, _ server: ServerOptions
    ) async throws -> Rejection? {
        let outcome = try await server.limited(client, address) {
            try await client.connected()
            return try await client.open(name).settled()
        }
        server.tell(outcome, of: name)
        try await server.noteTold(of: name, client)
        if !server.json, outcome.revision == nil, let rejection = outcome.rejections.first { return rejection }
        server.tell(
            .object(
                [.init("list", .string(name)), .init("revision", JSONValue(orNull: outcome.revision))]
                    + Losses.members(of: outcome)),
            "'\(name)': sent\(outcome.revision.map { "; revision \($0)" } ?? "")")
        return outcome.rejections.first
    }

    private func discardEdits() async throws {
        let name = try list.name()
        var count = 0
        let held = try await forEachClient(at: try list.server.address(name)) { count += try await $0.discard(name) }
        let isHeld = held.contains(name)
        if count > 0 || !isHeld {
            list.server.tell(
                ["list": .string(name), "discarded": JSONValue(count)],
                "discarded \(Amount.count(count, "unsent edit")) of '\(name)'")
        }
        if isHeld {
            throw Failure(.error, "edits of '\(name)' wait with another running command: end it, and discard them then")
        }
    }
}
