/// What a network does to the connections that lead through it. Nothing at first.
public struct Faults: Sendable, Equatable {
    /// What happens to the bytes of one direction.
    public struct Direction: Sendable, Equatable {
        /// What arrives before anything that is sent.
        public var greeting: [UInt8] = []
        /// Milliseconds that every byte is on its way.
        public var latency: UInt64 = 0
        /// Up to so many milliseconds more, chosen for each piece. Bytes stay in order, as they do in TCP.
        public var jitter: UInt64 = 0
        /// Sizes of the pieces in which bytes arrive; nil for as they were sent.
        public var pieceBytes: ClosedRange<Int>?
        public var bytesPerSecond: Int?
        /// Nothing arrives, and nobody is told. What was sent waits, and arrives when this ends.
        public var isSilent = false
        /// Nothing is taken from the sender, who finds that there is no room any more.
        public var takesNothing = false
        /// What happens to a connection when so many of its bytes have arrived.
        public var strike: Strike?
        /// The probability that a piece ends its connection instead of arriving.
        public var resetsPerPiece = 0.0

        public init() {}
    }

    /// Where a connection is struck, to the byte.
    public enum Strike: Sendable, Equatable {
        /// Nothing arrives any more, and nobody is told.
        case silence(after: Int)
        /// The connection is reset.
        case reset(after: Int)
        /// Nothing arrives until the faults change. What was sent waits.
        case hold(after: Int)

        var bytes: Int {
            switch self {
            case .silence(let bytes), .reset(let bytes), .hold(let bytes): bytes
            }
        }
    }

    /// From those who connect to the server.
    public var up = Direction()
    public var down = Direction()
    /// Whether only the first connection that comes so far is struck.
    public var strikesOnce = false
    /// The probability that a connection is reset within a second.
    public var resetsPerSecond = 0.0
    /// The share of resets of which only one end hears. The other believes in its connection until it gives up by itself.
    public var halfOpenShare = 0.0

    public init() {}

    /// Changes both directions alike.
    public mutating func bothWays(_ change: (inout Direction) -> Void) {
        change(&up)
        change(&down)
    }

    /// Nothing passes, in either direction, and nobody is told.
    public var isPartitioned: Bool {
        get { up.isSilent && down.isSilent }
        set { bothWays { $0.isSilent = newValue } }
    }
}
