/// Limits how often one kind of warning is logged. An operation that fails once often fails again at once, and then
/// again. Warnings beyond the limit are counted.
struct WarningBudget {
    private struct Share {
        var start: UInt64
        var written = 0
        var leftOut = 0
    }

    private var shares: [String: Share] = [:]

    /// The most warnings of one kind in a period. A period begins with the first warning.
    private static let maxLines = 5
    /// The length of a period, in milliseconds.
    private static let period: UInt64 = 60_000

    /// Returns whether a warning of that kind may be written.
    mutating func take(_ kind: String, now: UInt64) -> Bool {
        var share = shares[kind] ?? Share(start: now)
        let isTaken = share.written < Self.maxLines
        if isTaken { share.written += 1 } else { share.leftOut += 1 }
        shares[kind] = share
        return isTaken
    }

    /// Ends the periods that are over. Returns how many warnings of each kind were left out of them.
    mutating func endPeriods(now: UInt64) -> [(kind: String, leftOut: Int)] {
        let over = shares.filter { now - $1.start >= Self.period }
        for kind in over.keys { shares[kind] = nil }
        return over.filter { $1.leftOut > 0 }.map { ($0, $1.leftOut) }.sorted { $0.kind < $1.kind }
    }
}
