import HandWire

/// Keeps one address from taking the place of all others, and from trying tokens until one fits.
///
/// Who is on this machine has no address here, and is not counted. What is remembered is bounded.
struct Doorkeeper {
    private let limits: Limits
    private var present: [String: Int] = [:]
    private var failures: [String: Failures] = [:]

    private struct Failures {
        var count: Int
        /// When the first of them was, in milliseconds.
        let since: UInt64
    }

    /// Addresses whose failures are remembered; whoever has more of them is not stopped by counting each.
    private static let most = 100_000
    /// Milliseconds after which failures are forgotten.
    static let period: UInt64 = 60_000

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// Why somebody is turned away who comes from an address; nil if they may come in, and are counted from then on.
    mutating func enter(_ address: String, now: UInt64) -> (reason: String, retryAfter: UInt64)? {
        if let failed = failures[address], failed.count >= limits.failedHellos, now < failed.since + Self.period {
            return ("too many wrong tokens came from your address", failed.since + Self.period - now)
        }
        let count = present[address, default: 0]
        if count >= limits.connectionsPerAddress {
            return ("this server takes \(limits.connectionsPerAddress) connections from one address", 5_000)
        }
        present[address] = count + 1
        return nil
    }

    mutating func leave(_ address: String) {
        guard let count = present[address] else { return }
        present[address] = count > 1 ? count - 1 : nil
    }

    /// Somebody from that address had a token that is not valid, or none.
    mutating func failed(_ address: String, now: UInt64) {
        if let failed = failures[address], now < failed.since + Self.period {
            failures[address]?.count += 1
        } else if failures[address] != nil || failures.count < Self.most {
            failures[address] = Failures(count: 1, since: now)
        }
    }

    /// Forgets what is long ago.
    mutating func sweep(now: UInt64) {
        if failures.isEmpty { return }
        failures = failures.filter { now < $0.value.since + Self.period }
    }
}
