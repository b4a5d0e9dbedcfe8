import Attacks
import Foundation
import Testing

/// Each attack is refused as it should be, nothing comes through, and somebody who edits a list meanwhile does not notice.
@Suite(.serialized) struct AttackTests {
    static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("hand").path

    @Test(arguments: Attack.all)
    func isRefused(attack: Attack) async throws {
        let range = try AttackRange(Self.program)
        defer { range.stop() }
        let bystander = try Bystander(range)
        let playing = Task.detached { () -> Attack.Outcome in
            var outcome = Attack.Outcome()
            try attack.play(range, &outcome)
            return outcome
        }
        let isOver = Flag()
        let watch = Task.detached {
            _ = await playing.result
            isOver.set()
        }
        repeat { try bystander.edit() } while !isOver.isSet
        await watch.value
        let outcome = try await playing.value
        #expect(outcome.breaches.isEmpty)
        #expect(Set(outcome.refusals.keys).isSuperset(of: attack.expected), "\(outcome.refusals)")
        for _ in 0..<10 { try bystander.edit() }
        #expect(range.isRunning)
        let logs = try range.logs()
        for secret in range.tokens.values { #expect(!logs.contains(secret), "a secret is in the logs") }
    }
}

/// Something that becomes true once, on any thread.
private final class Flag: Sendable {
    private let isOn = NSLock()
    private nonisolated(unsafe) var value = false

    var isSet: Bool { isOn.withLock { value } }
    func set() { isOn.withLock { value = true } }
}
