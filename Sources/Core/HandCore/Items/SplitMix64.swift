/// A small seeded generator: the same seed gives the same numbers on every machine.
///
/// For shuffles, tests and simulations, not for secrets. Algorithm: Steele, Lea and Flood, “Fast splittable
/// pseudorandom number generators”, OOPSLA 2014.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0..<bound`, by the same rule on every platform (the standard library guarantees none).
    ///
    /// - Precondition: `bound > 0`.
    package mutating func next(below bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
