import EventLoop
import HandSync

/// Carries out the choices of an `AwkwardWire`, between a client's stream and the server.
final class AwkwardChannel: Channel {
    private let stream: any Channel
    private let timer: Timer
    private let awkwardness: Awkwardness
    private var wire: AwkwardWire
    private var receive: ((ChannelEvent) -> Void)?

    /// The input that the server has not got yet.
    private var received: [AwkwardWire.Received] = []
    private var ending: ChannelEnd?
    private var isStopped = false
    private var isPaused = false
    private var isShutDown = false
    /// Whether the connection has ended for the server; its last output may still be on the way.
    private var isOver = false
    private(set) var isClosed = false

    init(_ loop: Loop, _ stream: any Channel, _ awkwardness: Awkwardness) {
        self.stream = stream
        self.awkwardness = awkwardness
        wire = awkwardness.wire()
        timer = Timer(loop)
    }

    var peerDescription: String { stream.peerDescription }
    var isWriting: Bool { !wire.isEmpty || stream.isWriting }

    func open(_ receive: @escaping (ChannelEvent) -> Void) {
        self.receive = receive
        stream.open { [unowned self] in
            if !isOver { received += wire.received($0) }
        } onEnd: { [unowned self] end in
            if isOver { finish() } else { ending = end }
        }
    }

    // MARK: To the server

    /// Passes the input to the server, after others' edits. Returns whether there was anything to do.
    func advance() -> Bool {
        var hasWorked = false
        while !isStopped, !isOver, !isClosed, !received.isEmpty {
            hasWorked = true
            if let name = received[0].wanted { awkwardness.enter(name) }
            if received[0].rounds > 0 {
                received[0].rounds -= 1
                awkwardness.editFirst(received[0])
                break
            }
            let frame = received.removeFirst()
            frame.bytes.withUnsafeBytes { receive?(.bytes($0)) }
        }
        if received.isEmpty, let ending, !isClosed {
            self.ending = nil
            hasWorked = true
            receive?(.ended(ending))
        }
        return hasWorked
    }

    func stopReading() { isStopped = true }
    func resumeReading() { isStopped = false }

    // MARK: To the client

    func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
        guard !isOver, !isClosed, !isShutDown else { return .dropped }
        for buffer in buffers { wire.send(buffer.bytes) { awkwardness.mayReplace() } }
        pass()
        return .draining
    }

    /// Sends the next piece after a pause.
    private func pass(after pause: UInt64 = 0) {
        guard !isPaused, !isClosed else { return }
        isPaused = true
        timer.start(after: pause) { [unowned self] in
            isPaused = false
            step()
        }
    }

    private func step() {
        switch wire.next() {
        case .bytes(let bytes, let pause):
            stream.write([OutputBuffer(bytes)])
            pass(after: pause)
        case .end:
            stream.shutdown()
            leave("the server ended the connection on purpose")
        case .cut:
            leave("the server cut the connection on purpose")
            finish()
        case nil:
            if isShutDown { stream.shutdown() } else { receive?(.drained) }
        }
    }

    /// Ends the connection for the server. The client closes it after reading the reason, or a timer does.
    private func leave(_ reason: String) {
        isOver = true
        receive?(.ended(.broken(reason)))
        timer.start(after: 3_000) { [unowned self] in finish() }
    }

    func shutdown() {
        isShutDown = true
        if wire.isEmpty { stream.shutdown() }
    }

    func close() {
        if !isOver { finish() }
    }

    private func finish() {
        guard !isClosed else { return }
        isClosed = true
        receive = nil
        timer.close()
        stream.close()
    }
}
