/// The schedule of one client's edits, so that all clients together reach a rate. A value without a clock.
package struct Pace: Equatable, Sendable {
    /// When the first edit is due, in nanoseconds.
    private var first: UInt64
    /// Nanoseconds from one edit to the next.
    private let interval: Double

    /// - Parameters:
    ///   - start: when the client starts, in nanoseconds. From then on, the clients' edits are spread evenly.
    ///   - rate: edits per second of all clients together.
    package init(start: UInt64, rate: Double, client: Int, of clients: Int) {
        interval = Double(clients) / rate * 1e9
        first = start + UInt64(interval * Double(client) / Double(clients))
    }

    /// What to do about an edit.
    package enum Turn: Equatable, Sendable {
        /// Make it; its latency is measured from this time, which is never in the future.
        case now(since: UInt64)
        /// Ask again after this many milliseconds.
        case later(milliseconds: Int)
    }

    /// Returns when an edit is due, in nanoseconds; the first is number 0.
    package func due(_ edit: Int) -> UInt64 { first + UInt64(interval * Double(edit)) }

    /// Returns whether an edit is due. It may be made up to a millisecond early, the resolution of a loop's clock; its
    /// latency then counts from the time when it is made. For a late edit it counts from the time when it was due
    /// (coordinated omission).
    package func turn(of edit: Int, at now: UInt64) -> Turn {
        let due = due(edit)
        guard due > now, due - now >= 1_000_000 else { return .now(since: min(due, now)) }
        return .later(milliseconds: Int((due - now) / 1_000_000))
    }

    /// Delays all later edits, because the script pauses the client for a while.
    package mutating func delay(by milliseconds: Int) { first += UInt64(milliseconds) * 1_000_000 }
}
