import HandCore

/// How long to wait before the next attempt: doubling from a base to a ceiling, with full jitter, so that many clients
/// that lose one server do not reconnect at the same moment (Brooker, “Exponential backoff and jitter”, 2015).
package struct Backoff: Sendable {
    /// Milliseconds.
    package var base: UInt64 = 100
    package var ceiling: UInt64 = 15_000
    private var failures: UInt64 = 0
    private var random: SplitMix64

    package init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// Returns the wait after one more failure, in milliseconds. At first it is between half the base and one and a
    /// half times the base.
    package mutating func next() -> UInt64 {
        let maxWait = min(ceiling, base << min(failures, 20))
        failures += 1
        return base / 2 + UInt64(random.next(below: Int(maxWait)))
    }

    /// Call this after an attempt succeeded.
    package mutating func reset() { failures = 0 }
}
