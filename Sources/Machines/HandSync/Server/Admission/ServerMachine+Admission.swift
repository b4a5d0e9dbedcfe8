import HandCore
import HandWire

extension ServerMachine {
    // MARK: Connecting

    /// A client has connected. Returns the connection, with which its input is reported.
    ///
    /// - Parameter start: when the time for its hello began, if that was earlier.
    package func accepted(_ stream: any ByteStream, at time: Moment, since start: UInt64? = nil) -> Connection {
        self.time = time
        let session = ServerSession(terms, now: start ?? now)
        let connection = connections.add { Connection(id: $0, stream: stream, session: session) }
        figures.connections += 1
        note(.connected(connection))
        if stage == .draining {
            fail(connection, .shuttingDown, "the server takes no new connections", retryAfter: 5_000)
        } else if isCutOff {
            sendAway(connection)
        } else if connections.count > limits.connections {
            fail(
                connection, .tooManyConnections, "this server takes \(limits.connections) connections at a time",
                retryAfter: 5_000)
        } else {
            enter(connection)
        }
        return connection
    }

    /// Counts a connection under its address. If there are too many, the oldest one without a hello is closed.
    private func enter(_ connection: Connection) {
        if let oldest = admission.limiter.givesWay(to: connection).flatMap({ connections[$0] }) {
            admission.limiter.leave(oldest)
            fail(
                oldest, .tooManyConnections,
                "your address has too many connections; the oldest one without a hello was closed", retryAfter: 5_000)
        }
        if let reason = admission.limiter.enter(connection) {
            fail(connection, .tooManyConnections, reason, retryAfter: 5_000)
        }
    }

    /// Returns whether to begin the TLS handshake of a connection. `origin` is the address that it comes from; nil if
    /// that is this machine.
    package func mayShakeHands(with origin: String?, at time: Moment) -> Bool {
        admission.limiter.shakesHands(origin, now: time.now)
    }

    // MARK: The hello

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
            admission.limiter.know(connection)
            budgets.open(connection, of: grant.user, now: now)
            charge(connection, work: Price.hello)
            if connection.isEnding { return }
        }
        if connection.isSlowed { connection.setPace(.holding(hello)) } else { admit(hello, grant, connection) }
    }

    /// Turns a client away. After too many failures from one address, they are no longer logged, but the client is
    /// still told.
    private func turnAway(_ connection: Connection, hasToken: Bool) {
        let text = hasToken ? "the token is not valid, or no longer" : "this server asks for a token: set HAND_TOKEN"
        if admission.limiter.turnedAway(connection, now: now) { note(.turnedAway(connection, reason: text)) }
        fail(connection, .notAuthenticated, text)
    }

    /// Closes the client's old connection before anything more of this one is read, and finds its author number. Of two
    /// hellos, the later one wins, in whatever order the store answers.
    private func admit(_ hello: UpMessage.Hello, _ grant: Grant, _ connection: Connection) {
        connection.admit(hello, grant)
        let former = admission.replace(hello.client, by: connection)
        if let former { fail(former, .replaced, "this client has connected again") }
        emit(.tell(.client(StoreHint.Key(hello.client))))
        switch admission.author(hello.client, named: connection.person, after: former) {
        case .author(let author, let isNewcomer): welcome(connection, as: author, isNewcomer: isNewcomer)
        case .unknown(let number):
            let task = FindAuthor(
                connection: connection.id, client: hello.client, person: connection.person, number: number)
            start(task) { $0.found($1, $2) }
        }
    }

    func found(_ task: FindAuthor, _ result: Result<(author: Author, isNew: Bool), StoreError>) {
        guard let connection = connections[task.connection], !connection.session.isClosed else { return }
        switch result {
        case .failure(let error): fail(connection, error)
        case .success((let author, let isNew)):
            let client = isNew ? task.number ?? author.client : author.client
            welcome(connection, as: Author(number: author.number, client: client), isNewcomer: isNew)
        }
    }

    private func welcome(_ connection: Connection, as author: Author, isNewcomer: Bool) {
        connection.identify(as: author, isNewcomer: isNewcomer)
        note(.letIn(connection))
        connection.stream.resumeReading()
        carryOut(connection.session.identified(author: author.number, now: now), for: connection)
        tellGrants(connection)
        receive(from: connection)
    }
}

/// Finds the author number of a client that has said hello.
package struct FindAuthor: StoreQuestion {
    let connection: ConnectionID
    let client: ClientID
    let person: String
    /// The number of the client, if it is remembered.
    let number: AuthorID?

    func run(on store: any CommitStore) throws -> (author: Author, isNew: Bool) {
        try store.author(for: client, person: person)
    }
}
