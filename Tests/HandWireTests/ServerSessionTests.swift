import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The server side of a connection: it answers any input as in `Protocol.md`, and closes with exactly one error.
@Suite struct ServerSessionTests {
    /// A session with its output, driven as a server does.
    private struct Driven {
        var session = ServerSession(.init(limits: Limits(), program: "test"), now: 0)
        var effects: [ServerSession.Effect] = []
        var sent: [DownMessage] = []
        var closed: [ErrorCode] = []
        var handled: [UpMessage] = []

        mutating func receive(_ bytes: [UInt8], now: UInt64 = 1) {
            take(session.effects(of: bytes, now: now), now: now)
        }

        mutating func timeout(now: UInt64) {
            if let effect = session.timeout(now: now) { take([effect], now: now) }
        }

        private mutating func take(_ new: [ServerSession.Effect], now: UInt64) {
            for effect in new {
                effects.append(effect)
                switch effect {
                case .identify: take(session.welcome(author: 7, now: now), now: now)
                case .send(let frame): take(frame)
                case .handle(let message): handled.append(message)
                case .read(let body):
                    let message = body.withUnsafeBytes { bytes in
                        Result { () throws(WireError) in try UpMessage(bytes) }
                    }
                    if let effect = session.read(message) { take([effect], now: now) }
                case .close(let code, let frame):
                    take(frame)
                    closed.append(code)
                }
            }
        }

        private mutating func take(_ frame: [UInt8]) {
            guard let message = try? DownMessage(body(of: frame)) else { preconditionFailure("\(frame)") }
            sent.append(message)
        }

        /// The codes of the error frames that were sent.
        var errors: [ErrorCode] {
            sent.compactMap { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
        }

        /// Whether there is exactly one error frame, right before the closing, with the same code.
        var hasClosed: ErrorCode? {
            guard closed.count == 1, errors == closed, session.isClosed, case .error = sent.last,
                case .close = effects.last, session.deadline == nil
            else { return nil }
            return closed[0]
        }
    }

    private let hello = UpMessage.hello(
        UpMessage.Hello(client: ClientID(high: 1, low: 2), person: "Ada", program: "t"))

    private func ready() -> Driven {
        var driven = Driven()
        driven.receive(hello.frame)
        return driven
    }

    @Test func aHelloIsWelcomed() {
        let driven = ready()
        #expect(
            driven.sent == [
                .welcome(
                    .init(
                        version: ProtocolVersion.highest, author: 7, idleDeadline: 45_000,
                        frameBytes: 8 << 20,
                        program: "test"))
            ])
        #expect(driven.session.deadline == 45_001)
    }

    @Test func unknownCapabilitiesAreIgnored() {
        var driven = Driven()
        driven.receive(
            UpMessage.hello(
                .init(
                    capabilities: Capabilities(rawValue: 0xFF00), client: ClientID(high: 0, low: 0), person: "",
                    program: "")
            ).frame)
        guard case .welcome(let welcome) = driven.sent.first else { preconditionFailure("no welcome") }
        #expect(welcome.capabilities == [])
    }

    /// A client says how long it may be silent. It gets at least what others get, and at most what the server allows.
    @Test(arguments: [
        (0, 45_000), (1, 45_000), (45_001, 45_001), (180_000, 180_000), (300_001, 300_000), (1 << 53 - 1, 300_000),
    ])
    func theIdleDeadlineIsNegotiated(asked: UInt64, expected: UInt64) {
        var driven = Driven()
        driven.receive(
            UpMessage.hello(.init(client: ClientID(high: 1, low: 2), person: "", program: "", idle: asked)).frame)
        guard case .welcome(let welcome) = driven.sent.first else { preconditionFailure("no welcome") }
        #expect(welcome.idleDeadline == expected && driven.session.deadline == 1 + expected)
    }

    /// A server whose usual deadline is longer than the longest keeps to its own.
    @Test func theLongestDeadlineIsNoShorterThanTheUsualOne() {
        var limits = Limits()
        limits.idleDeadline = 600_000
        var session = ServerSession(.init(limits: limits, program: "test"), now: 0)
        let hello = UpMessage.Hello(client: ClientID(high: 1, low: 2), person: "", program: "", idle: 400_000)
        _ = session.effects(of: UpMessage.hello(hello).frame, now: 0)
        _ = session.identified(author: 1, now: 0)
        #expect(session.deadline == 600_000)
        guard case .close(.idleTimeout, _)? = session.timeout(now: 600_000) else {
            return #expect(Bool(false), "it is not closed")
        }
    }

    /// Bytes behind the hello are read after it, even a frame larger than a hello may be.
    @Test func theRestIsReadOnceTheClientIsKnown() {
        let many = Array(repeating: Excerpt.Selection.positions(start: 0, count: 1), count: 1_000)
        let rest = [UpMessage.excerpt(.init(request: 1, name: "x", many)), .ping(5), .delete(request: 2, name: "x")]
        var whole = Driven()
        whole.receive(hello.frame + rest.flatMap(\.frame))
        #expect(whole.handled == [rest[0], rest[2]])
        #expect(whole.sent.last == .pong(5))
        var bytes = Driven()
        for byte in hello.frame + rest.flatMap(\.frame) { bytes.receive([byte]) }
        #expect(bytes.handled == whole.handled)
        #expect(bytes.sent == whole.sent)
    }

    // MARK: Closing

    @Test func anotherMessageFirst() {
        var random = RandomMessages(seed: testSeed(81))
        for message in random.up().dropFirst() where message.frame.count < 1024 {
            var driven = Driven()
            driven.receive(message.frame)
            #expect(driven.hasClosed == .outOfOrder, "\(message)")
        }
    }

    @Test func aSecondHello() {
        var driven = ready()
        driven.receive(UpMessage.ping(1).frame + hello.frame + UpMessage.ping(2).frame)
        #expect(driven.hasClosed == .outOfOrder)
        #expect(driven.sent.filter { $0 == .pong(1) }.count == 1)
        #expect(!driven.sent.contains(.pong(2)))
    }

    @Test(arguments: [(6, 9), (6, 6), (1, 1), (1, 4), (0, 0), (5, 4), (Int(Int32.max), Int(Int32.max))])
    func versionsThatAreNotSpoken(lowest: Int, highest: Int) {
        var driven = Driven()
        driven.receive(
            UpMessage.hello(
                .init(
                    lowestVersion: lowest, highestVersion: highest, client: ClientID(high: 1, low: 1),
                    person: "", program: "")
            ).frame)
        #expect(driven.hasClosed == .versionNotSupported)
        #expect(!driven.effects.contains { if case .identify = $0 { true } else { false } })
    }

    /// A client with unsupported versions, too old or too new, gets the supported versions and advice.
    @Test(arguments: [
        (1, 1, "found version 1. Update the client"), (1, 4, "found versions 1 to 4. Update the client"),
        (6, 9, "found versions 6 to 9. Update the server"),
    ])
    func anotherVersionIsToldWhatToDo(lowest: Int, highest: Int, end: String) {
        var driven = Driven()
        driven.receive(
            UpMessage.hello(
                .init(
                    lowestVersion: lowest, highestVersion: highest, client: ClientID(high: 1, low: 1), person: "ada",
                    program: "old")
            ).frame)
        guard case .error(_, _, _, _, let text) = driven.sent.last else { preconditionFailure("no error") }
        #expect(text == "expected a client that speaks version 5 of the protocol, " + end)
    }

    /// Fields behind the versions are ignored if there is no version in common.
    @Test func aHelloOfALaterVersionOnly() {
        var driven = Driven()
        driven.receive(Frame.around([1] + Array("HAND".utf8) + [98, 99, 0xFF, 0xFF]))
        #expect(driven.hasClosed == .versionNotSupported)
    }

    @Test func whatALaterVersionAddsToItsHelloIsIgnored() {
        func body(_ highest: Int) -> [UInt8] {
            let hello = UpMessage.hello(
                .init(
                    highestVersion: highest, client: ClientID(high: 1, low: 1), person: "ada",
                    program: ""))
            return Array(hello.frame.dropFirst()) + [1, 2, 3]
        }
        var later = Driven()
        later.receive(Frame.around(body(ProtocolVersion.highest + 1)) + UpMessage.ping(7).frame)
        #expect(later.hasClosed == nil)
        #expect(later.sent.last == .pong(7))
        var present = Driven()
        present.receive(Frame.around(body(ProtocolVersion.highest)))
        #expect(present.hasClosed == .malformedMessage)
    }

    @Test func aNewerClientIsSpokenToInThisVersion() {
        var driven = Driven()
        driven.receive(
            UpMessage.hello(
                .init(highestVersion: 99, client: ClientID(high: 1, low: 1), person: "", program: "")
            ).frame)
        guard case .welcome(let welcome) = driven.sent.first else { preconditionFailure("no welcome") }
        #expect(welcome.version == ProtocolVersion.highest)
    }

    @Test func aFrameThatIsTooLongClosesTheSession() {
        var first = Driven()
        first.receive([0x81, 0x08])
        #expect(first.hasClosed == .frameTooLarge)
        var later = ready()
        later.receive([0x81, 0x80, 0x80, 0x04])
        #expect(later.hasClosed == .frameTooLarge)
    }

    @Test func malformedFramesCloseTheSession() {
        let samples: [([UInt8], ErrorCode)] = [
            (Frame.around([1] + Array("GET /".utf8)), .notHand), ([0], .malformedMessage),
            ([0x80, 0x00], .malformedMessage), ([1, 99], .notHand), ([3, 6, 5, 0], .malformedMessage),
        ]
        for (bytes, code) in samples {
            var driven = Driven()
            driven.receive(bytes)
            #expect(driven.hasClosed == code, "\(bytes)")
        }
    }

    @Test func namesThatAreTooLong() {
        var driven = Driven()
        driven.receive(
            UpMessage.hello(
                .init(
                    client: ClientID(high: 1, low: 1), person: String(repeating: "é", count: 33),
                    program: "")
            ).frame)
        #expect(driven.hasClosed == .malformedMessage)
    }

    @Test func sessionsCloseAtTheirDeadlines() {
        var silent = Driven()
        #expect(silent.session.deadline == 10_000)
        silent.timeout(now: 9_999)
        #expect(silent.effects.isEmpty)
        // Bytes of an incomplete hello do not extend the deadline.
        silent.receive(Array(hello.frame.prefix(5)), now: 9_999)
        silent.timeout(now: 10_000)
        #expect(silent.hasClosed == .handshakeTimeout)

        var idle = ready()
        idle.receive(UpMessage.ping(1).frame, now: 20_000)
        idle.timeout(now: 45_001)
        #expect(idle.closed.isEmpty)
        idle.timeout(now: 65_000)
        #expect(idle.hasClosed == .idleTimeout)
    }

    /// A closed session ignores all input and sends nothing more.
    @Test func afterTheEnd() {
        var driven = ready()
        driven.receive([0])
        let effects = driven.effects
        driven.receive(hello.frame + UpMessage.ping(1).frame)
        driven.timeout(now: .max)
        #expect(driven.session.welcome(author: 1, now: 2).isEmpty)
        #expect(driven.session.fail(.shuttingDown, "") == nil)
        #expect(driven.effects == effects)
        #expect(driven.hasClosed == .malformedMessage)
    }
}
