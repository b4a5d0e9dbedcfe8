import HandSimulation
import HandSync
import HandWire

/// The world of a service that is fuzzed: time stands until it is moved, and the store answers when it is told to.
package final class FuzzWorld: ServiceEnvironment {
    private let store = SimulatedStore()

    package init() {}

    package var now: UInt64 = 0
    package var wallClock: UInt64 { 1_800_000_000_000 + now }
    /// The service wanted its process to end.
    package private(set) var hasEnded = false
    /// What the store is to do; each does it, or fails, and returns what tells the service.
    private var questions: [(StoreError?) -> () -> Void] = []
    /// What the store has done and the service has not heard of.
    private var answers: [() -> Void] = []

    package var isIdle: Bool { questions.isEmpty && answers.isEmpty }

    package func start(_ task: some ServiceTask, for service: Service) {
        questions.append { [store] error in
            let result = error.map { .failure($0) } ?? StoreError.catching { try task.run(on: store) }
            return { service.finished(task, result) }
        }
    }

    package func start(_ computation: some ServiceComputation, for service: Service) {
        questions.append { _ in
            let result = computation.run()
            return { service.finished(computation, result) }
        }
    }

    /// The store works on one question, in whatever order.
    package func work(on index: Int, failingWith error: StoreError? = nil) {
        guard !questions.isEmpty else { return }
        answers.append(questions.remove(at: index % questions.count)(error))
    }

    /// The service hears of one answer.
    package func answer(_ index: Int) {
        guard !answers.isEmpty else { return }
        answers.remove(at: index % answers.count)()
    }

    /// Two users share what they may take; everybody else is not counted.
    package func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant? {
        let user = client.low % 3 == 0 ? nil : "user \(client.low % 3)"
        return Grant(id: nil, access: .everything, client: client, user: user)
    }

    package func note(_ note: ServiceNote) {}

    package func end(_ error: StoreError) { hasEnded = true }
}
