import DequeModule
import EventLoop
import HandSync

/// Has a store work on threads of a loop's pool, so that it does not block the loop; one that does not block answers at once.
/// What takes long without a store is done there too.
package final class StoreThreads {
    private let loop: Loop
    private let store: any CommitStore
    /// What a store that does not block has answered in this turn, in order.
    private var answers: [() -> Void] = []
    /// Those who wait to read or to compute, in order, and how many do.
    private var readers: Deque<() -> Void> = []
    private var reading = 0

    /// One thread of the pool's four is left to what writes: a crowd of readers must not keep commits from being written.
    private static let mostReaders = 3

    package init(_ loop: Loop, _ store: any CommitStore) {
        self.loop = loop
        self.store = store
    }

    /// For whatever reads; `then` gets what `body` returned, in a later event.
    package func ask<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        guard store.blocks else { return write(body, then: then) }
        let store = store
        compute({ StoreError.catching { try body(store) } }, then: then)
    }

    /// For whatever takes long and does not write; `then` gets what `body` returned, in a later event.
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

    /// For what writes, one at a time.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        let store = store
        guard store.blocks else {
            // Never from within the asking; so it waits for `deliver`.
            let answer = StoreError.catching { try body(store) }
            return self.answer { then(answer) }
        }
        Work.submit(loop) {
            StoreError.catching { try body(store) }
        } then: {
            then($0)
        }
    }

    /// Answers in a later event of this turn.
    func answer(_ body: @escaping () -> Void) {
        answers.append(body)
    }

    /// Hands over what was answered at once. Returns whether there was anything.
    package func deliver() -> Bool {
        let due = answers
        answers = []
        for answer in due { answer() }
        return !due.isEmpty
    }
}
