/// When each edit of one client is due, so that all clients together make so many a second. A value without a clock.
package struct Pace: Equatable, Sendable {
    /// When its first edit is due, in nanoseconds.
    private var first: UInt64
    /// Nanoseconds from one edit to the next.
    private let interval: Double

    /// - Parameters:
    ///   - start: when the client begins, in nanoseconds; the clients' edits are spread evenly from there.
    ///   - rate: edits a second of all clients.
    package init(start: UInt64, rate: Double, client: Int, of clients: Int) {
        interval = Double(clients) / rate * 1e9
        first = start + UInt64(interval * Double(client) / Double(clients))
    }

    /// What is to be done about an edit.
    package enum Turn: Equatable, Sendable {
        /// Make it; its latency counts from this time, which is never later than the present.
        case now(since: UInt64)
        /// Look again after so many milliseconds.
        case later(milliseconds: Int)
    }

    /// When an edit is due, the first being number 0.
    package func due(_ edit: Int) -> UInt64 { first + UInt64(interval * Double(edit)) }

    /// Whether an edit's turn has come. It is made up to a millisecond early, as clocks of loops tell no less, and counts from
    /// when it is made; whoever is late counts from when it was due (coordinated omission).
    package func turn(of edit: Int, at now: UInt64) -> Turn {
        let due = due(edit)
        guard due > now, due - now >= 1_000_000 else { return .now(since: min(due, now)) }
        return .later(milliseconds: Int((due - now) / 1_000_000))
    }

    /// The client itself is away for so long, as its script wants it: all that is not made yet is due later.
    package mutating func delay(by milliseconds: Int) { first += UInt64(milliseconds) * 1_000_000 }
}
