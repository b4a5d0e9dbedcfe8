import HandCore
import HandWire

/// The server's side of one connection: who the client is, which version it speaks, whether it is still there.
///
/// Bytes and times go in, effects come out, one at a time, as the session's driver asks for them:
///
///     var frames = session.received(bytes, now: now)
///     while let effect = session.next(of: &frames) { … }
///     session.keep(frames)
///
/// Messages about lists are handed on: a session knows nothing about lists.
public struct ServerSession: Sendable {
    private enum State: Sendable {
        /// Nothing but a hello is taken. → `greeting`, `closed`
        case awaitingHello(until: UInt64)
        /// The hello was handed on; nothing is read until `identified`. → `ready`, `closed`
        case greeting(version: UInt8)
        /// Every message of the version is accepted. → `closed`
        case ready(lastHeard: UInt64)
        /// Nothing is taken any more.
        case closed
    }

    public enum Effect: Equatable, Sendable {
        /// Find out this client's author number, close its old connection, then call `identified`. Nothing is read
        /// before.
        case identify(UpMessage.Hello)
        case handle(UpMessage)
        /// The body of a message that takes long to read: read it where nobody waits for that, then call `read`.
        case read([UInt8])
        case send([UInt8])
        /// The last bytes for the client. Close the connection once everything has been sent.
        case close(ErrorCode, [UInt8])
    }

    private let terms: Terms
    private var reader: FrameReader
    private var state: State
    /// Milliseconds after which a silent client is considered gone.
    private var idleDeadline: UInt32 = 0

    /// What a server says to all its clients. Many connections share one object, because each idle connection should
    /// take little memory.
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

    /// The latest time to call `timeout(now:)`, in milliseconds.
    public var deadline: UInt64? {
        switch state {
        case .awaitingHello(let until): until
        case .ready(let lastHeard): lastHeard + UInt64(idleDeadline)
        case .greeting, .closed: nil
        }
    }

    /// The memory of messages that have begun to come, or were not read yet.
    var unfinishedBytes: Int { reader.memory }
    /// Whether bytes have come that were not read.
    var hasUnread: Bool { reader.unfinishedCount > 0 }

    /// Milliseconds since something came from the client; nil before the hello was accepted.
    func silence(now: UInt64) -> UInt64? {
        if case .ready(let lastHeard) = state { now - lastHeard } else { nil }
    }

    public var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Takes bytes from the socket. Call `next(of:)` to get the effects of their messages, then pass what is left to
    /// `keep`.
    public mutating func received(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Frames {
        excuse(now: now)
        return reader.frames(of: bytes)
    }

    /// What the next message asks for; nil if there is no message, or no message is read now.
    public mutating func next(of frames: inout Frames) -> Effect? {
        do {
            while mayRead, let body = try frames.next(limit: reader.limit) {
                if let effect = try read(body) { return effect }
            }
            return nil
        } catch {
            return fail(code(for: error), "\(error)")
        }
    }

    /// Keeps what is left of `received`: the beginning of a message, or all that came behind a hello.
    public mutating func keep(_ rest: Frames) {
        if !isClosed { reader.keep(rest) }
    }

    private var mayRead: Bool {
        switch state {
        case .awaitingHello, .ready: true
        case .greeting, .closed: false
        }
    }

    private mutating func read(_ body: UnsafeRawBufferPointer) throws(WireError) -> Effect? {
        if isReady, body.count > limits.inlineWork { return .read(Array(body)) }
        return take(try UpMessage(body))
    }

    /// Handles a message whose body was not read when it came.
    public mutating func read(_ message: Result<UpMessage, WireError>) -> Effect? {
        switch message {
        case .success(let message): take(message)
        case .failure(let error): fail(code(for: error), "\(error)")
        }
    }

    /// The hello was accepted; messages that came behind it are read from now on.
    public mutating func identified(author: AuthorID, now: UInt64) -> Effect? {
        guard case .greeting(let version) = state else { return nil }
        state = .ready(lastHeard: now)
        reader.limit = limits.frameBytes
        let welcome = DownMessage.welcome(
            DownMessage.Welcome(
                version: Int(version), author: author, idleDeadline: UInt64(idleDeadline),
                frameBytes: limits.frameBytes, program: terms.program))
        return .send(welcome.frame)
    }

    /// Notes that the client is not silent: something came, or the server itself does not read.
    mutating func excuse(now: UInt64) {
        if isReady { state = .ready(lastHeard: now) }
    }

    /// Call this when the deadline has passed; it does nothing if the deadline has moved since.
    public mutating func timeout(now: UInt64) -> Effect? {
        guard let deadline, now >= deadline else { return nil }
        if case .awaitingHello = state {
            return fail(.handshakeTimeout, "expected a hello within \(limits.handshakeDeadline) ms of connecting")
        }
        return fail(.idleTimeout, "nothing was heard from this client for \(idleDeadline) ms")
    }

    /// Tells the client why the connection ends, and closes it; returns nil if the session is closed already.
    public mutating func fail(_ code: ErrorCode, _ message: String, retryAfter: UInt64 = 0) -> Effect? {
        if case .closed = state { return nil }
        state = .closed
        return .close(code, DownMessage.error(code: code, request: 0, retryAfter: retryAfter, message: message).frame)
    }

    private var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    private mutating func take(_ message: UpMessage) -> Effect? {
        switch (state, message) {
        case (.awaitingHello, .hello(let hello)): return greet(hello)
        case (.awaitingHello, _): return fail(.outOfOrder, "expected a hello first")
        case (.ready, .hello): return fail(.outOfOrder, "a second hello came on one connection")
        case (.ready, .ping(let nonce)): return .send(DownMessage.pong(nonce).frame)
        case (.ready, _): return .handle(message)
        case (.greeting, _), (.closed, _): return nil
        }
    }

    private mutating func greet(_ hello: UpMessage.Hello) -> Effect? {
        guard let version = ProtocolVersion.common(hello.lowestVersion, hello.highestVersion) else {
            let error = WireError.noCommonVersion(lowest: hello.lowestVersion, highest: hello.highestVersion)
            return fail(.versionNotSupported, "\(error)")
        }
        let longest = max(limits.idleDeadline, limits.longestIdleDeadline)
        idleDeadline = UInt32(clamping: min(max(limits.idleDeadline, hello.idle), longest))
        state = .greeting(version: UInt8(version))
        return .identify(hello)
    }

    private func code(for error: WireError) -> ErrorCode {
        switch error {
        case .notHand: .notHand
        case .noCommonVersion: .versionNotSupported
        case .tooLarge(field: "length of a frame", _, _): .frameTooLarge
        // A client that sends something other than a message before its hello speaks another protocol.
        case .unknownValue(field: "message type", _) where !isReady: .notHand
        default: .malformedMessage
        }
    }
}
