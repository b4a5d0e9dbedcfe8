import HandSync
import Synchronization

/// The way back to who asked something of the loop's thread, and waits.
///
/// Law: who waits is answered exactly once. Whoever lets go of the question without an answer (a mailbox that is closed
/// while it lies in it, a list that is dropped, an engine that ends) answers `.closed` by that.
package final class Reply<Value: Sendable>: Sendable {
    private let waiting: Mutex<CheckedContinuation<Value, any Error>?>

    package init(_ continuation: CheckedContinuation<Value, any Error>) {
        waiting = Mutex(continuation)
    }

    deinit {
        fail(ClientError.closed)
    }

    /// Only the first answer counts.
    package func succeed(_ value: Value) {
        take()?.resume(returning: value)
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

/// The way in which events reach who follows a list: a stream that ends with it, whoever lets it go.
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
