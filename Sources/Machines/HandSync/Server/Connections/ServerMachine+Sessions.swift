import HandCore
import HandWire

extension ServerMachine {
    /// Gives bytes to a session, and carries out each message before the next one is read.
    func receive(_ bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0), from connection: Connection) {
        var frames = connection.session.received(bytes, now: now)
        // A message that cannot be handled yet is not even decoded.
        while !frames.isEmpty, connection.mayHandle, !budgets.pausesIfUsedUp(connection),
            let effect = connection.session.next(of: &frames)
        {
            budgets.spend(Price.message, for: connection)
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
            connection.closeWhenSent(code, by: now + limits.drainDeadline)
            budgets.endWaiting(of: connection)
            mark(connection)
        }
    }

    /// Handles a message that has come, or keeps it until those before it are carried out.
    func take(_ input: Connection.Input, isNext: Bool, from connection: Connection) {
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

    /// Makes the connection wait for something. Messages that its client sends in the meantime wait, too.
    func begin(_ connection: Connection) { connection.setBusy(true) }

    /// The connection no longer waits.
    func end(_ connection: Connection) {
        connection.setBusy(false)
        handleWaiting(of: connection)
    }

    func end(_ connection: ConnectionID) { connections[connection].map(end) }

    /// Answers a request with an error that does not close the connection.
    func refuse(_ connection: Connection, _ request: RequestNumber, _ code: ErrorCode, _ message: String) {
        send(.error(code: code, request: request, retryAfter: 0, message: message), to: connection)
    }

    func refuse(_ connection: Connection, _ request: RequestNumber, _ error: StoreError) {
        refuse(RequestID(connection, request), error)
    }

    /// Answers a request with an error of the store. That the store cannot be reached says nothing about the request
    /// itself: in that case the connection is closed, and the client asks again.
    func refuse(_ id: RequestID, _ error: StoreError) {
        let code: ErrorCode =
            switch error {
            case .unreachable: .internalError
            case .noSuchList, .notDeleted: .noSuchList
            case .listExists, .nameIsAwaited: .listExists
            case .noSuchRevision: .noSuchRevision
            case .inUse, .newer, .older, .noStore, .recovering, .emptyDatabase, .notAStore, .damaged, .conflict,
                .syncFailed, .removed, .overwritten, .failed:
                .listDamaged
            }
        if code == .listDamaged { note(.storeFailed(error)) }
        guard let connection = connections[id.connection] else { return }
        if code == .internalError { return fail(connection, error) }
        refuse(connection, id.request, code, error.clientText)
    }

    /// Closes a connection that cannot go on without the store. That the store cannot be reached is logged once, by
    /// whoever watches it, and not for each client.
    func fail(_ connection: Connection, _ error: StoreError) {
        if case .unreachable = error {} else { note(.storeFailed(error)) }
        fail(connection, .internalError, error.clientText, retryAfter: 1_000)
    }

    func send(_ message: DownMessage, to connection: ConnectionID) {
        connections[connection].map { send(message, to: $0) }
    }

    func send(_ message: DownMessage, to connection: Connection) {
        connection.enqueue(FrameRun(message.frame))
        mark(connection)
    }
}

extension StoreError {
    /// What a client is told. Paths, and what the system says about them, are for the log.
    fileprivate var clientText: String {
        switch self {
        case .unreachable: "the server cannot reach its store"
        case .failed: "the server's store failed; its log says why. Nothing was changed; try again later"
        default: description
        }
    }
}
