import Attacks
import Foundation
import Testing

/// Each attack is refused as it should be, nothing comes through, and somebody who edits a list at the same time does
/// not notice.
@Suite(.serialized) struct AttackTests {
    static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("hand").path

    @Test(arguments: Attack.all)
    func attacksDoNoHarm(attack: Attack) throws {
        let range = try AttackRange(Self.program)
        defer { range.stop() }
        let bystander = try Bystander(range)
        let playing = Playing(attack, range)
        repeat { try bystander.edit() } while !playing.isOver
        let outcome = try playing.outcome
        #expect(outcome.breaches.isEmpty)
        #expect(Set(outcome.refusals.keys).isSuperset(of: attack.expected), "\(outcome.refusals)")
        for _ in 0..<10 { try bystander.edit() }
        #expect(range.isRunning)
        let logs = try range.logs()
        for secret in range.tokens.values { #expect(!logs.contains(secret), "a secret is in the logs") }
    }
}

/// Runs an attack on a thread of its own: it blocks, and the threads that tests share are few.
///
/// `@unchecked Sendable` is safe: everything that both threads access is under the lock.
private final class Playing: @unchecked Sendable {
    private let lock = NSLock()
    private var result: Result<Attack.Outcome, any Error>?

    init(_ attack: Attack, _ range: AttackRange) {
        Thread.detachNewThread { [self] in
            let result = Result {
                var outcome = Attack.Outcome()
                try attack.play(range, &outcome)
                return outcome
            }
            lock.withLock { self.result = result }
        }
    }

    var isOver: Bool { lock.withLock { result != nil } }

    /// The result, once it is over.
    var outcome: Attack.Outcome {
        get throws { try lock.withLock { try result?.get() ?? Attack.Outcome() } }
    }
}
