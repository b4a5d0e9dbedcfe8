import HandCore

/// How long to wait before the next try: doubling from a base to a ceiling, with full jitter, so that many clients that
/// lost one server do not come back at one moment (Brooker, “Exponential backoff and jitter”, 2015).
package struct Backoff: Sendable {
    /// Milliseconds.
    package var base: UInt64 = 100
    package var ceiling: UInt64 = 15_000
    private var failures: UInt64 = 0
    private var random: SplitMix64

    package init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// The wait after one more failure: between half the base and the doubled base.
    package mutating func next() -> UInt64 {
        let most = min(ceiling, base << min(failures, 20))
        failures += 1
        return base / 2 + UInt64(random.next(below: Int(most)))
    }

    /// A try succeeded.
    package mutating func reset() {
        failures = 0
    }
}
