import EventLoop
import HandSimulation
import HandWire

/// Carries out the choices of an `AwkwardWire` between one client and the server behind it.
final class AwkwardRelay {
    private let client: TCP
    private let server: TCP
    private let awkwardness: Awkwardness
    private var wire: AwkwardWire
    /// Waits for the guests' edits, on the way to the server.
    private let upTimer: Timer
    /// Pauses between pieces, on the way to the client.
    private let downTimer: Timer
    /// The client's input that the server has not got yet.
    private var received: [AwkwardWire.Received] = []
    /// Whether guests are editing before the client's next frame.
    private var isHeldUp = false
    /// The connection's number for the judge.
    private let id: Int
    /// Whether a submission has waited for pings.
    private var wasQuiet = false
    /// Cuts the server's bytes into frames.
    private var reader = FrameReader(limit: Int(Int32.max))
    private var isPausing = false
    private var serverHasEnded = false
    /// Whether the wire has ended the connection. The client may still read the reason.
    private var isOver = false
    private let onClose: (AwkwardRelay) -> Void

    init(_ client: TCP, _ server: TCP, _ awkwardness: Awkwardness, onClose: @escaping (AwkwardRelay) -> Void) {
        (self.client, self.server, self.awkwardness, self.onClose) = (client, server, awkwardness, onClose)
        wire = awkwardness.wire()
        id = awkwardness.judge.connected(now: client.loop.now)
        upTimer = Timer(client.loop)
        downTimer = Timer(client.loop)
        client.open { [unowned self] bytes in
            awkwardness.judge.received(bytes, on: id, now: client.loop.now)
            if !isOver { received += wire.received(bytes) }
            advance()
        } onEnd: { [unowned self] _ in
            close(isLeft: !isOver)
        }
        server.open { [unowned self] bytes in
            take(bytes)
        } onEnd: { [unowned self] _ in
            serverHasEnded = true
            pass()
        }
    }

    // MARK: To the server

    /// Passes the client's frames on, each after the guests' edits for which the frame waits.
    private func advance() {
        guard !isHeldUp else { return passPings() }
        while !isOver, let frame = received.first {
            if let name = frame.wanted { awkwardness.enter(name) }
            if frame.list != nil, !wasQuiet, let quiet = awkwardness.judge.quiet(on: id) {
                wasQuiet = true
                return wait(0, after: quiet)
            }
            if frame.rounds > 0 {
                received[0].rounds -= 1
                awkwardness.editFirst(frame)
                return wait(100)
            }
            server.write([OutputBuffer(received.removeFirst().bytes)])
        }
    }

    /// Pings overtake what is held up, as with a server that is slow to write.
    private func passPings() {
        for frame in received where frame.isPing { server.write([OutputBuffer(frame.bytes)]) }
        received.removeAll(where: \.isPing)
    }

    /// Continues when the server has answered the guests, or after some milliseconds.
    private func wait(_ milliseconds: Int, after first: UInt64 = 1) {
        isHeldUp = true
        upTimer.start(after: first) { [unowned self] in
            if milliseconds > 0, awkwardness.guests.contains(where: \.isBusy) { return wait(milliseconds - 1) }
            isHeldUp = false
            advance()
        }
    }

    // MARK: To the client

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        for body in reader.bodies(in: bytes) {
            Frame.around(body).withUnsafeBytes { wire.send($0, on: id, of: awkwardness) }
        }
        pass()
    }

    /// Sends the next piece after a pause.
    private func pass(after pause: UInt64 = 0) {
        guard !isPausing, !isOver else { return }
        isPausing = true
        downTimer.start(after: pause) { [unowned self] in
            isPausing = false
            step()
        }
    }

    private func step() {
        switch wire.next() {
        case .bytes(let bytes, let pause):
            guard !bytes.isEmpty else { return pass(after: pause) }
            bytes.withUnsafeBytes { awkwardness.judge.sent($0, on: id, now: client.loop.now) }
            client.write([OutputBuffer(bytes)])
            pass(after: pause)
        case .end: finish()
        case .cut: close()
        case .open: finish(tellsEnd: false)
        case nil: if serverHasEnded { finish() }
        }
    }

    /// Ends the connection to the server. The client closes its own connection after it has read the reason, or a timer
    /// closes it.
    private func finish(tellsEnd: Bool = true) {
        isOver = true
        server.close()
        if tellsEnd { client.shutdown() }
        downTimer.start(after: 10_000) { [unowned self] in close() }
    }

    /// - Parameter isLeft: whether the client closed the connection.
    func close(isLeft: Bool = false) {
        awkwardness.judge.ended(id, isLeft: isLeft, now: client.loop.now)
        for handle in [client, server] as [Stream] { handle.close() }
        upTimer.close()
        downTimer.close()
        onClose(self)
    }
}
