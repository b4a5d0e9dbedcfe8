import HandCore
import HandWire

extension ServerMachine {
    /// Gives bytes to a session, and carries out each message before the next one is read.
    func receive(_ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0), from connection: Connection) {
        var frames = connection.session.received(bytes, now: now)
        // A message that cannot be handled yet is not even decoded.
        while !frames.isEmpty, connection.mayHandle, !pausesIfUsedUp(connection),
            let effect = connection.session.next(of: &frames)
        {
            spend(Price.message, for: connection)
            carryOut(effect, isAsked: true, for: connection)
        }
        connection.session.keep(frames)
        countUnfinished(of: connection)
    }

    /// - Parameters:
    ///   - isNext: whether a message is handled before those that wait.
    ///   - isAsked: whether the client's message has caused the effect.
    func carryOut(
        _ effect: ServerSession.Effect?, isNext: Bool = false, isAsked: Bool = false, for connection: Connection
    ) {
        switch effect {
        case nil: break
        case .identify(let hello): identify(hello, connection)
        case .handle(let message): take(.message(message), isNext: isNext, from: connection)
        case .read(let body): take(.body(body), isNext: isNext, from: connection)
        case .send(let bytes):
            if isAsked { charge(connection, requests: 1) }
            connection.enqueue(FrameRun(bytes))
            mark(connection)
        case .close(let code, let lastBytes):
            connection.enqueue(FrameRun(lastBytes))
            note(.closing(connection, code))
            figures.closings["\(code)", default: 0] += 1
            for list in connection.cursors.lists { unsubscribe(connection, from: list) }
            connection.closeWhenSent(by: now + limits.drainDeadline)
            endWaiting(of: connection)
            mark(connection)
        }
    }

    /// Handles a message that has come, or keeps it until those before it are carried out.
    private func take(_ input: Connection.Input, isNext: Bool, from connection: Connection) {
        guard connection.beginHandling() else {
            connection.keep(input, isNext: isNext)
            return handleWaiting(of: connection)
        }
        handle(input, from: connection)
        handleMore(of: connection)
    }

    /// Handles the messages that wait, as far as possible.
    func handleWaiting(of connection: Connection) {
        if connection.beginWaiting() { handleMore(of: connection) }
    }

    private func handleMore(of connection: Connection) {
        while let next = connection.nextInput() { handle(next, from: connection) }
        if connection.session.hasUnread { receive(from: connection) }
    }

    func fail(_ connection: Connection, _ code: ErrorCode, _ message: String, retryAfter: UInt64 = 0) {
        carryOut(connection.session.fail(code, message, retryAfter: retryAfter), for: connection)
    }

    /// Asks who says hello. Nothing more is read until that is known.
    func identify(_ hello: UpMessage.Hello, _ connection: Connection) {
        connection.stream.stopReading()
        emit(.identify(hello, connection))
    }

    /// Call this after `Effect.identify`, with what the client may do; nil if it is not let in. The user is charged for
    /// the hello: a user who connects too often has to wait.
    package func identified(_ connection: Connection, saying hello: UpMessage.Hello, as grant: Grant?, at time: Moment)
    {
        self.time = time
        guard !connection.isEnding else { return }
        guard let grant else { return turnAway(connection, hasToken: hello.token != nil) }
        // A hello that had to wait was charged before. The user's rights may have changed meanwhile.
        if connection.account == nil {
            if connection.hasEntered, let origin = connection.stream.origin {
                limiter.know(connection.id, from: origin)
            }
            connection.account = account(of: grant.user)
            connection.account?.connections += 1
            charge(connection, work: Price.hello)
            if connection.isEnding { return }
        }
        if connection.isSlowed { connection.setPace(.holding(hello)) } else { admit(hello, grant, connection) }
    }

    /// Closes the client's old connection before anything more of this one is read, and finds its author number. Of two
    /// hellos, the later one wins, in whatever order the store answers.
    private func admit(_ hello: UpMessage.Hello, _ grant: Grant, _ connection: Connection) {
        connection.access = grant.access
        let client = grant.client
        let key = StoreHint.Key(client)
        let old = clients[key]
        if let old { fail(old, .replaced, "this client has connected again") }
        connection.identify(as: client)
        clients[key] = connection
        emit(.tell(.client(key)))
        connection.person = grant.access.person(saying: hello.person)
        connection.hasPresence = hello.capabilities.contains(.presence)
        connection.hasDigest = hello.capabilities.contains(.digest)
        connection.hasGrants = hello.capabilities.contains(.grants)
        findAuthor(of: client, connection, after: old)
    }

    /// Finds the author number of a client. Newcomers are looked up now, not when the store has answered: a newcomer's
    /// commit may become durable in the meantime, after the store has looked.
    ///
    /// - Parameter old: the client's former connection, if it has not gone yet. Its author need not be in the store.
    private func findAuthor(of client: ClientID, _ connection: Connection, after old: Connection?) {
        let person = connection.person
        let old = old?.client == client ? old : nil
        let remembered = newcomers.find(client, named: person)
        if let author = remembered.author {
            connection.isNewcomer = true
            return welcome(connection, as: author)
        }
        if let old, let author = old.author, old.person == person {
            connection.isNewcomer = old.isNewcomer
            return welcome(connection, as: author)
        }
        let number = remembered.client ?? old?.author?.client
        start(.findAuthor(FindAuthor(connection: connection.id, client: client, person: person, number: number)))
    }

    func found(_ task: FindAuthor, _ result: Result<(author: Author, isNew: Bool), StoreError>) {
        guard let connection = connections[task.connection], !connection.session.isClosed else { return }
        switch result {
        case .failure(let error): fail(connection, .internalError, "\(error)", retryAfter: 1_000)
        case .success((let author, isNew: false)): welcome(connection, as: author)
        case .success((var author, isNew: true)):
            if let other = task.number { author = Author(number: author.number, client: other) }
            connection.isNewcomer = true
            welcome(connection, as: author)
        }
    }

    private func welcome(_ connection: Connection, as author: Author) {
        connection.identify(as: author)
        note(.letIn(connection))
        connection.stream.resumeReading()
        let role = connection.access.everywhere
        carryOut(
            connection.session.identified(author: author.number, role: role, now: now), for: connection)
        tellGrants(connection)
        receive(from: connection)
    }

    /// Turns a client away. After too many failures from one address, they are no longer logged, but the client is
    /// still told.
    private func turnAway(_ connection: Connection, hasToken: Bool) {
        let text =
            hasToken ? "the token is not valid, or no longer" : "this server asks for a token: set HAND_TOKEN"
        let origin = connection.hasEntered ? connection.stream.origin : nil
        if origin.map({ limiter.failed($0, now: now) }) ?? true {
            note(.turnedAway(connection, reason: text))
        }
        fail(connection, .notAuthenticated, text)
    }

    /// Makes the connection wait for something. Messages that its client sends in the meantime wait, too.
    func begin(_ connection: Connection) {
        connection.setBusy(true)
    }

    /// The connection no longer waits.
    func end(_ connection: Connection) {
        connection.setBusy(false)
        handleWaiting(of: connection)
    }

    func end(_ connection: ConnectionID) { connections[connection].map(end) }

    /// Answers a request with an error that does not close the connection.
    func refuse(_ connection: Connection, _ request: UInt64, _ code: ErrorCode, _ message: String) {
        send(.error(code: code, request: request, retryAfter: 0, message: message), to: connection)
    }

    func refuse(_ connection: Connection, _ request: UInt64, _ error: StoreError) {
        refuse(RequestID(connection, request), error)
    }

    /// Answers a request with an error of the store. That the store cannot be reached says nothing about the request
    /// itself: in that case the connection is closed, and the client asks again.
    func refuse(_ id: RequestID, _ error: StoreError) {
        let code: ErrorCode =
            switch error {
            case .unreachable: .internalError
            case .noSuchList, .notDeleted: .noSuchList
            case .listExists: .listExists
            case .noSuchRevision: .noSuchRevision
            case .inUse, .newer, .older, .noStore, .notAStore, .damaged, .conflict, .syncFailed, .removed, .failed:
                .listDamaged
            }
        if code == .internalError || code == .listDamaged { note(.storeFailed(error)) }
        guard let connection = connections[id.connection] else { return }
        if code == .internalError { return fail(connection, code, "\(error)", retryAfter: 1_000) }
        refuse(connection, id.request, code, "\(error)")
    }

    func send(_ message: DownMessage, to connection: ConnectionID) {
        connections[connection].map { send(message, to: $0) }
    }

    func send(_ message: DownMessage, to connection: Connection) {
        connection.enqueue(FrameRun(message.frame))
        mark(connection)
    }
}

/// Finds the author number of a client that has said hello.
package struct FindAuthor: Sendable {
    let connection: ConnectionID
    let client: ClientID
    let person: String
    /// The number of the client, if it is remembered.
    let number: UInt64?

    func run(on store: any CommitStore) throws -> (author: Author, isNew: Bool) {
        try store.author(for: client, person: person)
    }
}
