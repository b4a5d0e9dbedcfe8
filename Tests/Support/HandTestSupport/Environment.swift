import Foundation

/// Returns the seed of a random test: `HAND_SEED` if it is set, otherwise `standard`. The seed is printed, so that a
/// failure can be repeated.
package func testSeed(_ standard: UInt64, _ name: String = #function) -> UInt64 {
    let seed = ProcessInfo.processInfo.environment["HAND_SEED"].flatMap(UInt64.init) ?? standard
    print("seed of \(name): \(seed)")
    return seed
}

/// Whether the long form of the tests is requested (`HAND_EXHAUSTIVE=1`).
package var wantsExhaustiveTests: Bool {
    ProcessInfo.processInfo.environment["HAND_EXHAUSTIVE"] != nil
}

/// Whether one of many slow cases is tested this time: half of them are, chosen anew by each run, or all of them with
/// `HAND_EXHAUSTIVE=1`.
package func isChosen() -> Bool { wantsExhaustiveTests || Bool.random() }

/// The environment for programs that tests start, without the settings of whoever runs the tests.
package var outerEnvironment: [String: String] {
    ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HAND_") }
}
