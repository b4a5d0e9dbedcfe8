import Attacks
import Foundation

/// What somebody who only edits a list notices of each attack: their edits' times beside those of a quiet server.
struct AttackTable {
    private let bench: Bench

    init(_ bench: Bench) { self.bench = bench }

    func measure() throws {
        print("| attack | what the server said | p99 without, ms | p99 with, ms |")
        print("| --- | --- | --- | --- |")
        for attack in Attack.all {
            let range = try AttackRange(bench.program("hand"), prefix: ["taskset", "-c", "0"])
            defer { range.stop() }
            let before = try calm(range)
            let attacker = try Child(
                ["nice", "-n", "19", bench.program("hand-speed"), "--play", attack.name, "--range", range.address],
                core: 1)
            defer { attacker.stop() }
            let bystander = try Bystander(range)
            while attacker.isRunning { try bystander.edit() }
            let said = attacker.finish().joined(separator: ", ")
            print("| \(attack.name) | \(said) | \(Self.text(before)) | \(Self.text(bystander.quantile(0.99))) |")
        }
    }

    private func calm(_ range: AttackRange) throws -> Double {
        let bystander = try Bystander(range)
        let end = ContinuousClock.now + .seconds(bench.seconds)
        while ContinuousClock.now < end { try bystander.edit() }
        return bystander.quantile(0.99)
    }

    private static func text(_ seconds: Double) -> String { Row.number(seconds * 1_000) }

    /// In a process of its own: plays an attack for some seconds, at least once, and says what the server said.
    static func play(_ name: String, _ address: String) throws {
        guard let attack = Attack.all.first(where: { $0.name == name }) else {
            throw Problem("there is no such attack")
        }
        let range = try AttackRange(at: address)
        var outcome = Attack.Outcome()
        let end = ContinuousClock.now + .seconds(4)
        repeat { try attack.play(range, &outcome) } while ContinuousClock.now < end
        for breach in outcome.breaches { print("BREACH: \(breach)") }
        for (refusal, count) in outcome.refusals.sorted(by: { $0.key < $1.key }) { print("\(refusal) \(count)") }
    }
}
