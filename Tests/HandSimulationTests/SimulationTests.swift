import HandSimulation
import HandTestSupport
import Testing

/// The simulator itself: it finds nothing, always does the same, and reaches every situation. The bugs in
/// Tests/Data/Mutants show that it finds what it should.
@Suite struct SimulationTests {
    /// The seeds that CI runs; `HAND_EXHAUSTIVE=1` runs many more.
    @Test func noPromiseIsBroken() {
        let first = testSeed(1)
        for seed in first..<first + (wantsExhaustiveTests ? 100_000 : 600) {
            let outcome = Simulation(seed: seed, steps: 150).run()
            if let finding = outcome.finding {
                Issue.record("hand simulate --seed \(seed): \(finding.checker.rawValue): \(finding.text)")
            }
        }
    }

    @Test func theSameSeedIsTheSameRun() {
        for seed in testSeed(2)..<testSeed(2) + 8 {
            let simulation = Simulation(seed: seed, steps: 200)
            let (once, again) = (simulation.run(isTracing: true), simulation.run(isTracing: true))
            #expect(once == again)
            #expect(once.trace.count > 10)
        }
    }

    /// A simulator does not test the situations that it never reaches.
    @Test func everythingHappens() {
        var missing: Set<String> = [
            "server starts", "server dies", "server has stopped", "dies", "is offline", "is durable", "makes insert",
            "resumed through", "snapshot of", "is stale", "is rejected: the list has moved on",
            "is rejected: the list is full", "is rejected: the server could not", "error listDeleted",
            "error noSuchList", "error noSuchRevision", "has noticed", "closes client", ": replaced", ": idleTimeout",
            "closes stranger", "is deleted", "is back", "error listExists", "the list is called", "hears that",
            "is refused", "drop 1", "pick 1", "edit", "server 4 dies", "does not know what became of",
        ]
        for seed in UInt64(1)...600 where !missing.isEmpty {
            let trace = Simulation(seed: seed, steps: 150).run(isTracing: true).trace
            missing = missing.filter { text in !trace.contains { $0.contains(text) } }
        }
        #expect(missing.isEmpty)
    }

    @Test func aRunIsReducedToWhatMatters() {
        let whole = Simulation(seed: 6, steps: 150)
        let commits = whole.run().commits
        #expect(commits > 3)
        let reduced = whole.reduced(while: { $0.commits >= 2 }, on: { nil })
        #expect(reduced.run().commits >= 2)
        #expect(reduced.stepCount <= 4)
    }
}
