import HandSimulation
import HandSync
import HandWire

/// The world of a service that is fuzzed: time stands until it is moved, and the store answers when it is told to.
final class FuzzWorld: ServiceWorld {
    private let store = SimulatedStore()
    var now: UInt64 = 0
    var wallClock: UInt64 { 1_800_000_000_000 + now }
    /// The service wanted its process to end.
    private(set) var hasEnded = false
    /// What the store is to do; each does it, or fails, and returns what tells the service.
    private var questions: [(StoreError?) -> () -> Void] = []
    /// What the store has done and the service has not heard of.
    private var answers: [() -> Void] = []

    var isIdle: Bool { questions.isEmpty && answers.isEmpty }

    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        questions.append { [store] error in
            let result = error.map { .failure($0) } ?? StoreError.catching { try body(store) }
            return { then(result) }
        }
    }

    /// The store works on one question, in whatever order.
    func work(on index: Int, failingWith error: StoreError? = nil) {
        guard !questions.isEmpty else { return }
        answers.append(questions.remove(at: index % questions.count)(error))
    }

    /// The service hears of one answer.
    func answer(_ index: Int) {
        guard !answers.isEmpty else { return }
        answers.remove(at: index % answers.count)()
    }

    func note(_ note: ServiceNote) {}

    func end(_ error: StoreError) { hasEnded = true }
}
