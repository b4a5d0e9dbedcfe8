import DequeModule
import EventLoop
import HandSync

/// Runs a store on the loop's thread pool, so that it does not block the loop. A store that does not block runs at once. Long
/// computations run on the pool, too.
package final class StoreThreads {
    private let loop: Loop
    private let store: any CommitStore
    /// The results of a store that does not block in this turn, in order.
    @exclusivity(unchecked) private var answers: [() -> Void] = []
    /// The waiting reads and computations, in order.
    private var readers: Deque<() -> Void> = []
    /// The number of reads and computations that are running.
    private var reading = 0

    /// One of the pool's four threads is left for writing: many readers must not delay commits.
    private static let mostReaders = 3

    package init(_ loop: Loop, _ store: any CommitStore) {
        self.loop = loop
        self.store = store
    }

    /// Asks the store; `then` gets the result of `body` in a later event. The caller makes one write at a time.
    package func run<Value: Sendable>(
        _ lane: ServiceLane, _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        let store = store
        guard store.blocks else {
            // `then` must not run inside this call, so it waits for `deliver`.
            let answer = StoreError.catching { try body(store) }
            return answers.append { then(answer) }
        }
        let work: @Sendable () -> Result<Value, StoreError> = { StoreError.catching { try body(store) } }
        switch lane {
        case .reading: compute(work, then: then)
        case .writing: Work.submit(loop, work, then: then)
        }
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

    /// Delivers the results of a store that does not block. Returns whether there were any.
    package func deliver() -> Bool {
        let due = answers
        answers = []
        for answer in due { answer() }
        return !due.isEmpty
    }
}
