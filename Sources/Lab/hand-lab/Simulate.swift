import ArgumentParser
import Dispatch
import FoundationEssentials
import Glibc
import HandFormats
import HandSimulation
import Synchronization

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run whole systems in a simulated world, with faults.",
        discussion: """
            Each seed is a separate world in virtual time: a server and its disk, or up to four servers on one store, and clients \
            and their network. Connections break, processes are killed, and disks fail. After every event, every promise of hand \
            is checked; at the end, everybody must have the same list. The same seed always gives the same run.

            If a promise is broken, the run is reduced to the fewest steps that still break it, and printed; the exit code \
            is 1.

            At the end, it prints how often all worlds together reached each kind of step, fault and answer. What they do not reach \
            is not tested.
            """)

    @Option(help: "The first seed.") var seed: UInt64 = 1
    @Option(help: "The number of consecutive seeds.") var seeds = 1
    @Option(help: "The number of steps, by users and faults, for each seed.") var steps = 150
    @Option(help: "The server's store: a simulated one, or SQLite in a temporary folder.")
    var store = Store.simulated
    @Option(help: "The number of worlds that run at the same time (default: one per processor).") var jobs: Int?
    @Flag(help: "Print everything that happened.") var trace = false
    @Flag(help: "Stop at the first finding, and print it without reducing the run.") var first = false
    @Flag(help: "Print a JSON object for each seed with a finding, and a summary.") var json = false

    enum Store: String, CaseIterable, ExpressibleByArgument {
        case simulated, sqlite
    }

    private func bench() throws -> (any StoreBench)? { store == .sqlite ? try SQLiteBench() : nil }

    /// Exits if the store cannot be made.
    private func run(_ simulation: Simulation, isTracing: Bool) -> Simulation.Outcome {
        do { return simulation.run(isTracing: isTracing, on: try bench()) } catch {
            tell("hand-lab: cannot make a store: \(error)", on: STDERR_FILENO)
            Self.exit(withError: ExitCode.failure)
        }
    }

    func validate() throws {
        guard seeds > 0, steps > 0, (jobs ?? 1) > 0 else {
            throw ValidationError("--seeds, --steps and --jobs must be at least 1.")
        }
    }

    private struct Tally {
        var next: UInt64
        var done = 0
        var commits = 0
        var reach = Reach()
        var failed: [UInt64] = []
    }

    func run() throws {
        let began = Date()
        let tally = Mutex(Tally(next: seed))
        let end = seed + UInt64(seeds)
        let maxFindings = first ? 1 : 5
        let workers = min(seeds, jobs ?? ProcessInfo.processInfo.activeProcessorCount)
        DispatchQueue.concurrentPerform(iterations: workers) { _ in
            while let seed = tally.withLock({ Self.take(&$0, before: end, maxFindings: maxFindings) }) {
                let outcome = run(Simulation(seed: seed, steps: steps), isTracing: trace && seeds == 1)
                tally.withLock { tally in
                    tally.done += 1
                    tally.commits += outcome.commits
                    tally.reach.add(outcome.reach)
                    if outcome.finding != nil { tally.failed.append(seed) }
                    Self.progress(tally.done, of: seeds, since: began)
                }
                for line in outcome.trace { print(line) }
            }
        }
        let result = tally.withLock { $0 }
        for seed in result.failed.sorted().prefix(maxFindings) { try report(seed) }
        finish(result, Date().timeIntervalSince(began))
    }

    private static func take(_ tally: inout Tally, before end: UInt64, maxFindings: Int) -> UInt64? {
        guard tally.next < end, tally.failed.count < maxFindings else { return nil }
        defer { tally.next += 1 }
        return tally.next
    }

    private static func progress(_ done: Int, of count: Int, since began: Date) {
        guard done % 1_000 == 0, done < count else { return }
        let rate = Double(done) / Date().timeIntervalSince(began)
        tell("\(done) of \(count) seeds, \(Int(rate)) a second", on: STDERR_FILENO)
    }

    /// Prints the shortest run found with the same finding.
    private func report(_ seed: UInt64) throws {
        let whole = Simulation(seed: seed, steps: steps)
        let reduced = try first ? whole : whole.reduced(on: bench)
        let outcome = run(reduced, isTracing: true)
        guard let finding = outcome.finding else { return }
        if json {
            let members: JSONValue = [
                "seed": JSONValue(seed), "steps": JSONValue(steps),
                "checker": .string(finding.checker.rawValue),
                "finding": .string(finding.text), "reduced": JSONValue(reduced.stepCount),
                "trace": .array(outcome.trace.map { .string($0) }),
            ]
            return print(members.line)
        }
        print("seed \(seed): \(finding.checker.rawValue): \(finding.text)")
        print("reduced from \(steps) to \(reduced.stepCount) steps:")
        for line in outcome.trace { print("  \(line)") }
        print("again: hand-lab simulate --seed \(seed) --steps \(steps)\(store == .sqlite ? " --store sqlite" : "")")
    }

    private func finish(_ tally: Tally, _ seconds: Double) {
        let rate = Int(Double(tally.done) / max(seconds, 0.001))
        if json {
            let members: JSONValue = [
                "seeds": JSONValue(tally.done),
                "failed": .array(tally.failed.sorted().map { JSONValue($0) }),
                "commits": JSONValue(tally.commits), "milliseconds": JSONValue(Int(seconds * 1_000)),
                "reached": .object(
                    Reach.Group.allCases.map { group in
                        let counts = tally.reach.counts(of: group)
                        return .init(group.rawValue, .object(counts.map { .init($0.name, JSONValue($0.count)) }))
                    }),
            ]
            print(members.line)
        } else {
            for group in Reach.Group.allCases {
                let counts = tally.reach.counts(of: group).filter { $0.count > 0 }.map { "\($0.name) \($0.count)" }
                if !counts.isEmpty { print("\(group.rawValue): \(counts.joined(separator: ", "))") }
            }
            let missing = tally.reach.missing.map { "\($0.group.rawValue): \($0.name)" }
            if !missing.isEmpty { print("not reached: \(missing.joined(separator: ", "))") }
            let seconds = (seconds * 10).rounded() / 10
            print(
                "\(tally.done) seeds, \(tally.commits) commits, \(tally.failed.count) with a finding; "
                    + "\(seconds) s, \(rate) seeds a second")
        }
        if !tally.failed.isEmpty { Self.exit(withError: ExitCode.failure) }
    }
}
