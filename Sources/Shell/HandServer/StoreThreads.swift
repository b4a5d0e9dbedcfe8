import DequeModule
import EventLoop
import HandSync

/// Runs a store on the loop's thread pool, so that it does not block the loop. A store that does not block runs at once. Long
/// computations run on the pool, too.
package final class StoreThreads {
    private let loop: Loop
    private let store: any CommitStore
    /// The results of a store that does not block in this turn, in order.
    private var answers: [() -> Void] = []
    /// The waiting reads and computations, in order, and how many are running.
    private var readers: Deque<() -> Void> = []
    private var reading = 0

    /// One of the pool's four threads is left for writing: many readers must not delay commits.
    private static let mostReaders = 3

    package init(_ loop: Loop, _ store: any CommitStore) {
        self.loop = loop
        self.store = store
    }

    /// Reads; `then` gets the result of `body` in a later event.
    package func ask<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        guard store.blocks else { return write(body, then: then) }
        let store = store
        compute({ StoreError.catching { try body(store) } }, then: then)
    }

    /// Computes; `then` gets the result of `body` in a later event.
    package func compute<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        readers.append { [unowned self] in
            Work.submit(loop, body) { [unowned self] result in
                reading -= 1
                startReaders()
                then(result)
            }
        }
        startReaders()
    }

    private func startReaders() {
        while reading < Self.mostReaders, let reader = readers.popFirst() {
            reading += 1
            reader()
        }
    }

    /// Writes. The caller makes one write at a time.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        let store = store
        guard store.blocks else {
            // Never inside this call, so it waits for `deliver`.
            let answer = StoreError.catching { try body(store) }
            return self.answer { then(answer) }
        }
        Work.submit(loop, { StoreError.catching { try body(store) } }, then: then)
    }

    /// Runs `body` in a later event of this turn.
    func answer(_ body: @escaping () -> Void) {
        answers.append(body)
    }

    /// Delivers the waiting results. Returns whether there were any.
    package func deliver() -> Bool {
        let due = answers
        answers = []
        for answer in due { answer() }
        return !due.isEmpty
    }
}
