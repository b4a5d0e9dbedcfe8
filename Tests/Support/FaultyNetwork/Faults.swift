/// What a network does to the connections that lead through it. Nothing at first.
package struct Faults: Sendable, Equatable {
    /// What happens to the bytes of one direction.
    package struct Direction: Sendable, Equatable {
        /// What arrives before anything that is sent.
        package var greeting: [UInt8] = []
        /// Milliseconds that every byte is on its way.
        package var latency: UInt64 = 0
        /// Up to so many milliseconds more, chosen for each piece. Bytes stay in order, as they do in TCP.
        package var jitter: UInt64 = 0
        /// Sizes of the pieces in which bytes arrive; nil for as they were sent.
        package var pieceBytes: ClosedRange<Int>?
        package var bytesPerSecond: Int?
        /// Nothing arrives, and nobody is told. What was sent waits, and arrives when this ends.
        package var isSilent = false
        /// Nothing is taken from the sender, who finds that there is no room any more.
        package var takesNothing = false
        /// What happens to a connection when so many of its bytes have arrived.
        package var strike: Strike?
        /// The probability that a piece ends its connection instead of arriving.
        package var resetsPerPiece = 0.0

        package init() {}
    }

    /// Where a connection is struck, to the byte.
    package enum Strike: Sendable, Equatable {
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
    package var up = Direction()
    package var down = Direction()
    /// Whether only the first connection that comes so far is struck.
    package var strikesOnce = false
    /// The probability that a connection is reset within a second.
    package var resetsPerSecond = 0.0
    /// The share of resets of which only one end hears. The other believes in its connection until it gives up by itself.
    package var halfOpenShare = 0.0

    package init() {}

    /// Changes both directions alike.
    package mutating func bothWays(_ change: (inout Direction) -> Void) {
        change(&up)
        change(&down)
    }

    /// Nothing passes, in either direction, and nobody is told.
    package var isPartitioned: Bool {
        get { up.isSilent && down.isSilent }
        set { bothWays { $0.isSilent = newValue } }
    }
}
