import EventLoop
import Synchronization

/// Runs a journal's operations one by one on libuv's thread pool, so that the loop never waits for the disk.
final class JournalQueue {
    private let journal: ClientJournal
    private let loop: Loop
    private let jobs = Jobs()
    /// Callbacks in the order of the operations. Each returns nil until its operation is done.
    private var replies: [() -> (() -> Void)?] = []

    init(_ journal: ClientJournal, loop: Loop) {
        self.journal = journal
        self.loop = loop
    }

    /// Runs `body` after all earlier operations, then `then` on the loop's thread.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (ClientJournal) -> Value, then: @escaping (Value) -> Void
    ) {
        let answer = Answer<Value>()
        jobs.add { [journal] in
            let value = body(journal)
            answer.value.withLock { $0 = value }
        }
        replies.append { answer.value.withLock { $0.take() }.map { value in { then(value) } } }
        Work.submit(loop) { [jobs] in
            jobs.runNext()
        } then: { [weak self] _ in
            self?.reply()
        }
    }

    private func reply() {
        while let next = replies.first?() {
            replies.removeFirst()
            next()
        }
    }

    /// Waits until all operations are done, including the operations that answers start.
    func finish() {
        while !replies.isEmpty {
            while jobs.runNext() {}
            reply()
        }
    }

    /// Closes the journal after all earlier operations: on another thread if there is a function to call afterwards.
    func close(then closed: (() -> Void)?) {
        guard let closed else {
            finish()
            try? journal.close()
            return
        }
        // The queue stays until the journal is closed, though the engine may be gone.
        ask({ try? $0.close() }, then: { [self] _ in withExtendedLifetime(self, closed) })
    }
}

private final class Answer<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}

/// The remaining operations. `running` is locked during each operation. So the operations keep their order, and a
/// caller that finds no operation left knows that no operation is running.
private final class Jobs: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    private let running = Mutex(())

    func add(_ job: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(job) }
    }

    /// Runs the next operation; returns false if none was left.
    @discardableResult
    func runNext() -> Bool {
        running.withLock { _ in
            guard let job = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
            job()
            return true
        }
    }
}
