import HandCore
import HandSync
import HandWire

/// A connection between a client and the server, and what can befall it.
final class Link {
    let up: Channel
    let down: Channel
    /// What the server holds of it.
    let serverEnd: ServerEnd
    private(set) var isOver = false
    /// Told to the client once, when the connection is over for it.
    var onLoss: (String) -> Void = { _ in }
    /// Told to the server once.
    var onServerLoss: (String) -> Void = { _ in }

    init(up: Channel, down: Channel, name: String) {
        self.up = up
        self.down = down
        serverEnd = ServerEnd(up: up, down: down, name: name)
        down.onEnd = { [unowned self] in clientHears("the server closed the connection") }
        up.onEnd = { [unowned self] in serverHears("end of file") }
        serverEnd.onClose = { [unowned self] in closedByServer() }
    }

    private var clientKnows = false
    private var serverKnows = false

    private func clientHears(_ reason: String) {
        guard !clientKnows else { return }
        clientKnows = true
        onLoss(reason)
    }

    private func serverHears(_ reason: String) {
        guard !serverKnows else { return }
        serverKnows = true
        onServerLoss(reason)
    }

    /// The client takes it for lost.
    func giveUp() { clientHears("no answer") }

    /// The client has closed its end: what it sent still arrives.
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

    /// Both ends learn of it at once, and what was under way is lost, in the middle of a frame perhaps.
    func cut() {
        up.breakOff()
        down.breakOff()
        clientHears("connection reset by peer")
        serverHears("connection reset by peer")
    }

    /// Neither end learns of it.
    func vanish() {
        up.isVanished = true
        down.isVanished = true
    }

    /// The client's process is gone; its system resets the connection, or nobody does.
    func clientDied(silently: Bool) {
        clientKnows = true
        down.breakOff()
        if silently { up.breakOff() } else { cut() }
    }

    /// The server's process is gone.
    func serverDied() {
        serverKnows = true
        up.breakOff()
        down.breakOff()
        clientHears("connection reset by peer")
    }
}

/// The server's end of a connection.
final class ServerEnd: ByteStream {
    private let up: Channel
    private let down: Channel
    let peerDescription: String
    fileprivate var onClose: () -> Void = {}
    private var isClosed = false
    /// Hears of every message, if somebody wants to; commits apart, which everybody gets.
    var tap: ((DownMessage) -> Void)?
    /// The next commit that is sent is to be altered: what a broken server would do.
    var garbles = false
    private(set) var hasGarbled = false

    init(up: Channel, down: Channel, name: String) {
        self.up = up
        self.down = down
        peerDescription = name
    }

    var isWriting: Bool { down.isFull }

    func write(_ runs: [FrameRun]) -> Bool {
        for run in runs {
            if let tap { Self.messages(in: run.bytes, tap) }
            if garbles, let altered = altered(run.bytes) {
                altered.withUnsafeBytes { down.write($0) }
            } else {
                down.write(run.bytes)
            }
        }
        return !isWriting
    }

    private static func messages(in bytes: UnsafeRawBufferPointer, _ body: (DownMessage) -> Void) {
        var reader = FrameReader(limit: bytes.count)
        try? reader.read(bytes) { (frame) throws(WireError) -> Bool in
            body(try DownMessage(frame))
            return true
        }
    }

    /// The same frames, but one delta is another than was committed; nil if there is none among them.
    private func altered(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var reader = FrameReader(limit: bytes.count)
        var frames: [UInt8] = []
        var isDone = false
        try? reader.read(bytes) { (body) throws(WireError) -> Bool in
            var message = try DownMessage(body)
            if !isDone, case .commit(let list, var commit) = message, !commit.delta.isIdentity {
                commit.delta = .identity
                message = .commit(list: list, commit)
                isDone = true
            }
            frames += message.frame
            return true
        }
        guard isDone else { return nil }
        garbles = false
        hasGarbled = true
        return frames
    }

    func stopReading() { up.isPaused = true }
    func resumeReading() { up.isPaused = false }
    func shutdown() { down.end() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        onClose()
    }
}
