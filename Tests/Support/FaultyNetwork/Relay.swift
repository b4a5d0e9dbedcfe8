import EventLoop
import Synchronization

/// What a proxy has done so far.
package struct Traffic: Sendable, Equatable {
    package var connections = 0
    /// The number of connections that failed because the server was not there.
    package var refused = 0
    package var resets = 0
    /// The number of connections that the faults have struck.
    package var strikes = 0
    /// The number of bytes that have arrived.
    package var bytes = 0
    /// How often something arrived at a client after something had arrived at its server.
    package var roundTrips = 0
}

/// The part of a proxy that lives on its loop: it listens, and has a ``ProxiedConnection`` for each connection.
final class Relay {
    /// Milliseconds between two draws for a reset.
    private static let interval: UInt64 = 100

    let seed: UInt64
    var target: SocketAddress
    private(set) var faults: Faults
    private let traffic: TrafficCount
    /// Called when the faults strike a connection.
    private let onStrike: () -> Void
    private let ticker: Timer
    private var listener: Listener?
    private var connections: [UInt64: ProxiedConnection] = [:]
    private var nextNumber: UInt64 = 0

    init(
        to target: SocketAddress, seed: UInt64, _ faults: Faults, _ loop: Loop, _ traffic: TrafficCount,
        onStrike: @escaping () -> Void
    ) throws {
        self.target = target
        self.seed = seed
        self.faults = faults
        self.traffic = traffic
        self.onStrike = onStrike
        ticker = Timer(loop)
        listener = try Listener.tcp(
            loop, address: try SocketAddress(ip: "127.0.0.1", port: 0),
            onConnection: { [unowned self] in accept($0) })
        ticker.start(after: Self.interval, repeating: Self.interval) { [unowned self] in
            for connection in inOrder { connection.tick(seconds: Double(Self.interval) / 1000) }
        }
    }

    var address: SocketAddress? { listener?.localAddress }
    var heldBytes: [Int] { inOrder.map(\.heldBytes) }

    func adopt(_ faults: Faults) {
        self.faults = faults
        for connection in inOrder { connection.adopt(faults) }
    }

    func struck() {
        if faults.strikesOnce {
            var faults = faults
            faults.bothWays { $0.strike = nil }
            self.faults = faults
        }
        count { $0.strikes += 1 }
        onStrike()
    }

    func resetAll() {
        for connection in inOrder { connection.reset() }
    }

    /// Ends the loop, and with it everything that is open on it.
    func stop() {
        ticker.loop.stop()
    }

    func remove(_ connection: ProxiedConnection) {
        connections[connection.number] = nil
    }

    func count(_ change: (inout Traffic) -> Void) {
        traffic.value.withLock { change(&$0) }
    }

    /// The oldest first: the outcome must not depend on the order of a dictionary.
    private var inOrder: [ProxiedConnection] { connections.values.sorted { $0.number < $1.number } }

    private func accept(_ client: TCP) {
        count { $0.connections += 1 }
        nextNumber += 1
        connections[nextNumber] = ProxiedConnection(nextNumber, client, self)
    }
}

/// Written on the loop's thread, read on others.
final class TrafficCount: Sendable {
    let value = Mutex(Traffic())
}
