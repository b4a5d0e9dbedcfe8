import HandSync

/// How many entries of an audit log somebody may cause. Strangers together have one share, the holder of each token another, so
/// that nobody hides among many entries what somebody else did. What is too much is counted.
package struct AuditBudget {
    private var shares: [String?: TokenBucket] = [:]
    private var leftOut: [String?: Int] = [:]

    /// Entries a second for long; ten times as many at once.
    private static let rate = 10

    package enum Verdict: Equatable {
        case leftOut
        /// It is written down, behind a word on how many were left out before.
        case written(leftOut: Int)
    }

    package init() {}

    /// - Parameter token: the id of whose holder causes an entry; nil for who has none.
    package mutating func take(_ token: String?, now: UInt64) -> Verdict {
        var share = shares[token] ?? TokenBucket(rate: Self.rate, now: now)
        share.fill(now: now)
        defer { shares[token] = share }
        if share.isOverdrawn {
            leftOut[token, default: 0] += 1
            return .leftOut
        }
        share.spend(1, now: now)
        return .written(leftOut: leftOut.removeValue(forKey: token) ?? 0)
    }
}
