import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The server side of a connection that receives garbage: no crash, at most one error, and nothing after it.
@Suite struct ServerSessionNoiseTests {
    /// Passes these pieces to a session, then silence; returns why it closed.
    private func drive(_ pieces: [[UInt8]]) -> ErrorCode? {
        var session = ServerSession(.init(limits: Limits(), program: "test"), now: 0)
        var effects: [ServerSession.Effect] = []
        for piece in pieces {
            effects += session.effects(of: piece, now: 1)
            if case .identify = effects.last { effects += session.welcome(author: 7, now: 1) }
        }
        if let effect = session.timeout(now: 1_000_000) { effects.append(effect) }
        var reason: ErrorCode?
        for effect in effects {
            #expect(reason == nil, "nothing follows the closing")
            switch effect {
            case .close(let code, let frame):
                guard case .error(code, let request, _, _, let message) = try? DownMessage(body(of: frame)) else {
                    Issue.record("the last frame tells no error, or not that it is closed for")
                    continue
                }
                #expect(request == 0 && !message.isEmpty)
                reason = code
            case .send(let frame):
                if case .error = try? DownMessage(body(of: frame)) { Issue.record("an error that does not close") }
            case .identify, .handle, .read: break
            }
        }
        #expect(session.isClosed)
        return reason
    }

    private let hello = UpMessage.hello(
        UpMessage.Hello(client: ClientID(high: 1, low: 2), person: "", program: "")
    ).frame

    @Test func garbageInsteadOfAHello() {
        var random = SplitMix64(seed: testSeed(82))
        for _ in 0..<5_000 {
            let bytes = (0..<random.next(below: 60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = drive([bytes])
            _ = drive(bytes.map { [$0] })
        }
    }

    @Test func garbageBehindAHello() {
        var random = SplitMix64(seed: testSeed(83))
        for _ in 0..<3_000 {
            let bytes = (0..<random.next(below: 60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = drive([hello, bytes])
            _ = drive([hello + bytes])
        }
    }

    @Test func truncatedAtEachByte() {
        for count in hello.indices { #expect(drive([Array(hello.prefix(count))]) == .handshakeTimeout) }
        var random = RandomMessages(seed: testSeed(84))
        for message in random.up().dropFirst() {
            for count in message.frame.indices {
                #expect(drive([hello, Array(message.frame.prefix(count))]) == .idleTimeout, "\(message)")
            }
        }
    }

    @Test func aHelloWithEachBitFlipped() {
        for bit in 0..<hello.count * 8 {
            var damaged = hello
            damaged[bit / 8] ^= 1 << (bit % 8)
            _ = drive([damaged, UpMessage.ping(1).frame])
        }
    }

    @Test func otherProtocolsAreRefused() {
        let samples = [
            Array("GET / HTTP/1.1\r\nHost: example.org\r\nUser-Agent: something rather long, as they are\r\n\r\n".utf8),
            Array("SSH-2.0-OpenSSH_9.2p1 and some more so that the frame that its first byte promises is here".utf8),
            [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03] + Array(repeating: 0x5A, count: 60),
        ]
        for bytes in samples { #expect([.notHand, .malformedMessage].contains(drive([bytes]) ?? .replaced)) }
    }
}
