import DequeModule
import EventLoop

/// Reads a store, and computes, on the loop's thread pool, so that neither blocks the loop.
package final class ReaderThreads {
    private let loop: Loop
    /// The jobs that wait to run, in order.
    private var waiting: Deque<() -> Void> = []
    private var running = 0

    /// One of the pool's four threads is left for writing: many readers must not delay commits.
    private static let maxRunning = 3

    package init(_ loop: Loop) {
        self.loop = loop
    }

    /// Runs `body`; `then` gets its result in a later event.
    package func compute<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        waiting.append { [unowned self] in
            Work.submit(loop, body) { [unowned self] result in
                running -= 1
                startWaiting()
                then(result)
            }
        }
        startWaiting()
    }

    private func startWaiting() {
        while running < Self.maxRunning, let next = waiting.popFirst() {
            running += 1
            next()
        }
    }
}
