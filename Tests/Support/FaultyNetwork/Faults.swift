/// The faults of a network. Initially there are none.
package struct Faults: Sendable, Equatable {
    /// The faults of one direction.
    package struct Direction: Sendable, Equatable {
        /// Bytes that arrive before everything that is sent.
        package var greeting: [UInt8] = []
        /// Bytes that arrive instead of others, which are as many.
        package var replaced: [[UInt8]: [UInt8]] = [:]
        /// The minimum time under way in milliseconds.
        package var latency: UInt64 = 0
        /// The maximum additional time in milliseconds, drawn for each piece. Bytes stay in order, as in TCP.
        package var jitter: UInt64 = 0
        /// The sizes of the pieces in which bytes arrive, or nil for the sizes in which they were sent.
        package var pieceBytes: ClosedRange<Int>?
        package var bytesPerSecond: Int?
        /// Whether nothing arrives and nobody is notified. Bytes that were sent wait, and arrive when this ends.
        package var isSilent = false
        /// Whether nothing is read from the sender, so that the sender's buffer fills up.
        package var takesNothing = false
        /// What happens to a connection when a number of its bytes have arrived.
        package var strike: Strike?
        /// The probability that a piece resets its connection instead of arriving.
        package var resetsPerPiece = 0.0

        package init() {}
    }

    /// A fault at an exact byte of a connection.
    package enum Strike: Sendable, Equatable {
        /// Nothing more arrives, and nobody is notified.
        case silence(after: Int)
        /// The connection is reset.
        case reset(after: Int)
        /// Nothing arrives until the faults change. Bytes that were sent wait.
        case hold(after: Int)

        var bytes: Int {
            switch self {
            case .silence(let bytes), .reset(let bytes), .hold(let bytes): bytes
            }
        }
    }

    /// The direction from the clients to the server.
    package var up = Direction()
    package var down = Direction()
    /// Whether only the first connection that gets that far is struck.
    package var strikesOnce = false
    /// The probability that a connection is reset within a second.
    package var resetsPerSecond = 0.0
    /// The share of resets that only one end notices. The other end keeps its connection until it gives up by itself.
    package var halfOpenShare = 0.0

    package init() {}

    /// Changes both directions in the same way.
    package mutating func bothWays(_ change: (inout Direction) -> Void) {
        change(&up)
        change(&down)
    }

    /// Whether nothing passes in either direction and nobody is notified.
    package var isPartitioned: Bool {
        get { up.isSilent && down.isSilent }
        set { bothWays { $0.isSilent = newValue } }
    }
}
