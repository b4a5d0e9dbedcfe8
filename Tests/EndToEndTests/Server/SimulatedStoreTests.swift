import HandTestSupport
import Testing

/// The simulator's worlds with the server's real store.
@Suite struct SimulatedStoreTests {
    /// The seeds that CI runs; `HAND_EXHAUSTIVE=1` runs many more.
    @Test func sqliteEqualsTheSimulatedStore() throws {
        let seeds = wantsExhaustiveTests ? 5_000 : 100
        let outcome = try Binary.run(
            ["simulate", "--store", "sqlite", "--seed", "\(testSeed(1))", "--seeds", "\(seeds)"], program: Built.lab)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.messages)")
        #expect(outcome.output.contains("\(seeds) seeds, ") && outcome.output.contains(" 0 with a finding"))
    }

    @Test func theSameSeedIsTheSameRun() throws {
        let arguments = ["simulate", "--store", "sqlite", "--seed", "7", "--trace"]
        let runs = try (0..<2).map { _ in
            try Binary.run(arguments, program: Built.lab).output.split(separator: "\n").dropLast().map(String.init)
        }
        #expect(runs[0] == runs[1] && runs[0].count > 10)
    }
}
