import HandCore
import HandSync
import HandWire

/// A connection between a client and the server, and the faults that can hit it.
final class Link {
    let up: SimulatedChannel
    let down: SimulatedChannel
    /// The connection as the server sees it.
    let serverEnd: ServerEnd
    /// Called once on the client's side, when the client considers the connection closed.
    var onLoss: (String) -> Void = { _ in }
    /// Called once on the server's side.
    var onServerLoss: (String) -> Void = { _ in }

    init(up: SimulatedChannel, down: SimulatedChannel, name: String) {
        self.up = up
        self.down = down
        serverEnd = ServerEnd(up: up, down: down, name: name)
        down.onEnd = { [unowned self] in notifyClient("the server closed the connection") }
        up.onEnd = { [unowned self] in notifyServer("end of file") }
        serverEnd.onClose = { [unowned self] in closedByServer() }
    }

    private var clientKnows = false
    private var serverKnows = false

    private func notifyClient(_ reason: String) {
        guard !clientKnows else { return }
        clientKnows = true
        onLoss(reason)
    }

    private func notifyServer(_ reason: String) {
        guard !serverKnows else { return }
        serverKnows = true
        onServerLoss(reason)
    }

    /// The client considers the connection lost.
    func giveUp() { notifyClient("no answer") }

    /// The client closes its end. The bytes that it sent still arrive.
    func closeByClient() {
        clientKnows = true
        down.breakOff()
        up.isPaused = false
        up.end()
    }

    private func closedByServer() {
        serverKnows = true
        up.breakOff()
        down.end()
    }

    /// Resets the connection. Both ends notice at once; the bytes under way are lost, perhaps in the middle of a frame.
    func cut() {
        up.breakOff()
        down.breakOff()
        notifyClient("connection reset by peer")
        notifyServer("connection reset by peer")
    }

    /// Loses everything from now on. Neither end notices.
    func vanish() {
        up.isVanished = true
        down.isVanished = true
    }

    /// Ends the client's process. Its system resets the connection, or the connection just goes silent.
    func clientDied(silently: Bool) {
        clientKnows = true
        down.breakOff()
        if silently { up.breakOff() } else { cut() }
    }

    /// Ends the server's process.
    func serverDied() {
        serverKnows = true
        cut()
    }
}

final class ServerEnd: ByteStream {
    private let up: SimulatedChannel
    private let down: SimulatedChannel
    let peerDescription: String
    fileprivate var onClose: () -> Void = {}
    private var isClosed = false
    /// Receives every message that the server sends, if set.
    var tap: ((DownMessage) -> Void)?
    /// Whether to alter the next commit that is sent, as a broken server would.
    var garbles = false
    private(set) var hasGarbled = false

    init(up: SimulatedChannel, down: SimulatedChannel, name: String) {
        self.up = up
        self.down = down
        peerDescription = name
    }

    var isWriting: Bool { down.isFull }

    func write(_ runs: [FrameRun]) -> Bool {
        for run in runs {
            if let tap { Self.messages(in: run.bytes).forEach(tap) }
            if garbles, let altered = altered(run.bytes) {
                altered.withUnsafeBytes { down.write($0) }
            } else {
                down.write(run.bytes)
            }
        }
        return !isWriting
    }

    private static func messages(in bytes: UnsafeRawBufferPointer) -> [DownMessage] {
        var reader = FrameReader(limit: bytes.count)
        return reader.messages(in: bytes)
    }

    /// Returns the frames with one delta replaced, or nil if the frames contain no commit to alter.
    private func altered(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var messages = Self.messages(in: bytes)
        for (index, message) in messages.enumerated() {
            guard case .commit(let list, var commit) = message, !commit.delta.isIdentity else { continue }
            commit.delta = .identity
            messages[index] = .commit(list: list, commit)
            (garbles, hasGarbled) = (false, true)
            return messages.flatMap(\.frame)
        }
        return nil
    }

    func stopReading() { up.isPaused = true }
    func resumeReading() { up.isPaused = false }
    func shutdown(because code: ErrorCode) { down.end() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        onClose()
    }
}
