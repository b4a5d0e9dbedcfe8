import Foundation

/// The seed of a random test: `HAND_SEED` if it is set, else the one given. It is printed, so that a failure can be run again.
package func testSeed(_ standard: UInt64, _ name: String = #function) -> UInt64 {
    let seed = ProcessInfo.processInfo.environment["HAND_SEED"].flatMap(UInt64.init) ?? standard
    print("seed of \(name): \(seed)")
    return seed
}

/// Whether the long form of the tests is wanted (`HAND_EXHAUSTIVE=1`).
package var wantsExhaustiveTests: Bool {
    ProcessInfo.processInfo.environment["HAND_EXHAUSTIVE"] != nil
}
