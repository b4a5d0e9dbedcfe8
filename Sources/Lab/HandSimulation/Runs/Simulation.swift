/// Runs simulated worlds. Everything follows from the seed and the number of steps: the same seed gives the same run on
/// every machine.
package struct Simulation: Sendable {
    package let seed: UInt64
    private let steps: [Step]

    package init(seed: UInt64, steps: Int) {
        self.init(seed: seed, Step.plan(FaultSchedule(seed: seed), count: steps))
    }

    private init(seed: UInt64, _ steps: [Step]) {
        self.seed = seed
        self.steps = steps
    }

    package struct Outcome: Equatable, Sendable {
        package let finding: Finding?
        package let commits: Int
        package let reach: Reach
        package let trace: [String]
    }

    /// - Parameter bench: an empty store for the server to use instead of a simulated one.
    package func run(isTracing: Bool = false, on bench: (any StoreBench)? = nil) -> Outcome {
        let system = System(FaultSchedule(seed: seed), on: bench, isTracing: isTracing)
        defer { system.dismantle() }
        system.run(steps)
        let commits = system.ledger.histories.values.reduce(0) { $0 + $1.commits.count }
        return Outcome(finding: system.finding, commits: commits, reach: system.reach, trace: system.lines)
    }

    package var stepCount: Int { steps.count }

    /// Returns the fewest steps found that lead to a finding of the same checker. Parts of the steps are left out as
    /// long as the finding remains (Zeller and Hildebrandt, “Simplifying and isolating failure-inducing input”, 2002).
    ///
    /// - Parameter bench: makes a store for each run.
    package func reduced(on bench: () throws -> (any StoreBench)?) rethrows -> Simulation {
        guard let checker = run(on: try bench()).finding?.checker else { return self }
        return try reduced(while: { $0.finding?.checker == checker }, on: bench)
    }

    /// Returns the fewest steps found for which `holds` is still true.
    package func reduced(
        while holds: (Outcome) -> Bool, on bench: () throws -> (any StoreBench)?
    ) rethrows -> Simulation {
        var steps = steps
        var size = max(1, steps.count / 2)
        while true {
            var hasShrunk = false
            var start = 0
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if holds(Simulation(seed: seed, fewer).run(on: try bench())) {
                    steps = fewer
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1 && !hasShrunk { break }
            size = max(1, size / 2)
        }
        return Simulation(seed: seed, steps)
    }
}
