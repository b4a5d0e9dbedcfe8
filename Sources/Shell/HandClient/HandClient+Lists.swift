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
        if let revision, revision < 0 {
            throw ClientError.refused(.noSuchRevision, "there is no revision \(revision); they start at 0")
        }
        guard
            case .state(let hand, let revision) = try await read({
                .fetch(request: $0, name: name, revision: revision)
            })
        else { throw Self.wrongAnswer }
        return (hand, revision)
    }

    /// Returns a page of a list's history from `revision` on, with the names of the authors. Empty at the end.
    public func history(
        of name: String, from revision: Int, limit: Int = 1_000
    ) async throws -> (commits: [Commit], people: [UInt64: String]) {
        guard
            case .history(let commits, let people) = try await read({
                .history(request: $0, name: name, from: revision, limit: limit)
            })
        else { throw Self.wrongAnswer }
        return (commits, Dictionary(people.map { ($0.author, $0.name) }, uniquingKeysWith: { $1 }))
    }

    /// Sends a request that changes nothing. If the connection is lost before the answer, the request is sent again.
    func read(_ message: @escaping @Sendable (UInt64) -> UpMessage) async throws -> ClientMachine.Answer {
        while true {
            do { return try await request(message) } catch ClientError.unreachable(let reason) {
                guard try await read({ $0.errorGivenUp == nil }) else { throw ClientError.unreachable(reason) }
            }
        }
    }

    /// Sends requests until all pages have arrived.
    func all<Pages: PagedRequest>(_ pages: Pages) async throws -> Pages {
        var pages = pages
        while let request = pages.request { pages.take(try await read(request)) }
        return pages
    }

    static let wrongAnswer = ClientError.unreachable("the server's answer does not match the request")

    func request(_ message: @escaping @Sendable (UInt64) -> UpMessage) async throws -> ClientMachine.Answer {
        try await answer { $0.ask(message) }
    }

    /// Makes the machine send a request and waits for the answer. `ask` returns the request's number.
    func answer(
        _ ask: @escaping @Sendable (inout ClientMachine) -> UInt64?
    ) async throws -> ClientMachine.Answer {
        try await connected()
        return try await onLoop { engine, reply in
            var changes = false
            engine.client.ask { machine in
                let request = ask(&machine)
                changes = request.map { machine.isOutcomeUnknown(of: $0) } ?? false
                return request
            } then: { [unowned engine] answer in
                switch answer {
                case .error(let code, let text): reply.fail(ClientError.refused(code, text))
                case .disconnected where engine.isClosed: reply.fail(ClientError.closed)
                case .disconnected:
                    let reason = "the connection was lost before the answer came"
                    reply.fail(changes ? ClientError.outcomeUnknown(reason) : .unreachable(reason))
                case .done, .lists, .deletedLists, .history, .state, .excerpt, .committed, .rejected, .stale, .people:
                    reply.succeed(answer)
                }
            }
        }
    }
}
