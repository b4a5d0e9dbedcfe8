import HandCore
import HandWire

/// A server without a clock, a socket or a file: it keeps lists in memory and connections, and decides what is written
/// and sent.
///
///     accepted ─▶ received … received ─▶ ended          input of connections
///     endTurn ─▶ one transaction with all numbered commits, then one write to each stream with output
///     finished ─▶ the answer of the store, or the result of a computation
///     timeout ─▶ presence, deadlines, lists that nobody needs
///
/// Events and their times go in. The shell pulls effects with `nextEffect()` after each turn, and carries them out in
/// that order. Bytes for a client are no effects: they go to the connection's stream by a direct call, because a commit
/// of one client costs about 12,000 instructions for each of 100 that write, and an effect about 100.
///
/// A machine is deterministic. All calls come on one thread, and none from within another. So accesses to a property
/// never overlap, and the runtime need not check for overlaps in the properties that each commit touches.
package final class ServerMachine {
    package let limits: Limits
    /// The time of the event that is being handled.
    @exclusivity(unchecked) var time: Moment
    @exclusivity(unchecked) private var effects = Queue<Effect>()
    private let terms: ServerSession.Terms
    let retention: Retention
    /// The number by which other servers know this one; nil if no other servers write to the store. After each start,
    /// the number is a different one.
    let serverID: UInt64?
    var random: SplitMix64

    @exclusivity(unchecked) private(set) var connections = ConnectionSet()
    var limiter: ConnectionLimiter
    /// Each user's use of the server.
    var accounts: [String: Account] = [:]
    /// Accounts with at least one waiting connection.
    var slowed: [Account] = []
    /// When the next slowed account has budget again.
    @exclusivity(unchecked) var slowedDue: UInt64?
    @exclusivity(unchecked) var storeSize = StoreSize()
    var clients: [StoreHint.Key: Connection] = [:]
    @exclusivity(unchecked) var newcomers = Newcomers()
    @exclusivity(unchecked) var lists = ListDirectory()
    /// Lists with commits that their subscribers get at the end of this turn, each once.
    @exclusivity(unchecked) private var news: [ListMachine] = []
    /// Other connections that may have output at the end of this turn.
    @exclusivity(unchecked) var marked: [Connection] = []
    /// The marked connections of the turn that ends; a reused buffer.
    @exclusivity(unchecked) private var flushing: [Connection] = []
    /// Marked connections that get whole lists. The first to wait comes first.
    @exclusivity(unchecked) private var receiving: [Connection] = []
    /// The newest commits of one list, while its subscribers get them; a reused buffer.
    @exclusivity(unchecked) private var latestRun: [FrameRun] = []
    /// The output that is sent to a connection; a reused buffer.
    @exclusivity(unchecked) private var output = Connection.Output()
    /// The number of the turn.
    @exclusivity(unchecked) var turn: UInt32 = 1
    /// Connections that wait for the next turn.
    @exclusivity(unchecked) var paused: [Connection] = []
    /// For connections that are gone: the users who pay for the requests that are still under way, and until when.
    var departed: [ConnectionID: (user: String, until: UInt64)] = [:]
    @exclusivity(unchecked) var writer = WriteQueue()
    var listsWithNewPresence: Set<UInt64> = []
    /// When changed presence is to be sent.
    @exclusivity(unchecked) var presenceDue: UInt64?
    @exclusivity(unchecked) var exchange = PresenceExchange()
    @exclusivity(unchecked) var nextSweep: UInt64
    var removal = Removal()
    var clock: ClockWatch
    @exclusivity(unchecked) var past = RevisionStates()
    /// Whether the heads of lists are being read.
    var isPolling = false
    @exclusivity(unchecked) package internal(set) var stage = Stage.serving
    /// Whether the store cannot be reached. New clients are sent away, because another server may reach it.
    package internal(set) var isCutOff = false
    @exclusivity(unchecked) package internal(set) var figures = ServerFigures()
    /// The number of commits that were numbered, durable or not.
    @exclusivity(unchecked) package internal(set) var numbered = 0
    /// The work for all clients together, as it is charged.
    @exclusivity(unchecked) package internal(set) var workDone = 0
    /// The most work that was charged at once, apart from submissions.
    @exclusivity(unchecked) package internal(set) var heaviest = 0

    /// - Parameters:
    ///   - program: name and version, as clients see it.
    ///   - retention: how much of each list's history is kept.
    ///   - serverID: the number by which other servers know this one; nil if no other servers write to the store.
    ///   - seed: determines shuffles and log ids; nothing else is random.
    package init(
        limits: Limits, program: String, retention: Retention = .everything, serverID: UInt64? = nil, seed: UInt64,
        at time: Moment
    ) {
        self.limits = limits
        self.serverID = serverID
        self.time = time
        limiter = ConnectionLimiter(limits)
        terms = ServerSession.Terms(limits: limits, program: program)
        self.retention = retention
        random = SplitMix64(seed: seed)
        nextSweep = time.now + Self.sweepInterval
        clock = ClockWatch(wallClock: time.wallClock, now: time.now)
    }

    /// The stages of a server, in their order. It never goes back to an earlier one.
    package enum Stage: Comparable {
        case serving
        /// New connections are turned away; others go on.
        case draining
        /// No more work is taken. Once everything is written, all clients are told, also those that connect now.
        case stopping
        /// Nobody knows what the disk holds. Nothing more is done.
        case ended
    }

    // MARK: Times and effects

    /// Milliseconds on a clock that never goes back.
    var now: UInt64 { time.now }
    /// Milliseconds since 1970, for the times of commits.
    var wallClock: UInt64 { time.wallClock }
    /// Whether other servers write to the store, too.
    var isShared: Bool { serverID != nil }

    func emit(_ effect: Effect) { effects.append(effect) }

    /// Returns the next effect to carry out; nil if there is none.
    package func nextEffect() -> Effect? { effects.next() }

    // MARK: Connections

    /// A client has connected. Returns the connection, with which its input is reported.
    package func accepted(_ stream: any ByteStream, at time: Moment) -> Connection {
        self.time = time
        let session = ServerSession(terms, now: now)
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
        } else if let origin = stream.origin {
            enter(connection, from: origin)
        }
        return connection
    }

    /// Returns whether to begin the TLS handshake of a connection from an address; nil for this machine.
    package func mayShakeHands(with origin: String?, at time: Moment) -> Bool {
        self.time = time
        return origin.map { limiter.shakesHands($0, now: now) } ?? true
    }

    /// Counts a connection under its address. If there are too many, the oldest one without a hello is closed.
    private func enter(_ connection: Connection, from origin: String) {
        if let oldest = limiter.givesWay(at: origin).flatMap({ connections[$0] }) {
            leave(oldest)
            fail(
                oldest, .tooManyConnections,
                "your address has too many connections; the oldest one without a hello was closed", retryAfter: 5_000)
        }
        if let reason = limiter.enter(connection.id, from: origin) {
            fail(connection, .tooManyConnections, reason, retryAfter: 5_000)
        } else {
            connection.hasEntered = true
        }
    }

    /// Counts a connection no more under its address.
    private func leave(_ connection: Connection) {
        guard connection.hasEntered, let origin = connection.stream.origin else { return }
        connection.hasEntered = false
        limiter.leave(connection.id, from: origin)
    }

    /// Bytes came from a client. Not to be called between `ByteStream.stopReading` and `resumeReading`.
    package func received(_ bytes: UnsafeRawBufferPointer, from connection: Connection, at time: Moment) {
        self.time = time
        figures.bytesReceived += bytes.count
        charge(connection, bytes: bytes.count)
        if connection.isEnding { connection.ignore(bytes.count) } else { receive(bytes, from: connection) }
    }

    /// The kernel has taken everything that was written.
    package func drained(_ connection: Connection, at time: Moment) {
        self.time = time
        connection.finishIfSent()
        handleWaiting(of: connection)
        mark(connection)
    }

    /// The client has ended its direction, or the connection was lost.
    package func ended(_ connection: Connection, reason: String, at time: Moment) {
        self.time = time
        note(.disconnected(connection, reason: reason))
        drop(connection)
    }

    /// Forgets a connection and all that depends on it.
    func drop(_ connection: Connection) {
        connection.close()
        guard connections.remove(connection) else { return }
        leave(connection)
        for list in connection.cursors.lists { unsubscribe(connection, from: list) }
        closeAccount(of: connection)
        if let key = connection.client.map(StoreHint.Key.init), clients[key] === connection { clients[key] = nil }
    }

    // MARK: Turns

    /// Schedules a connection's output to be sent at the end of this turn.
    func mark(_ connection: Connection) {
        guard !connection.outbox.isMarked, !connection.isClosed else { return }
        connection.outbox.isMarked = true
        marked.append(connection)
    }

    /// Schedules a list's commits to be sent to its subscribers at the end of this turn.
    func publish(_ hosted: ListMachine) {
        guard !hosted.hasNews else { return }
        hosted.hasNews = true
        news.append(hosted)
    }

    /// Call this when all events of a turn have been reported. Returns whether another turn must follow at once, even
    /// without events.
    package func endTurn(at time: Moment) -> Bool {
        if stage == .ended { return false }
        self.time = time
        beginTurn()
        writeBatch()
        while let hosted = news.popLast() { deliver(hosted) }
        if !marked.isEmpty {
            swap(&marked, &flushing)
            for connection in flushing { send(to: connection) }
            flushing.clear()
        }
        if !receiving.isEmpty { sendChunks() }
        // Frees the output now, instead of holding it until something else is sent.
        if !output.runs.isEmpty { output.removeAll() }
        serveRevisions()
        return sayGoodbye() || !marked.isEmpty || !receiving.isEmpty || !paused.isEmpty
    }

    /// Sends a list's newest commits to its subscribers. Nearly all subscribers get the same bytes, and nothing else.
    private func deliver(_ hosted: ListMachine) {
        hosted.hasNews = false
        let latest = hosted.authority.latest
        if let latest { latestRun.append(latest.run) }
        var sent = 0
        for connection in hosted.subscribers where !connection.outbox.isMarked {
            if let latest, connection.awaitsOnly(commitsAfter: latest.base) {
                connection.write(latestRun, upTo: hosted.authority.revision)
                sent += 1
            } else {
                send(to: connection)
            }
        }
        latestRun.clear()
        guard let latest, sent > 0 else { return }
        figures.bytesSent += sent * latest.run.range.count
        figures.deliveries += sent * (hosted.authority.revision - latest.base)
    }

    private func send(to connection: Connection) {
        if connection.isGettingLists, !connection.isSlowed {
            connection.outbox.isMarked = true
            receiving.append(connection)
        } else {
            flush(connection)
        }
    }

    /// Sends lists. Each chunk is made for one connection. Only a few chunks are sent per turn, so that commits need
    /// not wait for many chunks.
    private func sendChunks() {
        var (served, made) = (0, 0)
        while served < receiving.count, made < limits.chunkBytes {
            flush(receiving[served])
            made += output.ownBytes
            served += 1
        }
        receiving.removeFirst(served)
    }

    /// Sends a connection its waiting output. Afterwards `output` tells what was sent.
    private func flush(_ connection: Connection) {
        connection.outbox.isMarked = false
        connection.flush(&output, chunkBytes: limits.chunkBytes)
        if let list = output.behind { read(for: connection, list: list) }
        figures.bytesSent += output.bytes
        figures.deliveries += output.commits
        if output.ownBytes > 0 { charge(connection, work: Price.chunk(bytes: output.ownBytes)) }
        if output.hasMore { mark(connection) }
        if output.hadAnswers { handleWaiting(of: connection) }
        if connection.isClosed { drop(connection) }
    }
}
