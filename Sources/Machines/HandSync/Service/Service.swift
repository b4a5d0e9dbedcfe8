import HandCore
import HandWire

/// Everything that a server does: the lists in memory, the connections, what is written when and sent to whom.
///
///     accepted ─▶ received … received ─▶ ended          input of connections
///     endTurn ─▶ one transaction with all that was numbered, then one write to each stream that has something to get
///     timeout ─▶ presence, deadlines, lists that nobody needs
///
/// Deterministic and without a clock, a socket or a file: what it needs it asks of its `ServiceEnvironment`, which reports by
/// calling these methods, all on one thread and never from within a call of its own. So nothing that is called while a
/// property changes comes back to it, and of those that each commit touches the run time need not check that.
package final class Service {
    let world: any ServiceEnvironment
    package let limits: Limits
    private let terms: ServerSession.Terms
    let retention: Retention
    var random: SplitMix64

    private(set) var connections = ConnectionSet()
    var limiter: ConnectionLimiter
    /// What users take, by user.
    var accounts: [String: Account] = [:]
    /// Accounts with at least one waiting connection.
    var slowed: [Account] = []
    /// When the next of those may go on.
    var slowedDue: UInt64?
    /// Bytes that the store takes, as of the last look.
    @exclusivity(unchecked) var storeSize = StoreSize()
    private var nextNumber: UInt64 = 1
    var clients: [StoreHint.Key: Connection] = [:]
    @exclusivity(unchecked) var authors: [UInt64: Connection] = [:]
    @exclusivity(unchecked) var newcomers = Newcomers()
    var hostedLists: [UInt64: HostedList] = [:]
    var names: [String: UInt64] = [:]
    /// Lists that are being loaded or brought up to date, by name.
    var loading: [String: Loading] = [:]
    /// The number of loads so far.
    var loads: UInt64 = 0
    @exclusivity(unchecked) var marked: [Connection] = []
    /// Those of them that get whole lists, the first to wait first.
    private var receiving: [Connection] = []
    @exclusivity(unchecked) var writer = GroupCommit()
    var listsWithNewPresence: Set<UInt64> = []
    /// When changed presence is to be sent.
    var presenceDue: UInt64?
    var exchange = PresenceExchange()
    private var nextSweep: UInt64
    /// How often it was begun to change what lists are called: a list that was being read meanwhile is read again.
    var namings = 0
    /// Whether that is under way; then no list is read, so that none is in memory twice.
    var isNaming = false
    /// The loads that wait for that, each with the connection that it is charged to.
    var whenNamed: [(name: String, connection: UInt64)] = []
    var removal = Removal()
    @exclusivity(unchecked) var past = PastStates()
    /// Whether the store is being asked how far lists are.
    var isPolling = false
    package private(set) var isStopping = false
    /// Whether new connections are turned away.
    package internal(set) var isDraining = false
    /// Whether the store cannot be reached: another server may serve those who come.
    package internal(set) var isCutOff = false
    @exclusivity(unchecked) package internal(set) var figures = ServiceFigures()
    /// What was done for all clients together, and the most for one message that is no submission, as it is charged.
    @exclusivity(unchecked) package internal(set) var workDone = 0
    @exclusivity(unchecked) package internal(set) var heaviest = 0

    /// Milliseconds between two looks at deadlines.
    private static let sweepInterval: UInt64 = 1_000

    /// - Parameters:
    ///   - program: name and version, as clients see it.
    ///   - retention: how much of each list's history is kept.
    ///   - seed: of shuffles and log ids; nothing else is random.
    package init(
        world: any ServiceEnvironment, limits: Limits, program: String, retention: Retention = .everything, seed: UInt64
    ) {
        self.world = world
        self.limits = limits
        limiter = ConnectionLimiter(limits)
        terms = ServerSession.Terms(limits: limits, program: program)
        self.retention = retention
        random = SplitMix64(seed: seed)
        nextSweep = world.now + Self.sweepInterval
    }

    // MARK: Connections

    /// A client has connected. What comes from it is reported with the connection that is returned.
    package func accepted(_ stream: any ByteStream) -> Connection {
        let session = ServerSession(terms, now: world.now)
        let connection = Connection(number: nextNumber, stream: stream, session: session)
        nextNumber += 1
        connections.add(connection)
        figures.connections += 1
        world.note(.connected(connection))
        if isDraining {
            fail(connection, .shuttingDown, "the server takes no new connections", retryAfter: 5_000)
        } else if isCutOff {
            sendAway(connection)
        } else if connections.count > limits.connections {
            fail(
                connection, .tooManyConnections, "this server takes \(limits.connections) connections at a time",
                retryAfter: 5_000)
        } else if let origin = stream.origin {
            enter(connection, from: origin)
        }
        return connection
    }

    /// Whether to begin the cryptography of a connection from an address that is about to be accepted; nil is this machine's.
    package func mayShakeHands(with origin: String?) -> Bool {
        origin.map { limiter.shakesHands($0, now: world.now) } ?? true
    }

    /// Who says nothing does not keep others out that come from the same address.
    private func enter(_ connection: Connection, from origin: String) {
        if let oldest = limiter.givesWay(at: origin).flatMap({ connections[$0] }) {
            leave(oldest)
            fail(
                oldest, .tooManyConnections, "others came from your address while there was no hello", retryAfter: 5_000
            )
        }
        if let reason = limiter.enter(connection.number, from: origin) {
            fail(connection, .tooManyConnections, reason, retryAfter: 5_000)
        } else {
            connection.hasEntered = true
        }
    }

    /// It counts no more under its address.
    private func leave(_ connection: Connection) {
        guard connection.hasEntered, let origin = connection.stream.origin else { return }
        connection.hasEntered = false
        limiter.leave(connection.number, from: origin)
    }

    /// Bytes came. Not to be called between `ByteStream.stopReading` and `resumeReading`.
    package func received(_ bytes: UnsafeRawBufferPointer, from connection: Connection) {
        figures.bytesReceived += bytes.count
        charge(connection, bytes: bytes.count)
        receive(bytes, from: connection)
    }

    /// The system has taken all that was written.
    package func drained(_ connection: Connection) {
        connection.drained()
        connection.work { handle($0, from: connection) }
        mark(connection)
    }

    /// The client has ended its direction, or the connection is lost.
    package func ended(_ connection: Connection, reason: String) {
        world.note(.disconnected(connection, reason: reason))
        drop(connection)
    }

    /// Forgets a connection and all that stands on it.
    private func drop(_ connection: Connection) {
        connection.close()
        guard connections.remove(connection) else { return }
        leave(connection)
        for list in connection.cursors.lists { unsubscribe(connection, from: list) }
        closeAccount(of: connection)
        if let key = connection.client.map(StoreHint.Key.init), clients[key] === connection { clients[key] = nil }
        if let author = connection.author?.number {
            if authors[author] === connection { authors[author] = nil }
            newcomers.release(author)
        }
    }

    // MARK: Turns

    /// Has the connection written to at the end of this turn.
    func mark(_ connection: Connection) {
        guard !connection.isMarked, !connection.isClosed else { return }
        connection.isMarked = true
        marked.append(connection)
    }

    /// To be called when all events that were there have been reported. Returns whether another turn is to follow at once,
    /// though nothing else may be due.
    package func endTurn() -> Bool {
        writeBatch()
        var output = Connection.Output()
        let now = marked
        marked = []
        for connection in now {
            if connection.isGettingLists { receiving.append(connection) } else { flush(connection, &output) }
        }
        // Chunks of lists are made for one connection each: few in a turn, so that nobody's commits wait for many.
        var (served, made) = (0, 0)
        while served < receiving.count, made < limits.chunkBytes {
            flush(receiving[served], &output)
            made += output.ownBytes
            served += 1
        }
        receiving.removeFirst(served)
        servePast()
        return sayGoodbye() || !marked.isEmpty || !receiving.isEmpty
    }

    /// - Parameter output: memory to put together in what is sent; it tells then what that was.
    private func flush(_ connection: Connection, _ output: inout Connection.Output) {
        connection.isMarked = false
        connection.flush(&output, chunkBytes: limits.chunkBytes) { read(for: $0, list: $1) }
        figures.bytesSent += output.bytes
        figures.deliveries += output.commits
        if output.hasMore { mark(connection) }
        connection.work { handle($0, from: connection) }
        if connection.isClosed { drop(connection) }
    }

    // MARK: Time

    /// When `timeout` is to be called.
    package var deadline: UInt64 {
        min(nextSweep, presenceDue ?? .max, slowedDue ?? .max, writer.deadline, world.isShared ? exchange.due : .max)
    }

    /// To be called at the deadline; does what is due.
    package func timeout() {
        if let presenceDue, world.now >= presenceDue { sendPresence() }
        if let slowedDue, world.now >= slowedDue { releaseSlowed() }
        if world.now >= exchange.due { exchangePresence() }
        guard world.now >= nextSweep else { return }
        nextSweep = world.now + Self.sweepInterval
        limiter.sweep(now: world.now)
        sweepAccounts()
        measureStore()
        trimIfFull()
        pollHeads()
        sweepDeleted()
        closeStalled()
        for connection in Array(connections) {
            if connection.isUnheard { connection.session.excuse(now: world.now) }
            carryOut(connection.session.timeout(now: world.now), for: connection)
            if let deadline = connection.closeDeadline, world.now >= deadline { drop(connection) }
        }
        for hosted in hostedLists.values where hosted.isIdle(for: limits.unloadDelay, now: world.now) {
            unload(hosted)
            world.note(.unloaded(list: hosted.list.name))
        }
    }

    // MARK: Stopping

    /// Takes no more work. What was numbered is still written; then everybody is told, and after a while closed.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        world.note(.stopping(connections: connections.count))
        for connection in connections { connection.stream.stopReading() }
    }

    /// Whether it has been stopped, everything is written, and everybody has gone.
    package var hasStopped: Bool { isStopping && writer.isIdle && connections.isEmpty }

    /// Once everything is written, tells those who do not know yet. Returns whether there was anybody.
    private func sayGoodbye() -> Bool {
        guard isStopping, writer.isIdle else { return false }
        let unaware = connections.filter { !$0.session.isClosed }
        for connection in unaware {
            fail(connection, .shuttingDown, "the server is stopping", retryAfter: 200)
        }
        return !unaware.isEmpty
    }
}
