import HandSimulation
import HandSync
import HandWire

/// A server under fuzzing: time stands still until the input advances it, and the store answers on request.
package final class FuzzWorld {
    private let store = SimulatedStore()
    package let machine: ServerMachine

    package init(limits: Limits) {
        machine = ServerMachine(
            limits: limits, program: "fuzzed", seed: 7, at: Moment(now: 0, wallClock: Self.epoch))
    }

    private static let epoch: UInt64 = 1_800_000_000_000
    package var time: Moment { Moment(now: now, wallClock: Self.epoch + now) }

    package var now: UInt64 = 0
    /// Whether the machine asked its process to end.
    package private(set) var hasEnded = false
    /// The questions to the store. Each does its work, or fails, and returns the closure that delivers the answer.
    private var questions: [(StoreError?) -> () -> Void] = []
    /// The answers that the machine has not received yet.
    private var answers: [() -> Void] = []

    package var isIdle: Bool { questions.isEmpty && answers.isEmpty }

    /// Ends a turn. Returns whether another one must follow at once.
    package func endTurn() -> Bool {
        carryOut()
        var hasMore = machine.endTurn(at: time)
        while carryOut() { hasMore = machine.endTurn(at: time) || hasMore }
        return hasMore
    }

    /// Returns whether any effect was answered at once.
    @discardableResult
    private func carryOut() -> Bool {
        var isAnswered = false
        while let effect = machine.nextEffect() {
            switch effect {
            case .ask(let request): ask(request)
            case .compute(let computation): compute(computation)
            case .identify(let hello, let connection):
                // Two users share their allowances; nobody else is counted.
                let user = hello.client.low % 3 == 0 ? nil : "user \(hello.client.low % 3)"
                let grant = Grant(access: .everything, user: user)
                machine.identified(connection, saying: hello, as: grant, at: time)
                isAnswered = true
            case .called:
                machine.accessChanged(at: time) { _, _ in .everything }
                isAnswered = true
            case .tell, .note: break
            case .end: hasEnded = true
            }
        }
        return isAnswered
    }

    private func ask(_ request: StoreRequest) {
        questions.append { [store, unowned self] error in
            let reply = error.map { request.run(on: BrokenStore($0)) } ?? request.run(on: store)
            return { self.machine.finished(reply, at: self.time) }
        }
    }

    private func compute(_ computation: Computation) {
        questions.append { [unowned self] _ in
            let result = computation.run()
            return { self.machine.finished(result, at: self.time) }
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

}
