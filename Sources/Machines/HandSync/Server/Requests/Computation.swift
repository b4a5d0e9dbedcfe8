import HandCore
import HandWire

/// Work that takes long and needs no store.
package struct Computation: Sendable {
    /// Runs the computation, on a thread where it delays nobody.
    package let run: @Sendable () -> Computed
}

/// The result of a computation, and what the server does with it.
package struct Computed: Sendable {
    fileprivate let end: @Sendable (ServerMachine) -> Void
}

extension ServerMachine {
    func compute<Answer: Sendable>(
        _ body: @escaping @Sendable () -> Answer,
        then end: @escaping @Sendable (ServerMachine, Answer) -> Void = { _, _ in }
    ) {
        let computation = Computation {
            let answer = body()
            return Computed { end($0, answer) }
        }
        emit(.compute(computation))
    }

    /// Call this when a computation that was started has finished.
    package func finished(_ computed: Computed, at time: Moment) {
        self.time = time
        computed.end(self)
    }

    /// Frees something large on another thread.
    func discard(_ value: consuming some Sendable) {
        let transfer = ThreadTransfer(value)
        compute { _ = transfer.take() }
    }
}

/// Hands a value over to another thread: the thread that takes it frees it.
///
/// `@unchecked Sendable` is safe: the thread that makes a transfer does not use its value any more, and the value is
/// taken only once.
package final class ThreadTransfer<Value: Sendable>: @unchecked Sendable {
    private var value: Value?

    init(_ value: consuming Value) { self.value = value }

    /// Returns the value. To be called once.
    func take() -> Value {
        guard let value = value.take() else { preconditionFailure("a transfer is taken once") }
        return value
    }
}
