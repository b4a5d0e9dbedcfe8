import DequeModule
import EventLoop
import HandCore
import HandSync

/// Runs a store on the loop's thread pool, so that it does not block the loop. Long computations run on the pool, too.
package final class StoreThreads {
    private let loop: Loop
    /// The answers of a store that does not block, in order.
    @exclusivity(unchecked) private var answers: [Answer] = []
    /// The answers that are being delivered. Kept so that its memory is used again.
    @exclusivity(unchecked) private var due: [Answer] = []
    /// The waiting reads and computations, in order.
    private var readers: Deque<() -> Void> = []
    /// The number of reads and computations that are running.
    private var reading = 0

    /// A type of its own, because an array of functions wraps each of them in another.
    private struct Answer {
        let deliver: () -> Void
    }

    /// One of the pool's four threads is left for writing: many readers must not delay commits.
    private static let maxReaders = 3

    package init(_ loop: Loop) {
        self.loop = loop
    }

    /// Asks a store; `then` gets the result of `body` in a later event. The caller makes one write at a time.
    package func run<Value: Sendable>(
        _ lane: ServiceLane, _ body: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        switch lane {
        case .reading: compute(body, then: then)
        case .writing: Work.submit(loop, body, then: then)
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
        while reading < Self.maxReaders, let reader = readers.popFirst() {
            reading += 1
            reader()
        }
    }

    /// Schedules the answer of a store that does not block for delivery in a later event.
    package func deliverLater(_ answer: @escaping () -> Void) {
        answers.append(Answer(deliver: answer))
    }

    /// Delivers these answers. Returns whether there were any.
    package func deliver() -> Bool {
        if answers.isEmpty { return false }
        swap(&answers, &due)
        for answer in due { answer.deliver() }
        due.clear()
        return true
    }
}
