import ArgumentParser
import EventLoop
import Glibc
import HandCore
import HandServer
import HandSimulation
import HandStore
import HandSync
import HandWire
import Logging

struct AwkwardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "awkward", abstract: "Run a server that often does what is rare, and judge its clients.",
        discussion: """
            The server has one list with tight rules, tiny limits, a store that fails now and then, guests who edit in between, and \
            connections that break in bad moments. Nothing is stored. The same seed makes the same choices. Sources/Lab/README.md \
            lists what a client meets here.

            The server ends when clients have edited and have all left for 5 s (15 s after a refused connection), unless --stay \
            is given, or with Ctrl-C. Then it prints which requirements of Protocol.md the clients broke, with the last frames before, which ones they had no \
            occasion to break, and which ones frames cannot show. The exit code is 0 if no requirement was broken, and 1 otherwise \
            or if no client has edited.

            A client stops after some of what a server can do. So that is done only with --provoke, once an edit was decided.
            """)

    @Argument(help: "Determines all choices.") var seed: UInt64
    @Option(help: "The port on this machine; 0 for any that is free.") var port: UInt16 = 7777
    @Option(help: "The name of the list that the server makes.") var list = "list"
    @Option(
        help: """
            What each connection gets once an edit was decided: bytes that nobody understands (unknown), a version that was not \
            offered (version), or 'replaced', when no edit is pending (replaced).
            """) var provoke: Provocation?

    @Flag(help: "Go on when all clients have left, until Ctrl-C.") var stay = false

    func validate() throws {
        if let problem = ListName.problem(with: list) { throw ValidationError("--list: \(problem)") }
    }

    func run() throws {
        let loop = try Loop()
        let here = try SocketAddress(ip: "127.0.0.1", port: 0)
        let configuration = ServerConfiguration(
            endpoints: [.tcp(here)], limits: Awkwardness.limits(Limits()), program: "hand-lab",
            retention: Awkwardness.retention, seed: seed)
        let store = FailingStore(seed: seed)
        var random = SplitMix64(seed: seed)
        let name = ListName.composed(list)
        _ = try store.create(
            name, rules: Awkwardness.rules, logID: LogID.new(using: &random), deckSeed: nil, owner: nil)
        // The server logs nothing: connections that end are its purpose.
        let logger = Logger(label: "hand-lab") { _ in SwiftLogNoOpLogHandler() }
        let server = Server(configuration, store: store, loop: loop, logger: logger)
        guard case .tcp(let behind)? = try server.start().first else { return }
        let awkwardness = Awkwardness(seed: seed, provoking: provoke)
        let awkward = AwkwardListener(awkwardness, to: behind, loop, stays: stay)
        let address = try awkward.listen(at: SocketAddress(ip: "127.0.0.1", port: port))
        for number in [SIGINT, SIGTERM] { _ = try Signal(loop, number) { loop.stop() } }
        tell(
            """
            a server that is awkward on purpose is at hand://\(address), with the list '\(name)'
            \(stay ? "" : "It ends, and judges its clients, when they have edited and have all left.\n")\
            Ctrl-C stops the server.
            """)
        loop.run()
        awkward.stop()
        let verdict = awkwardness.judge.verdict
        for line in verdict.lines { tell(line) }
        if !verdict.isGood { throw ExitCode.failure }
    }
}

/// Puts an `AwkwardRelay` between a server and each of its clients, and connects the guests.
private final class AwkwardListener {
    private let awkwardness: Awkwardness
    private let server: SocketAddress
    private let loop: Loop
    private let guests: [GuestConnection]
    private let pulse: Timer
    private var lastPulse: UInt64 = 0
    /// Whether the server goes on when all clients have left.
    private let stays: Bool
    private let end: Timer
    private var listener: Listener?
    private var relays: [ObjectIdentifier: AwkwardRelay] = [:]

    init(_ awkwardness: Awkwardness, to server: SocketAddress, _ loop: Loop, stays: Bool) {
        (self.awkwardness, self.server, self.loop, self.stays) = (awkwardness, server, loop, stays)
        guests = awkwardness.guests.map { GuestConnection($0, to: server, loop) }
        pulse = Timer(loop)
        end = Timer(loop)
    }

    /// - Returns: the actual address.
    func listen(at address: SocketAddress) throws -> SocketAddress {
        let listener = try Listener.tcp(loop, address: address, onConnection: { [unowned self] in accept($0) })
        self.listener = listener
        // A relay makes the guests edit, but does not know the guests' connections, so a timer carries the edits out.
        lastPulse = loop.now
        pulse.start(after: 1, repeating: 1) { [unowned self] in
            if loop.now > lastPulse + 20 { awkwardness.judge.stood(for: loop.now - lastPulse, now: loop.now) }
            lastPulse = loop.now
            for guest in guests { guest.work() }
        }
        return listener.localAddress ?? address
    }

    /// Closes all connections, so that their last frames are judged.
    func stop() {
        for relay in Array(relays.values) { relay.close() }
    }

    private func accept(_ client: TCP) {
        end.stop()
        _ = TCP.connect(loop, to: server) { [unowned self] result in
            guard case .success(let stream) = result else { return client.close() }
            let relay = AwkwardRelay(client, stream, awkwardness) { [unowned self] in
                relays[ObjectIdentifier($0)] = nil
                guard !stays, relays.isEmpty, awkwardness.judge.verdict.hasEdits else { return }
                end.start(after: awkwardness.judge.maxAbsence) { [unowned self] in loop.stop() }
            }
            relays[ObjectIdentifier(relay)] = relay
        }
    }
}

extension Provocation: ExpressibleByArgument {}
