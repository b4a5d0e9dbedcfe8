import Disk
import EventLoop
import Glibc
import HTTP
import HandSync
import Logging

/// Serves the lists of a store: gives a `ServerMachine` sockets and timers.
///
/// One event-loop thread owns everything here. In each turn, the loop reads input, writes all numbered commits to the
/// store in one transaction, and then writes once to each socket with output.
package final class Server {
    let loop: Loop
    let configuration: ServerConfiguration
    let logger: Logger
    let driver: ServerDriver
    let machine: ServerMachine
    private var listeners: [Listener] = []
    private var status: HTTPEndpoint?
    private var metrics: PacedPage?
    private var admin: HTTPEndpoint?
    private let drainTimer: Timer
    /// Called when a draining server has lost its last connection, or its time is up.
    package var onDrained: (() -> Void)?
    /// The access rules; nil if everybody may do everything.
    private(set) var access: (any AccessKeeper)?
    /// The users of this machine that have connected.
    private var callers: [UInt32: Caller] = [:]
    /// The TLS context of TCP connections; nil without encryption.
    private var tls: TLSContext?
    var isEncrypted: Bool { tls != nil }
    /// The number of proxied connections whose header has not arrived yet.
    var arriving = 0
    var webRequests = WebRequests()
    /// Made at the first request of a browser.
    lazy var webPages = WebPages(isKept: configuration.isPageKept)
    /// The address of the page, as far as the server knows it; nil if it serves no page.
    private(set) var pageAddress: String?
    /// The address at which others reach the server, as far as the server knows it.
    private(set) var sharedAddress: String?
    private let startedAt = WallClock.milliseconds
    private let timer: Timer
    private let wakeTimer: Timer
    private let memoryTimer: Timer
    private var memoryWatch = MemoryWatch()
    private(set) var storeWatch: StoreWatch?
    /// The hints from other servers that share the store.
    private var hints: Mailbox<StoreHint>?
    @exclusivity(unchecked) private var armed: UInt64?
    private var hook: TurnHook?
    @exclusivity(unchecked) private var stopped: (() -> Void)?

    /// - Parameter tls: the TLS context of TCP connections; nil for no encryption.
    package init(
        _ configuration: ServerConfiguration, store: any CommitStore, loop: Loop, tls: TLSContext? = nil, logger: Logger
    ) {
        self.tls = tls
        self.configuration = configuration
        self.loop = loop
        self.logger = logger
        driver = ServerDriver(configuration, store: store, loop: loop, logger: logger)
        machine = driver.machine
        timer = Timer(loop)
        wakeTimer = Timer(loop)
        drainTimer = Timer(loop)
        memoryTimer = Timer(loop)
    }

    // MARK: Listening

    /// Starts listening on every endpoint. Returns the actual endpoints, with real numbers for port 0.
    ///
    /// - Throws: `NotListening` for an address that cannot be used; `FileError` for access rules that cannot
    ///   be read.
    package func start() throws -> [ServerConfiguration.Endpoint] {
        var opened: [ServerConfiguration.Endpoint] = []
        for endpoint in configuration.endpoints {
            let listener = try NotListening.catching("\(endpoint)") { try listen(on: endpoint) }
            listeners.append(listener)
            opened.append(listener.localAddress.map { endpoint.at($0) } ?? endpoint)
            if endpoint.isWeb, pageAddress == nil { pageAddress = listener.localAddress.map(pageAddress(at:)) }
        }
        sharedAddress = opened.sharedAddress(tls)
        if let address = configuration.status {
            metrics = PacedPage(loop) { [unowned self] in metricsPage }
            status = try NotListening.catching("\(address)") {
                try HTTPEndpoint(loop, at: .tcp(address)) { [unowned self] in answer($0, $1) }
            }
            logger.info("serving status", metadata: ["endpoint": "\(statusAddress.map { "\($0)" } ?? "?")"])
        }
        if let path = configuration.admin {
            admin = try NotListening.catching(path) {
                try HTTPEndpoint(loop, at: .unix(path)) { [unowned self] in answerAdmin($0, $1) }
            }
        }
        if let store = driver.store as? any SharedSettings {
            access = try SharedAccessWatch(SharedAccess(store), loop, driver)
        } else if let file = configuration.access {
            access = try AccessWatch(file, loop, driver, logger)
        }
        driver.accessKeeper = access
        if let look = heartbeat(opened) ?? configuration.expectStore.map({ look in { look } }) {
            storeWatch = StoreWatch(loop, driver, logger, look: look)
        }
        if driver.store.isShared { try listenForHints() }
        hook = loop.onTurnEnd { [unowned self] in endTurn() }
        // A server without connections needs least: soon after its start, and after times with connections.
        memoryTimer.start(after: 1_000, repeating: 60_000) { [unowned self] in
            if machine.connectionCount == 0 { ProcessMemory.release() }
        }
        logger.info("listening", metadata: ["endpoints": .array(opened.map { "\($0)" })])
        return opened
    }

    private func pageAddress(at address: SocketAddress) -> String {
        let (scheme, usualPort): (String, UInt16) = isEncrypted ? ("https", 443) : ("http", 80)
        let isCovered = !address.isAny && (tls?.covers(ip: address.ip) ?? address.isLoopback)
        let name = configuration.webNames.first ?? (isCovered ? nil : tls?.hostName ?? Self.host)
        let place = name.map { "\($0):\(address.port)" } ?? "\(address)"
        return "\(scheme)://\(address.port == usualPort ? String(place.dropLast("\(address.port)".count + 1)) : place)"
    }

    /// The reason why the server cannot listen on an address.
    package struct NotListening: Error, CustomStringConvertible {
        package let description: String

        static func catching<Result>(_ place: String, _ body: () throws -> Result) throws -> Result {
            do { return try body() } catch let error as UVError {
                let description =
                    switch error {
                    case .permissionDenied where place.hasPrefix("/"):
                        FileError("listen on", place, code: EACCES).description
                    case .notASocket: "cannot listen on \(place): it exists and is not a socket. Move it away"
                    case .addressInUse where place.hasSuffix("/admin.sock"):
                        "cannot listen on \(place): another server does. Give this one a folder of its own: --data"
                    default: "cannot listen on \(place): \(error)"
                    }
                throw NotListening(description: description)
            }
        }
    }

    private func listen(on endpoint: ServerConfiguration.Endpoint) throws -> Listener {
        let failed: (UVError) -> Void = { [unowned self] error in
            logger.warning("cannot accept a connection", metadata: ["error": "\(error)"])
        }
        switch endpoint {
        case .tcp(let address), .web(let address):
            return try Listener.tcp(
                loop, address: address, onConnection: { [unowned self] in accept($0, at: endpoint) }, onError: failed)
        case .unix(let path):
            try Listener.removeStaleSocket(path: path)
            return try Listener.pipe(
                loop, path: path, permissions: configuration.socketPermissions,
                onConnection: { [unowned self] in accept($0, at: endpoint) }, onError: failed)
        case .inherited(let descriptor, _):
            return try Listener.inherited(
                loop, descriptor: descriptor, onTCP: { [unowned self] in accept($0, at: endpoint) },
                onPipe: { [unowned self] in accept($0, at: endpoint) }, onError: failed)
        }
    }

    private func accept(_ stream: Pipe, at endpoint: ServerConfiguration.Endpoint) {
        guard let user = stream.peerUser else { return stream.close() }
        // Looking up a user's name may be slow, so the result is cached.
        let caller = callers[user] ?? Caller(overSocketFrom: user)
        if callers.count < 10_000 { callers[user] = caller }
        begin(stream, from: caller, at: endpoint)
    }

    private func begin(_ channel: any Channel, from caller: Caller, at endpoint: ServerConfiguration.Endpoint) {
        if endpoint.isWeb { serveWeb(channel, from: caller) } else { serve(channel, from: caller) }
    }

    /// - Parameter start: when the client connected, on the loop's clock; nil for now.
    func serve(_ stream: any Channel, from caller: Caller, since start: UInt64? = nil) {
        Socket(stream, from: caller, driver).start(since: start)
    }

    private func accept(_ stream: TCP, at endpoint: ServerConfiguration.Endpoint) {
        let address = stream.peerAddress
        if configuration.proxies.contains(where: { $0.contains(address) }) {
            return acceptProxied(stream, at: endpoint)
        }
        accept(stream, from: address.isLoopback ? .thisMachine : .address(address.site), at: endpoint)
    }

    func accept(_ stream: any Channel, from caller: Caller, at endpoint: ServerConfiguration.Endpoint) {
        guard let tls else { return begin(stream, from: caller, at: endpoint) }
        guard machine.mayShakeHands(with: caller.address, at: driver.time) else { return stream.close() }
        do {
            begin(try TLSStream(loop, stream, tls, .server), from: caller, at: endpoint)
        } catch {
            logger.warning("cannot accept a connection", metadata: ["error": "\(error)"])
            stream.close()
        }
    }

    package func keep(_ audit: AuditLog) { driver.audit = audit }

    /// Uses another certificate for new connections.
    package func use(_ tls: TLSContext) { self.tls = tls }

    var report: ServerReport {
        ServerReport(
            version: configuration.program, time: WallClock.milliseconds, startedAt: startedAt,
            isDraining: machine.stage != .serving, processorSeconds: ProcessFacts.processorSeconds,
            residentBytes: ProcessFacts.residentBytes, figures: machine.figures, load: machine.load,
            commitTimes: driver.clock.commits.distribution)
    }

    /// The actual address of the status endpoint.
    package var statusAddress: SocketAddress? { status?.localAddress }

    private func answer(_ request: HTTPEndpoint.Request, _ page: @escaping (HTTPEndpoint.Page) -> Void) {
        guard request.method == "GET" else {
            return page(.init(status: "405 Method Not Allowed", body: "There is only GET.\n"))
        }
        switch request.path {
        case ["healthz"]: page(.init(body: "ok\n"))
        case ["readyz"]:
            let problem =
                machine.stage != .serving
                ? "stopping" : storeWatch?.isAway == true ? "the store cannot be reached" : nil
            page(
                .init(status: problem == nil ? "200 OK" : "503 Service Unavailable", body: (problem ?? "ready") + "\n"))
        case ["metrics"]:
            guard request.isFor(configuration.statusNames + [Self.host]) else {
                let text = "This server has another name. Ask for its address, or start it with --status-name NAME.\n"
                return page(.init(status: "421 Misdirected Request", body: text))
            }
            metrics?.answer(page)
        default: page(.init(status: "404 Not Found", body: "There are /metrics, /healthz and /readyz.\n"))
        }
    }

    private var metricsPage: HTTPEndpoint.Page {
        let metrics = ServerMetrics(
            figures: machine.figures, load: machine.load, clock: driver.clock, startedAt: startedAt,
            version: configuration.program, certificateEnd: tls?.certificateEnd)
        return .init(type: "text/plain; version=0.0.4; charset=utf-8", body: metrics.page)
    }

    // MARK: Turns

    private func endTurn() {
        // Called twice in each turn of the loop. The second time, nearly always nothing has happened since the first.
        guard machine.isTurnDue else { return }
        if driver.endTurn() { wake() }
        let deadline = machine.deadline
        if deadline != armed {
            armed = deadline
            timer.start(after: deadline > loop.now ? deadline - loop.now : 0) { [unowned self] in
                armed = nil
                machine.timeout(at: driver.time)
                if memoryWatch.isReleaseDue(connections: machine.connectionCount, removedItems: machine.removedItems) {
                    ProcessMemory.releaseHeap()
                }
            }
        }
        if machine.hasDrained { drained() }
        if machine.hasStopped { finish() }
    }

    /// Listens for other servers' hints, which arrive on a thread of the store.
    private func listenForHints() throws {
        let hints = try Mailbox<StoreHint>(loop, keepsLoopAlive: false) { [driver] hints in
            for hint in hints { driver.machine.heard(hint, at: driver.time) }
        }
        self.hints = hints
        driver.store.listen { hints.post($0) }
    }

    /// Makes another turn follow at once, even if nothing else is due.
    private func wake() {
        wakeTimer.start(after: 0) {}
    }

    // MARK: Stopping

    /// Accepts no more work, writes all numbered commits, notifies and closes all connections, then calls `done`.
    package func stop(_ done: @escaping () -> Void) {
        guard stopped == nil, machine.stage < .stopping else { return }
        stopped = done
        for listener in listeners { listener.close() }
        machine.stop(at: driver.time)
        wake()
    }

    /// Accepts no new connections, and gives the open connections some time.
    func drain(within seconds: Double) {
        logger.notice(
            "draining",
            metadata: [
                "connections": .stringConvertible(machine.connectionCount), "seconds": .stringConvertible(seconds),
            ])
        machine.drain()
        drainTimer.start(after: UInt64(seconds * 1_000)) { [unowned self] in drained() }
        wake()
    }

    private func drained() {
        drainTimer.stop()
        onDrained?()
        onDrained = nil
    }

    private func finish() {
        guard let done = stopped.take() else { return }
        hook?.cancel()
        status?.close()
        metrics?.close()
        admin?.close()
        for request in webRequests.all { request.close() }
        access?.close()
        leave()
        storeWatch?.close()
        hints?.close()
        for timer in [timer, wakeTimer, drainTimer, memoryTimer] { timer.close() }
        done()
    }
}
