import ArgumentParser
import EventLoop
import HandServer
import HandSimulation
import HandWire
import Logging

struct AwkwardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "awkward", abstract: "Run a server that often does what the protocol allows but is rare.",
        discussion: """
            The server has tiny limits, a store that fails now and then, guests who edit in between, and connections that break in \
            bad moments. Nothing is stored. The same seed makes the same choices. Sources/Lab/README.md lists what a client meets here.
            """)

    @Argument(help: "Determines all choices.") var seed: UInt64
    @Option(help: "The port on this machine; 0 for any that is free.") var port: UInt16 = 7777

    func run() throws {
        let loop = try Loop()
        let here = try SocketAddress(ip: "127.0.0.1", port: 0)
        let configuration = ServerConfiguration(
            endpoints: [.tcp(here)], limits: Awkwardness.limits(Limits()), program: "hand-lab",
            retention: Awkwardness.retention, seed: seed)
        // The server logs nothing: connections that end are its purpose.
        let logger = Logger(label: "hand-lab") { _ in SwiftLogNoOpLogHandler() }
        let server = Server(configuration, store: FailingStore(seed: seed), loop: loop, logger: logger)
        guard case .tcp(let behind)? = try server.start().first else { return }
        let awkward = AwkwardListener(Awkwardness(seed: seed), to: behind, loop)
        let address = try awkward.listen(at: SocketAddress(ip: "127.0.0.1", port: port))
        tell("a server that is awkward on purpose is at hand://\(address)\nCtrl-C stops the server.")
        loop.run()
    }
}

/// Puts an `AwkwardRelay` between a server and each of its clients, and connects the guests.
private final class AwkwardListener {
    private let awkwardness: Awkwardness
    private let server: SocketAddress
    private let loop: Loop
    private let guests: [GuestConnection]
    private let pulse: Timer
    private var listener: Listener?
    private var relays: [ObjectIdentifier: AwkwardRelay] = [:]

    init(_ awkwardness: Awkwardness, to server: SocketAddress, _ loop: Loop) {
        (self.awkwardness, self.server, self.loop) = (awkwardness, server, loop)
        guests = awkwardness.guests.map { GuestConnection($0, to: server, loop) }
        pulse = Timer(loop)
    }

    /// - Returns: the actual address.
    func listen(at address: SocketAddress) throws -> SocketAddress {
        let listener = try Listener.tcp(loop, address: address, onConnection: { [unowned self] in accept($0) })
        self.listener = listener
        // A relay makes the guests edit, but does not know the guests' connections, so a timer carries the edits out.
        pulse.start(after: 1, repeating: 1) { [unowned self] in for guest in guests { guest.work() } }
        return listener.localAddress ?? address
    }

    private func accept(_ client: TCP) {
        _ = TCP.connect(loop, to: server) { [unowned self] result in
            guard case .success(let stream) = result else { return client.close() }
            let relay = AwkwardRelay(client, stream, awkwardness) { [unowned self] in
                relays[ObjectIdentifier($0)] = nil
            }
            relays[ObjectIdentifier(relay)] = relay
        }
    }
}
