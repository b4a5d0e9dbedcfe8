import HandCore
import HandWire

/// Work with the store: a value that says what to ask, and how to handle the answer.
///
/// A task runs on another thread, so it carries values only: connections by their id, lists by
/// `HostedList.Reference`. What has gone when the answer comes is then not found.
package protocol ServiceTask: Sendable {
    associatedtype Answer: Sendable

    static var lane: ServiceLane { get }
    /// Asks the store. Runs on another thread, where blocking harms nobody.
    func run(on store: any CommitStore) throws -> Answer
    /// Takes the answer.
    func finished(_ answer: Result<Answer, StoreError>, in service: Service)
    /// Asks a store that does not block. Returns a function that passes the answer to the service; call it in a later
    /// event.
    ///
    /// It is a protocol requirement so that it is compiled for each task type: otherwise types would be looked up for
    /// each commit.
    func ask(_ store: any CommitStore, for service: Service) -> () -> Void
}

/// Whether tasks run concurrently.
package enum ServiceLane: Sendable {
    /// Concurrently.
    case reading
    /// One at a time. A write does not wait for tasks that read.
    case writing
}

extension ServiceTask {
    package static var lane: ServiceLane { .reading }

    package func ask(_ store: any CommitStore, for service: Service) -> () -> Void {
        let answer = StoreError.catching { try run(on: store) }
        return { service.finished(self, answer) }
    }
}

/// Work that takes long and needs no store.
package protocol ServiceComputation: Sendable {
    associatedtype Answer: Sendable

    /// Runs on another thread, where it delays nobody.
    func run() -> Answer
    /// Takes the answer.
    func finished(_ answer: Answer, in service: Service)
}

extension Service {
    /// Call this when a task that was started has finished. Its answer is an event like those of connections.
    package func finished<Task: ServiceTask>(_ task: Task, _ answer: Result<Task.Answer, StoreError>) {
        if case .failure(let error) = answer, endsWith(error) { return }
        task.finished(answer, in: self)
    }

    /// Call this when a computation that was started has finished.
    package func finished<Computation: ServiceComputation>(_ computation: Computation, _ answer: Computation.Answer) {
        computation.finished(answer, in: self)
    }

    func start(_ task: some ServiceTask) { environment.start(task, for: self) }
    func start(_ computation: some ServiceComputation) { environment.start(computation, for: self) }

    /// Ends the process if the disk did not confirm a flush, or the files are gone: nobody knows then what the disk
    /// holds. The server starts again from what is there. Returns whether it ends.
    private func endsWith(_ error: StoreError) -> Bool {
        guard error.isFinal else { return false }
        environment.note(.writeFailed(error))
        environment.end(error)
        return true
    }

    /// Frees something large on another thread.
    func discard(_ value: consuming some Sendable) { start(Discard(transfer: ThreadTransfer(value))) }
}

private struct Discard<Value: Sendable>: ServiceComputation {
    let transfer: ThreadTransfer<Value>

    func run() { _ = transfer.take() }
    func finished(_ answer: Void, in service: Service) {}
}

/// Hands a value over to another thread: the thread that takes it frees it.
///
/// `@unchecked Sendable` is safe: the thread that makes a transfer does not use its value any more, and the value is
/// taken only once.
final class ThreadTransfer<Value: Sendable>: @unchecked Sendable {
    private var value: Value?

    init(_ value: consuming Value) {
        self.value = value
    }

    /// Returns the value. To be called once.
    func take() -> Value {
        guard let value = value.take() else { preconditionFailure("a transfer is taken once") }
        return value
    }
}
