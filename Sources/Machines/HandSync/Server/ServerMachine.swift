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
/// that order. Bytes for a client are no effects: they go to the connection's stream by a direct call, because a
/// delivery of a commit costs about 300 instructions, and an effect would add about 100.
///
/// A machine is deterministic. All calls come on one thread, and none from within another. So accesses to a property
/// never overlap, and the runtime need not check for overlaps in the properties that each commit touches.
package final class ServerMachine {
    package let limits: Limits
    /// The time of the event that is being handled.
    @exclusivity(unchecked) var time: Moment { didSet { awaitsTurn = true } }
    /// Whether anything has happened since the last turn, or is left to do.
    @exclusivity(unchecked) var awaitsTurn = true
    @exclusivity(unchecked) private var effects = Queue<Effect>()
    let terms: ServerSession.Terms
    var random: SplitMix64

    @exclusivity(unchecked) var connections = ConnectionSet()
    @exclusivity(unchecked) var admission: Admission
    @exclusivity(unchecked) var budgets: Budgets
    @exclusivity(unchecked) var upkeep: Upkeep
    @exclusivity(unchecked) var lists = ListDirectory()
    @exclusivity(unchecked) var delivery: Delivery
    @exclusivity(unchecked) var writer = WriteQueue()
    /// Nil if no other servers write to the store.
    @exclusivity(unchecked) var peers: Peers?
    @exclusivity(unchecked) var nextSweep: UInt64
    @exclusivity(unchecked) var past: PastReader
    @exclusivity(unchecked) package internal(set) var stage = Stage.serving
    /// Whether the store cannot be reached. New clients are sent away, because another server may reach it.
    package internal(set) var isCutOff = false
    @exclusivity(unchecked) package internal(set) var figures = ServerFigures()
    /// The number of commits that were numbered since `takeNumbered` was called.
    @exclusivity(unchecked) var numbered = 0

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
        peers = serverID.map { Peers(server: $0, limits) }
        self.time = time
        admission = Admission(limits)
        budgets = Budgets(limits)
        delivery = Delivery(limits)
        past = PastReader(limits)
        terms = ServerSession.Terms(limits: limits, program: program)
        random = SplitMix64(seed: seed)
        nextSweep = time.now + Self.sweepInterval
        upkeep = Upkeep(retention, limits, at: time)
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
    var isShared: Bool { peers != nil }

    func emit(_ effect: Effect) { effects.append(effect) }

    /// Returns the next effect to carry out; nil if there is none.
    package func nextEffect() -> Effect? { effects.isEmpty ? nil : effects.next() }

    /// Returns the number of commits that were numbered since the last call.
    package func takeNumbered() -> Int { exchange(&numbered, with: 0) }

    // MARK: Connections

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
        for list in connection.cursors.lists { unsubscribe(connection, from: list) }
        budgets.close(connection, now: now)
        admission.drop(connection)
    }

    // MARK: Turns

    /// Schedules a connection's output to be sent at the end of this turn.
    func mark(_ connection: Connection) { delivery.mark(connection) }

    /// Whether `endTurn` would do anything.
    package var isTurnDue: Bool { awaitsTurn }

    /// Call this when all events of a turn have been reported. Returns whether another turn must follow at once, even
    /// without events.
    package func endTurn(at time: Moment) -> Bool {
        self.time = time
        awaitsTurn = false
        if stage == .ended { return false }
        budgets.beginTurn()
        if budgets.hasPaused { for connection in budgets.takePaused() { handleWaiting(of: connection) } }
        write()
        if !delivery.isIdle { deliver() }
        if !past.isIdle { servePast() }
        let hasSaidGoodbye = stage == .stopping && sayGoodbye()
        awaitsTurn = hasSaidGoodbye || delivery.hasMore || budgets.hasPaused
        return awaitsTurn
    }

    /// Sends what is to be sent in this turn.
    private func deliver() {
        let sent = delivery.deliver()
        figures.bytesSent += sent.bytes
        figures.deliveries += sent.commits
        for connection in delivery.takeMarked() where !delivery.waitsForChunks(connection) { flush(connection) }
        var made = 0
        while let connection = delivery.nextReceiver(after: made) {
            flush(connection)
            made += delivery.output.ownBytes
        }
        delivery.endTurn()
    }

    /// Sends a connection its waiting output, and does what follows from that.
    private func flush(_ connection: Connection) {
        delivery.flush(connection)
        let (made, hadAnswers) = (delivery.output.ownBytes, delivery.output.hadAnswers)
        figures.bytesSent += delivery.output.bytes
        figures.deliveries += delivery.output.commits
        if let list = delivery.output.behind { read(for: connection, list: list) }
        if made > 0 { charge(connection, work: Price.chunk(bytes: made)) }
        if hadAnswers { handleWaiting(of: connection) }
        if connection.isClosed { drop(connection) }
    }
}
