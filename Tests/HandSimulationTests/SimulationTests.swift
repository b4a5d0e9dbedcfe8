import HandSimulation
import HandTestSupport
import Testing

/// The simulator itself: it finds nothing, always does the same, and reaches every situation. The bugs in
/// Tests/Data/Mutants show that it finds what it should.
@Suite struct SimulationTests {
    /// The seeds that CI runs; `HAND_EXHAUSTIVE=1` runs many more. Together they reach every place: a simulator does not
    /// test the situations that it never reaches.
    @Test func noPromiseIsBrokenAndEverythingHappens() {
        let first = testSeed(1)
        var reach = Reach()
        for seed in first..<first + (wantsExhaustiveTests ? 100_000 : 600) {
            let outcome = Simulation(seed: seed, steps: 150).run()
            reach.add(outcome.reach)
            if let finding = outcome.finding {
                Issue.record("hand-lab simulate --seed \(seed): \(finding.checker.rawValue): \(finding.text)")
            }
        }
        #expect(reach.missing.map { "\($0.group): \($0.name)" } == [])
    }

    @Test func theSameSeedIsTheSameRun() {
        for seed in testSeed(2)..<testSeed(2) + 8 {
            let simulation = Simulation(seed: seed, steps: 200)
            let (once, again) = (simulation.run(isTracing: true), simulation.run(isTracing: true))
            #expect(once == again)
            #expect(once.trace.count > 10)
        }
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
