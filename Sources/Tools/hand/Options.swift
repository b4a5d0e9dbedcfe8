import ArgumentParser
import EventLoop
import HandClient
import HandCore
import HandFormats
import HandStore
import HandSync
import HandWire
import TLS

/// The options for the server and the user's name there.
struct UserOptions: ParsableArguments {
    @Option(
        help: .init(
            "The server, and optionally the list (default: see 'hand context --help').",
            valueName: "address")
    )
    var url: String?
    @OptionGroup var context: ContextOption

    @Option(
        name: .customLong("as"),
        help: .init("The name that others see (default: $HAND_NAME, then $USER).", valueName: "name"))
    var person: String?

    func name() throws -> String { try Settings.person(flag: person) }
}

/// The options of every command that talks to a server.
struct ServerOptions: ParsableArguments {
    @OptionGroup var user: UserOptions
    @Option(help: .init("How long to wait for the server.", valueName: "seconds")) var timeout: Double = 10
    @Flag(help: "Print JSON.") var json = false
    @Flag(name: .shortAndLong, help: "Print no messages.") var quiet = false

    func validate() throws {
        guard timeout >= 0, timeout <= 1e6 else {
            throw ValidationError("--timeout: expected 0 to 1000000 seconds, found \(Amount.number(timeout))")
        }
    }

    func say(_ text: Printable) {
        if !quiet { Output.message(text) }
    }

    /// Prints the result, as JSON or in words.
    func tell(_ value: @autoclosure () -> JSONValue, _ words: @autoclosure () -> Printable) {
        if json { Output.json(value()) } else { say(words()) }
    }

    /// The address of the server and the list.
    func address(_ list: String? = nil) throws -> HandAddress { try Settings.address(flag: user.url, list: list) }

    /// Connects, runs `body`, and always closes the client. Gives up after `--timeout`.
    ///
    /// - Parameters:
    ///   - timeLimited: whether `--timeout` limits all of `body`. Otherwise `body` limits its own steps.
    ///   - open: makes the client, if it is another than `client(at:_:)`.
    func withClient<Result: Sendable>(
        list: String? = nil, timeLimited: Bool = true,
        by open: ((HandAddress, String) throws -> HandClient)? = nil,
        _ body: @escaping @Sendable (HandClient, HandAddress) async throws -> Result
    ) async throws -> Result {
        let (address, person) = (try address(list), try user.name())
        if open == nil, !Identity.knows(address.server) { try await meet(address, person) }
        let client = try open.map { try $0(address, person) } ?? client(at: address, person)
        do {
            if !timeLimited { try await limited(client, address) { try await client.connected() } }
            let task: @Sendable () async throws -> Result = {
                try await client.connected()
                try await Losses.tell(of: address.list, client, self)
                do { return try await body(client, address) } catch ClientError.refused(let code, let message) {
                    if let name = address.list, code == .noSuchList || code == .listDeleted,
                        let failure = try await Lists.missing(name, client)
                    {
                        throw failure
                    }
                    throw ClientError.refused(code, message)
                }
            }
            let result = try await timeLimited ? limited(client, address, task) : task()
            await client.close()
            return result
        } catch {
            let isUnknown = await client.isOutcomeUnknown()
            await client.close()
            if isUnknown { throw Self.unknown(error) }
            throw Self.explained(error, at: address.server)
        }
    }

    /// A client whose id and edits this machine stores. If it cannot, says so, and returns one that is not stored.
    func client(at address: HandAddress, _ person: String) throws -> HandClient {
        do { return try Identity.client(at: address, person: person) } catch let error as StoreError {
            guard error.isOfDisk else { throw error }
            say(
                "warning: \(Failure(error).message). This machine keeps neither a copy of the list nor, for 'hand undo', "
                    + "a record of an edit. Set $XDG_STATE_HOME to a folder that you may write")
            return try Identity.guest(at: address, person: person)
        }
    }

    /// Reaches a server that this machine does not know, so that nothing is stored about one that does not exist.
    private func meet(_ address: HandAddress, _ person: String) async throws {
        let stranger = try Identity.guest(at: address, person: person)
        do {
            try await limited(stranger, address) { try await stranger.connected() }
            await stranger.close()
        } catch {
            await stranger.close()
            throw Self.explained(error, at: address.server)
        }
    }

    /// The error of a command that has sent something and not learned what became of it.
    private static func unknown(_ error: any Error) -> Failure {
        Failure(
            .unknown,
            "\(Failure(error).message). Whether the server has made the change is not known: do not repeat it. The next command "
                + "on the list finds out, and says so")
    }

    /// Returns the error, with advice if no server listens or the token was not sent.
    static func explained(_ error: any Error, at server: HandAddress.Server) -> any Error {
        if case ClientError.refused(.notAuthenticated, _) = error, let reason = Settings.withheld(from: server) {
            return Failure(.notAllowed, Failure(error).message + ". " + reason)
        }
        if case ClientError.unreachable(let text) = error, text.contains(TLSError.isNotTrusted) {
            return Failure(
                .unreachable, Failure(error).message + ". If you were given the file of its authority: HAND_CA=FILE")
        }
        let places = server.places.joined(separator: ", ")
        guard case ClientError.unreachable(let text) = error,
            // With several servers, the reason also names the one that was tried.
            let reason = [UVError.connectionRefused, .noSuchFile].map(\.description).first(where: {
                text == $0 || text == "\(places): \($0)"
            })
        else { return error }
        let option = server == HandAddress.local.server ? "" : " --listen \(Advised.quoted(server.places[0]))"
        let advice = server.isThisMachine ? ". Start one: hand serve\(option)" : ": \(reason)"
        return Failure(.unreachable, "no server answers at \(places)\(advice)")
    }

    /// Sends the edits of a list that wait on this machine, so that the next edit builds on them.
    func sendWaiting(of name: String, _ client: HandClient) async throws {
        guard let outcome = try await client.sendWaiting(of: name) else { return }
        tell(outcome)
        try await client.noteTold(of: name)
    }

    /// Prints what happened to edits.
    func tell(_ outcome: Settlement, of list: String? = nil) {
        for notice in outcome.notices {
            if let text = Notices.text(notice) { say("\(list.map { "'\($0)': " } ?? "")\(text)") }
        }
        Losses.tell(outcome.notices.compactMap(Loss.init), outcome.people, self, of: list)
    }

    /// Returns the result of `body`, or throws after `--timeout`. The caller closes the client then, which ends
    /// everything that waits for it.
    func limited<Result: Sendable>(
        _ client: HandClient, _ address: HandAddress, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        if let result = try await inTime(body) { return result }
        let refusal = try? await client.trouble()
        throw ClientError.unreachable(
            refusal ?? "\(address.server) did not answer within \(Amount.number(timeout)) s")
    }

    /// Returns the result of `body`; nil after `--timeout`. In that case `body` keeps running, and its result is
    /// dropped.
    func inTime<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result? {
        let seconds = timeout
        let (outcomes, outcome) = AsyncThrowingStream<Result?, any Error>.makeStream()
        let alarm = Task {
            try await Task.sleep(for: .seconds(seconds))
            outcome.yield(nil)
        }
        defer { alarm.cancel() }
        Task {
            do { outcome.yield(try await body()) } catch { outcome.finish(throwing: error) }
        }
        for try await result in outcomes { return result }
        return nil
    }
}

/// The option that names a list.
struct ListOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions

    @Option(
        name: .shortAndLong,
        help: .init(
            "The list (default: the one in the address, or the only one).",
            valueName: "list"), completion: Completions.lists)
    var list: String?

    /// The list, if one is named.
    var given: String? { get throws { try server.address(list).list } }

    /// The name of the list.
    func name() throws -> String {
        if let name = try server.address(list).list { return name }
        throw Unnamed(server: server)
    }

    /// The error if no list is named.
    struct Unnamed: Error {
        let server: ServerOptions

        /// The name of the server's list, if it answers soon and has one.
        ///
        /// - Throws: a `Failure` that names the lists, if there are several.
        func onlyList() async throws -> String {
            var server = server
            server.timeout = min(server.timeout, 2)
            let names = try? await server.withClient { client, _ in try await client.lists().map(\.name) }
            if let names, names.count == 1 {
                server.say("list '\(names[0])'")
                return names[0]
            }
            let known = names.map { $0.isEmpty ? ". There are no lists yet" : ". There are: " + Lists.summary(of: $0) }
            throw Failure(
                .usage,
                "which list? Name it with -l LIST, or put it into the address: hand://HOST:PORT/LIST" + (known ?? ""))
        }
    }

    /// Loads the list at a revision, or the current list. Keeps a copy of the current list for edits without the
    /// server.
    func whole(at revision: Int? = nil) async throws -> (hand: Hand, revision: Int) {
        let name = try name()
        return try await server.withClient(list: name) { client, _ in
            let state = try await client.state(of: name, at: revision)
            // A list that cannot be stored is still shown.
            if revision == nil { try? await client.keep(name, state.hand, at: state.revision) }
            return state
        }
    }

    /// Connects, follows the list, and runs `body` once the list is up to date.
    func withList<Result: Sendable>(
        _ body: @escaping @Sendable (HandClient, FollowedList) async throws -> Result
    ) async throws -> Result {
        let name = try name()
        return try await server.withClient(list: name) { client, _ in
            let list = try await client.open(name)
            _ = try await list.live()
            return try await body(client, list)
        }
    }
}

/// Options of commands that edit.
struct EditOptions: ParsableArguments {
    @OptionGroup var list: ListOptions

    @Option(
        help: .init("Edit only if the list is still at that revision; otherwise exit with 7.", valueName: "revision"))
    var ifRevision: Int?

    @Flag(help: "If the server cannot be reached, keep the edit for 'hand sync' to send.") var queue = false

    /// Makes an edit on the whole list, waits for the server's answer, and prints the result.
    func editWhole(_ make: @escaping @Sendable (Hand) throws -> Delta) async throws {
        let (name, expected) = (try list.name(), ifRevision)
        let doings = Doings()
        do {
            if !queue, let outcome = try await onWhole(of: name, doings, make) { return try report(outcome, doings) }
        } catch is NothingToDo {
            return report(revision: nil)
        }
        try await perform(doings) { _, followed in
            try await followed.edit(isExact: expected != nil) { state in
                do {
                    if let expected, state.revision != expected {
                        throw ClientError.rejected(.revisionMoved(now: state.revision))
                    }
                    let delta = try make(state.view)
                    if delta.changesNothing(of: state.view) { throw NothingToDo() }
                    try doings.note(delta, on: state.view)
                    return delta
                } catch {
                    if state.isLoaded { throw error }
                    throw Failure(
                        .unreachable,
                        "no server answers, and this machine has no copy of '\(name)': without a copy, items can only be added "
                            + "at the end or the top. '\(Advised.command("ls"))' keeps a copy")
                }
            }
        }
    }

    /// Lets `body` edit the list, waits for the server's answer, and prints the result.
    func perform(
        _ doings: Doings = Doings(),
        _ body: @escaping @Sendable (HandClient, FollowedList) async throws -> Void
    ) async throws {
        do {
            if queue { return try await performOrKeep(doings, body) }
            let outcome = try await list.withList { client, followed -> Settlement in
                try await body(client, followed)
                let outcome = try await followed.settled()
                try await client.noteTold(of: followed.name)
                return outcome
            }
            try report(outcome, doings)
        } catch is NothingToDo {
            report(revision: nil)
        }
    }

    /// Thrown if the edit would change nothing. In that case no commit is made.
    struct NothingToDo: Error {}

    /// Edits this machine's copy of the list, and keeps the edit on disk if the server does not answer in time.
    private func performOrKeep(
        _ doings: Doings, _ body: @escaping @Sendable (HandClient, FollowedList) async throws -> Void
    ) async throws {
        let name = try list.name()
        let server = list.server
        let address = try server.address(name)
        let client = try Identity.client(at: address, person: try server.user.name(), keepsLists: true)
        let outcome: Settlement?
        do {
            // Another command may have a newer copy.
            if let seen = try Identity.kept(name, at: address).first { try await client.adopt(seen, of: name) }
            // The current list if the server answers, otherwise the copy.
            let reached = try await ifReached {
                try await client.connected()
                return try await live(name, client)
            }
            let isHere = reached != nil
            let followed = if let reached { reached } else { try await client.open(name) }
            // No time limit here: this needs no server, and the disk may be slow.
            try await body(client, followed)
            outcome = isHere ? try await ifReached { try await followed.settled() } : nil
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        if let outcome { return try report(outcome, doings) }
        doings.tell(server)
        server.say("\(address.server) cannot be reached: the edit is kept, '\(Advised.command("sync"))' sends it")
    }

    /// Follows the list that has the name now. Edits that waited under the name may belong to a list that has another
    /// one now, and are sent to that list.
    private func live(_ name: String, _ client: HandClient) async throws -> FollowedList {
        let followed = try await client.open(name)
        _ = try await followed.live()
        do { _ = try await followed.state() } catch let renamed {
            let other = try await client.open(name)
            do { _ = try await other.live() } catch ClientError.refused(.noSuchList, _) { throw renamed }
            return other
        }
        return followed
    }

    /// Returns the result of `body`; nil if the server cannot be reached in time.
    private func ifReached<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result? {
        do { return try await list.server.inTime(body) } catch ClientError.unreachable { return nil }
    }

    /// Prints the outcome of an edit.
    ///
    /// - Parameter more: additional JSON members.
    func report(_ outcome: Settlement, _ doings: Doings, _ more: [JSONValue.Member] = []) throws {
        list.server.tell(outcome)
        if let rejection = outcome.rejections.first { throw ClientError.rejected(rejection) }
        let losses = outcome.notices.compactMap(Loss.init).map { Losses.json($0, outcome.people) }
        let more = more + (losses.isEmpty ? [] : [.init("lost", .array(losses))])
        report(revision: outcome.revision, doings, more)
    }

    func report(revision: Int?, _ doings: Doings = Doings(), _ more: [JSONValue.Member] = []) {
        let deleted = doings.deleted
        if !list.server.json { doings.tell(list.server) }
        list.server.tell(
            .object(
                [.init("revision", JSONValue(orNull: revision))] + more
                    + (deleted.isEmpty ? [] : [.init("deleted", JSON.items(deleted))])),
            revision.map { "revision \($0)" } ?? "nothing to do")
    }
}

extension Delta {
    /// Whether the list stays the same, for example after ticking a ticked task. O(size of the delta · log n).
    func changesNothing(of list: Hand) -> Bool {
        (try? list.applying(self).digest) == list.digest
    }
}

/// Where to put items.
struct PlaceOptions: ParsableArguments {
    @Flag(help: "Put the items at the top of the list.") var top = false
    @Flag(help: "Put the items at the end of the list.") var end = false
    @Option(help: .init("Put the items before this item.", valueName: "item"), completion: Completions.items)
    var before: String?
    @Option(help: .init("Put the items after this item.", valueName: "item"), completion: Completions.items) var after:
        String?

    func validate() throws {
        let given = [top, end, before != nil, after != nil].filter { $0 }.count
        if given > 1 { throw ValidationError("Name one place: --top, --end, --before ITEM or --after ITEM.") }
    }

    /// The chosen place; nil if none was given.
    func place() throws -> Place? {
        if top { return .top }
        if end { return .end }
        if let before { return .before(try ItemReference(before)) }
        if let after { return .after(try ItemReference(after)) }
        return nil
    }
}

/// Messages about what happened to the user's edits, except for losses.
enum Notices {
    static func text(_ notice: Replica.Notice) -> String? {
        switch notice {
        case .acknowledged, .superseded, .rejected: return nil
        case .spared(let item, .words(let loss, _)): return Printable.stays(loss, in: item.content)
        case .spared: return nil
        case .usedTwice(let revision):
            return "another program used this one's client id for revision \(revision), perhaps from a copy of "
                + "\(Settings.stateFolder)/clients; your edit was sent again, under a new id"
        case .diverged(let revision):
            return "this list differed from the server's at revision \(revision); it was loaded again"
        }
    }
}

extension JSONValue {
    /// The number, or `null` for nil.
    init(orNull number: Int?) { self = number.map { JSONValue($0) } ?? .null }
}
