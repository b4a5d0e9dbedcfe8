import HandSimulation
import HandSync
import HandWire

/// The environment of a machine under fuzzing: time stands still until the input advances it, and the store answers on
/// request.
package final class FuzzWorld: ServerEnvironment {
    private let store = SimulatedStore()

    package init() {}

    package var now: UInt64 = 0
    package var wallClock: UInt64 { 1_800_000_000_000 + now }
    /// Whether the machine asked its process to end.
    package private(set) var hasEnded = false
    /// The questions to the store. Each does its work, or fails, and returns the closure that delivers the answer.
    private var questions: [(StoreError?) -> () -> Void] = []
    /// The answers that the machine has not received yet.
    private var answers: [() -> Void] = []

    package var isIdle: Bool { questions.isEmpty && answers.isEmpty }

    package func start(_ request: StoreRequest, for machine: ServerMachine) {
        questions.append { [store] error in
            let reply = error.map { request.run(on: BrokenStore($0)) } ?? request.run(on: store)
            return { machine.finished(reply) }
        }
    }

    package func start(_ computation: Computation, for machine: ServerMachine) {
        questions.append { _ in
            let result = computation.run()
            return { machine.finished(result) }
        }
    }

    /// Makes the store work on one question, in any order.
    package func work(on index: Int, failingWith error: StoreError? = nil) {
        guard !questions.isEmpty else { return }
        answers.append(questions.remove(at: index % questions.count)(error))
    }

    /// Delivers one answer to the machine.
    package func answer(_ index: Int) {
        guard !answers.isEmpty else { return }
        answers.remove(at: index % answers.count)()
    }

    /// Two users share their allowances; nobody else is counted.
    package func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant? {
        let user = client.low % 3 == 0 ? nil : "user \(client.low % 3)"
        return Grant(access: .everything, client: client, user: user)
    }

    package func note(_ note: ServerNote) {}

    package func end(_ error: StoreError) { hasEnded = true }
}
