import HandSync
import Synchronization

/// The answer to a task that waits for the loop's thread.
///
/// Law: the task is answered exactly once. If the reply is released without an answer (by a mailbox that is closed
/// while it holds the reply, or by an engine that ends), the answer is `.closed`.
package final class Reply<Value: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Value, any Error>?>

    package init(_ continuation: CheckedContinuation<Value, any Error>) {
        waiting = Mutex(continuation)
    }

    deinit {
        fail(ClientError.closed)
    }

    /// Answers with a value. Only the first answer counts.
    package func succeed(_ value: Value) {
        take()?.resume(returning: value)
    }

    /// Answers if `value` returns a value or throws. Returns whether it did.
    func isAnswered(by value: () throws -> Value?) -> Bool {
        do {
            guard let value = try value() else { return false }
            succeed(value)
        } catch {
            fail(error)
        }
        return true
    }

    package func answer(_ result: Result<Value, any Error>) {
        take()?.resume(with: result)
    }

    package func fail(_ error: any Error) {
        take()?.resume(throwing: error)
    }

    private func take() -> CheckedContinuation<Value, any Error>? {
        waiting.withLock { $0.take() }
    }
}

/// Passes events to a stream, which ends when the sink is released.
final class EventSink: Sendable {
    private let continuation: AsyncStream<ListEvent>.Continuation

    init(_ continuation: AsyncStream<ListEvent>.Continuation) {
        self.continuation = continuation
    }

    deinit {
        continuation.finish()
    }

    func yield(_ event: ListEvent) {
        continuation.yield(event)
    }
}
