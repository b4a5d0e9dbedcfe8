import HandCore

/// How long to wait before the next try: doubling from a base to a ceiling, with full jitter, so that many clients that
/// lost one server do not come back at one moment (Brooker, “Exponential backoff and jitter”, 2015).
public struct Backoff: Sendable {
    /// Milliseconds.
    public var base: UInt64 = 100
    public var ceiling: UInt64 = 15_000
    private var failures: UInt64 = 0
    private var random: SplitMix64

    public init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// The wait after one more failure: between half the base and the doubled base.
    public mutating func next() -> UInt64 {
        let most = min(ceiling, base << min(failures, 20))
        failures += 1
        return base / 2 + UInt64(random.next(below: Int(most)))
    }

    /// A try succeeded.
    public mutating func reset() {
        failures = 0
    }
}
