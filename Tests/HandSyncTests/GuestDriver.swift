import HandSimulation
import HandSync

/// Connects a guest of an awkward server to a server in virtual time.
final class GuestDriver {
    private let guest: AwkwardGuest
    private var stream = GuestStream()
    private var connection: Connection?
    /// The messages that are waiting to be sent, in order.
    private var outgoing: [[UInt8]] = []

    init(_ guest: AwkwardGuest) { self.guest = guest }

    /// Carries out what is due, and handles what has arrived. Returns whether there was anything.
    func pump(_ server: ServerMachine, now: UInt64) -> Bool {
        if server.stage == .stopping { return leave(server) }
        if let deadline = guest.machine.deadline, now >= deadline { guest.machine.timer(now: now) }
        if stream.isOver, leave(server) { guest.machine.disconnected(reason: "closed", now: now) }
        let bytes = stream.take()
        bytes.withUnsafeBytes { if !$0.isEmpty { guest.machine.received($0, now: now) } }
        while let effect = guest.machine.nextEffect() { carryOut(effect, server, now) }
        return send(server) || !bytes.isEmpty
    }

    /// Leaves for good: a guest that reconnects would keep the server from stopping.
    private func leave(_ server: ServerMachine) -> Bool {
        outgoing = []
        guard let connection else { return false }
        self.connection = nil
        server.ended(connection, reason: "a guest leaves")
        return true
    }

    private func carryOut(_ effect: ClientMachine.Effect, _ server: ServerMachine, _ now: UInt64) {
        switch effect {
        case .connect:
            stream = GuestStream()
            connection = server.accepted(stream)
            guest.machine.connected(now: now)
        case .send(let bytes): outgoing.append(bytes)
        case .disconnect: _ = leave(server)
        default: break
        }
    }

    /// Sends messages, but not while the server does not read.
    private func send(_ server: ServerMachine) -> Bool {
        var hasSent = false
        while let connection, !stream.isStopped, !stream.isOver, !outgoing.isEmpty {
            outgoing.removeFirst().withUnsafeBytes { server.received($0, from: connection) }
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
    func shutdown() { isOver = true }
    func close() { isOver = true }
}
