import HandSimulation
import HandSync
import HandWire

/// Connects a guest of an awkward server to a server in virtual time.
final class GuestDriver {
    private let guest: AwkwardGuest
    private var stream = GuestStream()
    private var connection: Connection?
    /// The messages that are waiting to be sent, in order.
    private var outgoing: [[UInt8]] = []

    init(_ guest: AwkwardGuest) { self.guest = guest }

    /// Carries out what is due, and handles what has arrived. Returns whether there was anything.
    func pump(_ world: TestWorld) -> Bool {
        let now = world.now
        if world.machine.stage == .stopping { return leave(world) }
        if let deadline = guest.machine.deadline, now >= deadline { guest.machine.timer(now: now) }
        if stream.isOver, leave(world) { guest.machine.disconnected(reason: "closed", now: now) }
        let bytes = stream.take()
        bytes.withUnsafeBytes { if !$0.isEmpty { guest.machine.received($0, now: now) } }
        while let effect = guest.machine.nextEffect() { carryOut(effect, world) }
        return send(world) || !bytes.isEmpty
    }

    /// Leaves for good: a guest that reconnects would keep the server from stopping.
    private func leave(_ world: TestWorld) -> Bool {
        outgoing = []
        guard let connection else { return false }
        self.connection = nil
        world.machine.ended(connection, reason: "a guest leaves", at: world.time)
        return true
    }

    private func carryOut(_ effect: ClientMachine.Effect, _ world: TestWorld) {
        switch effect {
        case .connect:
            stream = GuestStream()
            connection = world.machine.accepted(stream, at: world.time)
            guest.machine.connected(now: world.now)
        case .send(let bytes): outgoing.append(bytes)
        case .disconnect: _ = leave(world)
        default: break
        }
    }

    /// Sends messages, but not while the server does not read.
    private func send(_ world: TestWorld) -> Bool {
        var hasSent = false
        while let connection, !stream.isStopped, !stream.isOver, !outgoing.isEmpty {
            outgoing.removeFirst().withUnsafeBytes { world.machine.received($0, from: connection, at: world.time) }
            hasSent = true
        }
        return hasSent
    }
}

/// The server's end of a guest's connection.
private final class GuestStream: ByteStream {
    private var bytes: [UInt8] = []
    private(set) var isOver = false
    private(set) var isStopped = false

    let peerDescription = "a guest of an awkward server"
    var isWriting: Bool { false }

    func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    func write(_ runs: [FrameRun]) -> Bool {
        for run in runs { bytes += run.bytes }
        return true
    }

    func stopReading() { isStopped = true }
    func resumeReading() { isStopped = false }
    func shutdown(because code: ErrorCode) { isOver = true }
    func close() { isOver = true }
}
