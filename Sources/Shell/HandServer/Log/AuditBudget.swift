import HandSync

/// Limits the rate of audit entries. All users without a token share one budget, and each token has its own, so that
/// nobody can bury other users' entries. Entries beyond the limit are counted.
package struct AuditBudget {
    private var shares: [String?: TokenBucket] = [:]
    private var leftOut: [String?: Int] = [:]

    /// Sustained entries per second; bursts may have ten times as many.
    private static let rate = 10

    package enum Verdict: Equatable {
        case leftOut
        /// To be written, after a note on how many were left out before.
        case written(leftOut: Int)
    }

    package init() {}

    /// - Parameters:
    ///   - token: the id of the user's token; nil for users without one.
    ///   - now: milliseconds of a clock that never goes back.
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
