import HandCore
import HandSync
import HandWire

extension HandClient {
    /// Follows a list, starting from its copy in the journal or from nothing. Does not wait for the server.
    ///
    /// A client that keeps no lists leaves an existing copy as it is, unless edits wait on it.
    public func open(_ name: String) async throws -> FollowedList {
        let _: Void = try await onLoop { engine, reply in engine.follow(name) { reply.answer($0) } }
        return FollowedList(client: self, name: name)
    }

    /// Waits until the server has welcomed this client.
    ///
    /// - Throws: `.unreachable` with the reason if the next attempt fails and the server was never reached before;
    ///   `.refused` if the server does not let this client in.
    public func connected() async throws {
        let _: Void = try await onLoop { engine, reply in
            engine.wait(reply) { [unowned engine] in
                switch engine.status {
                case .online: return ()
                case .offline(let reason, let wait) where wait == nil || !engine.client.machine.hasHeard:
                    throw engine.error(reason)
                case .offline, .connecting: return nil
                }
            }
        }
    }

    /// Returns why there is no connection at the moment, in the words of a server that was heard; nil if there is a
    /// connection, or if no server was heard.
    package func trouble() async throws -> String? {
        try await read { engine in
            if case .offline(let reason, _) = engine.status, engine.client.machine.hasHeard { reason } else { nil }
        }
    }

    /// Returns the server's welcome, and the seconds until its certificate expires; nil without TLS.
    package func greeting() async throws -> (welcome: DownMessage.Welcome, certificateLifetime: Int?) {
        try await connected()
        let found = try await read { ($0.client.machine.welcome, $0.client.certificateLifetime) }
        guard let welcome = found.0 else { throw Self.wrongAnswer }
        return (welcome, found.1)
    }

    /// Returns this user's name and roles; nil if the server has not said them. Once the server has answered anything
    /// else, it will not say them.
    package func granted() async throws -> DownMessage.Granted? { try await read { $0.client.machine.granted } }

    public func create(_ name: String, rules: Rules = Rules()) async throws {
        _ = try await request { .create(request: $0, name: name, rules: rules) }
    }

    public func delete(_ name: String) async throws {
        _ = try await request { .delete(request: $0, name: name) }
    }

    /// Gives a list another name; its followers continue to follow it.
    public func rename(_ name: String, to newName: String) async throws {
        _ = try await request { .rename(request: $0, name: name, newName: newName) }
    }

    /// Restores a deleted list: the list that a deletion removed, or the last deleted list of that name.
    public func undelete(_ name: String, deletion: UInt64? = nil, as newName: String? = nil) async throws {
        _ = try await request {
            .undelete(request: $0, name: name, deletion: deletion, newName: newName ?? name)
        }
    }

    /// Returns the deleted lists that can be restored, the newest deletion first.
    ///
    /// - Parameter pages: how many pages to ask for at most.
    public func deletedLists(pages: Int = .max) async throws -> [DownMessage.DeletedEntry] {
        var all: [DownMessage.DeletedEntry] = []
        for _ in 0..<pages {
            let before = all.last?.deletion
            let answer = try await request { .deletedLists(request: $0, before: before) }
            guard case .deletedLists(let page, let hasMore) = answer else { throw Self.wrongAnswer }
            all += page
            // After an empty page, the same page would be requested again and again.
            if !hasMore || page.isEmpty { break }
        }
        return all
    }

    /// Returns all lists of the server, in the order of their names.
    public func lists() async throws -> [DownMessage.ListEntry] { try await all(ListPages()).lists }

    /// Returns the list at a revision or at present, and the revision of the returned list.
    public func state(of name: String, at revision: Int? = nil) async throws -> (hand: Hand, revision: Int) {
        try Self.check(revision)
        guard
            case .state(let hand, let revision) = try await request({
                .fetch(request: $0, name: name, revision: revision)
            })
        else { throw Self.wrongAnswer }
        return (hand, revision)
    }

    /// Returns a page of a list's history from `revision` on, with the names of the authors. Empty at the end.
    public func history(
        of name: String, from revision: Int, limit: Int = 1_000
    ) async throws -> (commits: [Commit], people: [AuthorID: String]) {
        guard
            case .history(let commits, let people) = try await request({
                .history(request: $0, name: name, from: revision, limit: limit)
            })
        else { throw Self.wrongAnswer }
        // Who reads page after page would never come to an end.
        guard commits.allSatisfy({ $0.revision >= revision }) else { throw Self.wrongAnswer }
        let names = Dictionary(people.map { ($0.author, $0.name) }, uniquingKeysWith: { $1 })
        try await read { $0.people.merge(names) { $1 } }
        return (commits, names)
    }

    /// Sends requests until all pages have arrived.
    package func all<Pages: PagedRequest>(_ pages: Pages) async throws -> Pages {
        var pages = pages
        while pages.request != nil { pages = try await next(of: pages) }
        return pages
    }

    /// Sends the next request, and returns what has arrived then.
    package func next<Pages: PagedRequest>(of pages: Pages) async throws -> Pages {
        var pages = pages
        if let next = pages.request { pages.take(try await request(next)) }
        return pages
    }

    static let wrongAnswer = ClientError.unreachable("the server's answer does not match the request")

    func request(_ message: @escaping @Sendable (RequestNumber) -> UpMessage) async throws -> ClientMachine.Answer {
        try await answer { $0.ask(waits: true, message) }
    }

    /// Makes the machine send a request and waits for the answer. `ask` returns the request's number.
    ///
    /// - Parameter other: the answer if `ask` returns nil.
    func answer(
        orElse other: ClientMachine.Answer = .disconnected(nil, mayBeDone: false),
        _ ask: @escaping @Sendable (inout ClientMachine) -> RequestNumber?
    ) async throws -> ClientMachine.Answer {
        try await onLoop { engine, reply in
            engine.client.ask(ask, orElse: other) { [unowned engine] answer in
                switch answer {
                case .error(let code, let text): reply.fail(ClientError.refused(code, text))
                case .disconnected(_, mayBeDone: true):
                    reply.fail(ClientError.outcomeUnknown("the connection was lost before the answer came"))
                case .disconnected(let reason, _): reply.fail(engine.noAnswer(reason))
                case .done, .lists, .deletedLists, .history, .state, .excerpt, .committed, .rejected, .stale, .people:
                    reply.succeed(answer)
                }
            }
        }
    }
}
