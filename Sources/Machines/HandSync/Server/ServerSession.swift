import HandCore
import HandWire

/// The server's side of one connection: who it is, which version it speaks, whether it is still there.
///
/// Bytes and times go in, effects come out. What is asked of lists is handed on; lists are not its business.
public struct ServerSession: Sendable {
    private enum State: Sendable {
        /// Nothing but a hello is taken. → `greeting`, `closed`
        case awaitingHello(until: UInt64)
        /// The hello was handed on; nothing is read until `identified`. → `ready`, `closed`
        case greeting(version: Int, Capabilities)
        /// Everything that the version has is taken. → `closed`
        case ready(version: Int, lastHeard: UInt64)
        /// Nothing is taken any more.
        case closed
    }

    public enum Effect: Equatable, Sendable {
        /// Find out this client's author number, close its old connection, then call `identified`. Read nothing before.
        case identify(UpMessage.Hello)
        /// A message for the lists.
        case handle(UpMessage)
        /// The body of a message that takes long to read: read it where nobody waits for that, then call `read`.
        case read([UInt8])
        /// Bytes for the client.
        case send([UInt8])
        /// Close the connection once everything has been sent.
        case close(ErrorCode)
    }

    private var state: State
    private var reader: FrameReader
    private let terms: Terms

    /// What a server says to all its clients. One object for many connections, of which each idle one should take little.
    public final class Terms: Sendable {
        public let limits: Limits
        public let program: String

        public init(limits: Limits, program: String) {
            self.limits = limits
            self.program = program
        }
    }

    public init(_ terms: Terms, now: UInt64) {
        self.terms = terms
        state = .awaitingHello(until: now + terms.limits.handshakeDeadline)
        reader = FrameReader(limit: terms.limits.helloBytes)
    }

    var limits: Limits { terms.limits }

    /// When `timeout(now:)` is to be called at the latest, in milliseconds.
    public var deadline: UInt64? {
        switch state {
        case .awaitingHello(let until): until
        case .ready(_, let lastHeard): lastHeard + limits.idleDeadline
        case .greeting, .closed: nil
        }
    }

    /// Bytes of a message that has begun to come.
    var unfinishedBytes: Int { reader.unfinishedCount }

    /// Milliseconds since something came from the client; nil before the hello was accepted.
    func silence(now: UInt64) -> UInt64? {
        if case .ready(_, let lastHeard) = state { now - lastHeard } else { nil }
    }

    /// The version that both sides speak; nil before the hello was accepted.
    var version: Int? {
        if case .ready(let version, _) = state { version } else { nil }
    }

    public var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Takes bytes from the socket; effects come in order, as the frames do. Not to be called between `identify` and
    /// `identified`.
    public mutating func received(_ bytes: UnsafeRawBufferPointer, now: UInt64, _ effect: (Effect) -> Void) {
        if case .closed = state { return }
        excuse(now: now)
        var reader = reader
        do {
            try reader.read(bytes) { (body) throws(WireError) -> Bool in
                if isReady, body.count > limits.inlineWork {
                    effect(.read(Array(body)))
                } else {
                    try handle(UpMessage(body), effect)
                }
                if case .ready = state { return true }
                return false
            }
        } catch {
            fail(code(for: error), "\(error)", effect)
        }
        self.reader.replace(by: reader, limit: isReady ? limits.frameBytes : limits.helloBytes)
    }

    /// What the body of a message is, that was not read when it came.
    public mutating func read(_ message: Result<UpMessage, WireError>, _ effect: (Effect) -> Void) {
        switch message {
        case .success(let message): handle(message, effect)
        case .failure(let error): fail(code(for: error), "\(error)", effect)
        }
    }

    /// The hello was accepted; what came behind it is read now.
    public mutating func identified(author: UInt64, now: UInt64, _ effect: (Effect) -> Void) {
        guard case .greeting(let version, let capabilities) = state else { return }
        state = .ready(version: version, lastHeard: now)
        let welcome = DownMessage.welcome(
            DownMessage.Welcome(
                version: version, capabilities: capabilities, author: author, idleDeadline: limits.idleDeadline,
                frameBytes: limits.frameBytes, program: terms.program))
        effect(.send(welcome.frame))
        reader.limit = limits.frameBytes
        received(UnsafeRawBufferPointer(start: nil, count: 0), now: now, effect)
    }

    /// The client is not silent: something came, or it is the server that does not read.
    mutating func excuse(now: UInt64) {
        if case .ready(let version, _) = state { state = .ready(version: version, lastHeard: now) }
    }

    /// To be called when the deadline has passed; does nothing if it has moved meanwhile.
    public mutating func timeout(now: UInt64, _ effect: (Effect) -> Void) {
        guard let deadline, now >= deadline else { return }
        if case .awaitingHello = state {
            fail(.handshakeTimeout, "expected a hello within \(limits.handshakeDeadline) ms of connecting", effect)
        } else {
            fail(.idleTimeout, "nothing was heard from this client for \(limits.idleDeadline) ms", effect)
        }
    }

    /// Tells the client why, and closes.
    public mutating func fail(
        _ code: ErrorCode, _ message: String, retryAfter: UInt64 = 0, _ effect: (Effect) -> Void
    ) {
        if case .closed = state { return }
        state = .closed
        effect(.send(DownMessage.error(code: code, request: 0, retryAfter: retryAfter, message: message).frame))
        effect(.close(code))
    }

    private var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    private mutating func handle(_ message: UpMessage, _ effect: (Effect) -> Void) {
        switch (state, message) {
        case (.awaitingHello, .hello(let hello)): greet(hello, effect)
        case (.awaitingHello, _): fail(.outOfOrder, "expected a hello first", effect)
        case (.ready, .hello): fail(.outOfOrder, "a second hello came on one connection", effect)
        case (.ready, .ping(let nonce)): effect(.send(DownMessage.pong(nonce).frame))
        case (.ready(let version, _), _) where message.leastVersion > version:
            let text = "\(message.name): expected a message of version \(version), found one of \(message.leastVersion)"
            fail(.malformedMessage, text, effect)
        case (.ready, _): effect(.handle(message))
        case (.greeting, _), (.closed, _): break
        }
    }

    private mutating func greet(_ hello: UpMessage.Hello, _ effect: (Effect) -> Void) {
        guard let version = ProtocolVersion.common(hello.lowestVersion, hello.highestVersion) else {
            let error = WireError.noCommonVersion(lowest: hello.lowestVersion, highest: hello.highestVersion)
            return fail(.versionNotSupported, "\(error)", effect)
        }
        state = .greeting(version: version, hello.capabilities.intersection(.presence))
        effect(.identify(hello))
    }

    private func code(for error: WireError) -> ErrorCode {
        switch error {
        case .notHand: .notHand
        case .noCommonVersion: .versionNotSupported
        case .tooLarge(field: "length of a frame", _, _): .frameTooLarge
        // What does not even look like a message before the hello is a client of something else.
        case .unknownValue(field: "message type", _) where !isReady: .notHand
        default: .malformedMessage
        }
    }
}

extension FrameReader {
    fileprivate mutating func replace(by other: FrameReader, limit: Int) {
        self = other
        self.limit = limit
    }
}
