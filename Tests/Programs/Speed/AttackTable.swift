import Attacks
import Foundation

/// What each attack costs the server, and how it affects somebody who only edits a list: the times of their edits
/// compared with those on a quiet server.
struct AttackTable {
    private let bench: Bench
    /// The `hand` program that is attacked.
    private let program: String

    init(_ bench: Bench, program: String? = nil) {
        self.bench = bench
        self.program = program ?? bench.program("hand")
    }

    func measure(_ isWanted: (String) -> Bool) throws {
        let long = try AttackRange(program, prefix: Self.prefix, isLong: true)
        defer { long.stop() }
        print("| attack | bytes sent | processor, ms | memory, MB | p99 without, ms | p99 with, ms | answers |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
        for attack in Attack.gluttons where isWanted(attack.name) { try measure(attack, on: long) }
        for attack in Attack.others where isWanted(attack.name) {
            let range = try AttackRange(program, prefix: Self.prefix)
            defer { range.stop() }
            try measure(attack, on: range)
        }
    }

    private static let prefix = ["taskset", "-c", "0"]

    private func measure(_ attack: Attack, on range: AttackRange) throws {
        let bystander = try Bystander(range)
        // After this time, the attackers have their full allowances again, whatever they used before.
        let calm = try Phase(bystander, range, whileIn: .seconds(max(bench.seconds, 12)))
        let attacker = try Child(
            ["nice", "-n", "19", bench.program("hand-speed"), "--play", attack.name, "--range", range.address],
            core: 1)
        defer { attacker.stop() }
        let attacked = try Phase(try Bystander(range), range) { attacker.isRunning }
        let said = attacker.finish()
        // The bystander's own cost does not count for the attack.
        let processor = attacked.processor - calm.processor / calm.seconds * attacked.seconds
        let cells = [
            attack.name, said.first ?? "?", Row.number(max(0, processor) * 1_000),
            Row.number(max(0, attacked.memory - calm.memory) / 1e6), Row.number(calm.p99 * 1_000),
            Row.number(attacked.p99 * 1_000), said.dropFirst().joined(separator: ", "),
        ]
        print("| " + cells.joined(separator: " | ") + " |")
    }

    /// Some seconds of a bystander's edits.
    private struct Phase {
        let seconds: Double
        /// The server's processor time in seconds.
        let processor: Double
        /// The server's maximum memory in bytes.
        let memory: Double
        let p99: Double

        init(_ bystander: Bystander, _ range: AttackRange, while goesOn: () -> Bool) throws {
            let (start, before) = (ContinuousClock.now, Machine.processorSeconds(range.pid))
            var most = 0.0
            while goesOn() {
                try bystander.edit()
                most = max(most, Machine.resident(range.pid))
            }
            seconds = (ContinuousClock.now - start).seconds
            processor = Machine.processorSeconds(range.pid) - before
            memory = most
            p99 = bystander.quantile(0.99)
        }

        init(_ bystander: Bystander, _ range: AttackRange, whileIn duration: Duration) throws {
            let end = ContinuousClock.now + duration
            try self.init(bystander, range) { ContinuousClock.now < end }
        }
    }

    /// Runs an attack for some seconds, at least once, in a process of its own. Prints how much it sent, and what the
    /// server answered.
    static func play(_ name: String, _ address: String) throws {
        guard let attack = Attack.all.first(where: { $0.name == name }) else {
            throw Problem("there is no such attack")
        }
        let range = try AttackRange(at: address)
        var outcome = Attack.Outcome()
        let end = ContinuousClock.now + .seconds(4)
        repeat {
            // Clients that have exceeded their allowance get no answer for a while.
            do { try attack.play(range, &outcome) } catch is RawClient.Silence { outcome.note("kept waiting") }
        } while ContinuousClock.now < end
        print(range.meter.bytes)
        for breach in outcome.breaches { print("BREACH: \(breach)") }
        for (refusal, count) in outcome.refusals.sorted(by: { $0.key < $1.key }) { print("\(refusal) \(count)") }
    }
}
