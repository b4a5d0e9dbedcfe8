import EventLoop
import HandCore
import HandStore
import HandSync
import HandWire
import Logging

/// Serves the lists of a store to everybody who connects.
///
/// One event-loop thread owns everything here; the store is asked on libuv's thread pool. In each turn of the loop input is
/// taken, then what was numbered goes to the store in one transaction, then each socket with something to send is written
/// to once.
public final class Server {
    let loop: Loop
    let store: any CommitStore
    let configuration: ServerConfiguration
    var logger: Logger
    var random: SplitMix64

    var listeners: [Listener] = []
    var connections: [ObjectIdentifier: Connection] = [:]
    var clients: [ClientID: Connection] = [:]
    var authors: [UInt64: Connection] = [:]
    var rooms: [UInt64: Room] = [:]
    var names: [String: UInt64] = [:]
    /// What waits for a list that is being loaded, by name.
    var loading: [String: [(Result<Room, StoreError>) -> Void]] = [:]
    var marked: [Connection] = []
    var writer = GroupCommit()
    var presenceRooms: Set<UInt64> = []
    let presenceTimer: Timer
    private let sweepTimer: Timer
    private let wakeTimer: Timer
    /// How many lists were deleted so far: a list that was being read meanwhile is read again.
    var deletions = 0
    var hook: TurnHook?
    var isStopping = false
    private var stopped: (() -> Void)?

    var limits: Limits { configuration.limits }

    public init(_ configuration: ServerConfiguration, store: any CommitStore, loop: Loop, logger: Logger) {
        self.configuration = configuration
        self.store = store
        self.loop = loop
        self.logger = logger
        random = SplitMix64(seed: configuration.seed)
        presenceTimer = Timer(loop)
        sweepTimer = Timer(loop)
        wakeTimer = Timer(loop)
    }

    /// Milliseconds since 1970, for stamping commits; the only clock of the server that people see.
    var wallClock: UInt64 { WallClock.milliseconds }

    // MARK: Listening

    /// Starts listening on every endpoint; returns where it really does (a port 0 becomes a number).
    ///
    /// - Throws: `UVError` if an address cannot be had.
    public func start() throws -> [ServerConfiguration.Endpoint] {
        var opened: [ServerConfiguration.Endpoint] = []
        for endpoint in configuration.endpoints {
            let listener = try listen(on: endpoint)
            listeners.append(listener)
            opened.append(listener.localAddress.map { .tcp($0) } ?? endpoint)
        }
        hook = loop.onTurnEnd { [unowned self] in endTurn() }
        sweepTimer.start(after: 1_000, repeating: 1_000) { [unowned self] in sweep() }
        logger.info("listening", metadata: ["endpoints": .array(opened.map { "\($0)" })])
        return opened
    }

    private func listen(on endpoint: ServerConfiguration.Endpoint) throws -> Listener {
        let failed: (UVError) -> Void = { [unowned self] error in
            logger.warning("cannot accept a connection", metadata: ["error": "\(error)"])
        }
        switch endpoint {
        case .tcp(let address):
            return try Listener.tcp(
                loop, address: address, onConnection: { [unowned self] in accept($0) }, onError: failed)
        case .unix(let path):
            try Listener.removeStaleSocket(path: path)
            return try Listener.pipe(
                loop, path: path, onConnection: { [unowned self] in accept($0) }, onError: failed)
        }
    }

    private func accept(_ stream: Stream) {
        let session = ServerSession(limits: limits, program: configuration.program, now: loop.now)
        let connection = Connection(stream: stream, session: session)
        connections[ObjectIdentifier(connection)] = connection
        logger.debug("connected", metadata: ["peer": "\(stream.peerDescription)"])
        stream.onDrain = { [unowned self, unowned connection] in
            connection.drained()
            connection.work { [unowned self] in handle($0, from: connection) }
            mark(connection)
        }
        stream.startReading { [unowned self, unowned connection] bytes in
            receive(bytes, from: connection)
        } onEnd: { [unowned self, unowned connection] error in
            lost(connection, error)
        }
        if connections.count > limits.connections {
            fail(
                connection, .tooManyConnections, "this server takes \(limits.connections) connections at a time",
                retryAfter: 5_000)
        }
    }

    private func lost(_ connection: Connection, _ error: UVError) {
        logger.debug(
            "disconnected", metadata: ["peer": "\(connection.stream.peerDescription)", "reason": "\(error)"])
        drop(connection)
    }

    /// Forgets a connection and all that stands on it.
    func drop(_ connection: Connection) {
        connection.close()
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        for list in Array(connection.cursors.keys) { unsubscribe(connection, from: list) }
        if let client = connection.client, clients[client] === connection { clients[client] = nil }
        if let author = connection.author, authors[author] === connection { authors[author] = nil }
    }

    // MARK: Turns

    /// Has the connection written to at the end of this turn.
    func mark(_ connection: Connection) {
        guard !connection.isMarked, !connection.isClosed else { return }
        connection.isMarked = true
        marked.append(connection)
    }

    private func endTurn() {
        writeBatch()
        var again: [Connection] = []
        let now = marked
        marked = []
        for connection in now {
            connection.isMarked = false
            let hasMore = connection.flush(chunkBytes: limits.chunkBytes) { [unowned self] in read(for: $0, list: $1) }
            if hasMore { again.append(connection) }
            connection.work { [unowned self] in handle($0, from: connection) }
            if connection.isClosed { drop(connection) }
        }
        for connection in again { mark(connection) }
        if !again.isEmpty { wake() }
        finishStopping()
    }

    /// Has another turn follow at once: nothing else may be due for a while.
    private func wake() {
        wakeTimer.start(after: 0) {}
    }

    private func sweep() {
        for connection in Array(connections.values) {
            drive(connection) { session, effect in session.timeout(now: loop.now, effect) }
            if let deadline = connection.closeDeadline, loop.now >= deadline { drop(connection) }
        }
        for (number, room) in rooms where room.isIdle(for: limits.unloadDelay, now: loop.now) {
            rooms[number] = nil
            names[room.list.name] = nil
            logger.debug("unloaded", metadata: ["list": "\(room.list.name)"])
        }
    }

    // MARK: Stopping

    /// Takes no more work, writes what was numbered, tells everybody and closes; then calls `done`.
    public func stop(_ done: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        stopped = done
        logger.info("stopping", metadata: ["connections": "\(connections.count)"])
        for listener in listeners { listener.close() }
        for connection in connections.values { connection.stream.stopReading() }
        wake()
    }

    /// Once everything is written, says goodbye; once everybody has gone or had time to go, ends.
    private func finishStopping() {
        guard isStopping, stopped != nil, writer.isIdle else { return }
        for connection in Array(connections.values) where !connection.session.isClosed {
            fail(connection, .shuttingDown, "the server is stopping", retryAfter: 1_000)
            wake()
        }
        guard connections.isEmpty else { return }
        let done = stopped
        stopped = nil
        hook?.cancel()
        for timer in [presenceTimer, sweepTimer, wakeTimer] { timer.close() }
        done?()
    }
}
