internal import CLibuv

/// Work that would block the loop. It runs on libuv's thread pool (four threads by default, see `UV_THREADPOOL_SIZE`),
/// which all loops and ``DNS`` share.
package enum Work {
    /// Runs `body` on a thread of the pool, then calls `then` on the loop's thread with its result.
    ///
    /// `then` is always called, even while the loop is being closed. Work starts in the order of submission, and runs
    /// in parallel.
    package static func submit<R: Sendable>(
        _ loop: Loop, _ body: @escaping @Sendable () -> R, then: @escaping (R) -> Void
    ) {
        let outcome = Outcome<R>()
        WorkRequest(loop, { outcome.result = body() }, then: { then(outcome.take()) }).start()
    }
}

/// Work that is done many times, one time after the other: starting it allocates nothing.
package final class RepeatedWork {
    private let request: WorkRequest

    /// - Parameters:
    ///   - body: runs on a thread of the pool.
    ///   - then: called on the loop's thread when `body` has run; it may start the work again.
    package init(_ loop: Loop, _ body: @escaping @Sendable () -> Void, then: @escaping () -> Void) {
        request = WorkRequest(loop, body, then: then)
    }

    /// - Precondition: the work has ended.
    package func start() { request.start() }
}

/// Passes the result from the pool's thread to the loop's thread.
///
/// `@unchecked Sendable` is safe: the loop's thread is notified after the pool's thread has set the result.
private final class Outcome<R: Sendable>: @unchecked Sendable {
    var result: R?

    func take() -> R {
        guard let result = result.take() else { preconditionFailure("work ended before it ran") }
        return result
    }
}

/// Not generic: a C callback cannot be written in a generic context.
private final class WorkRequest: Request {
    private let loop: Loop
    private let body: @Sendable () -> Void
    private let then: () -> Void

    init(_ loop: Loop, _ body: @escaping @Sendable () -> Void, then: @escaping () -> Void) {
        precondition(!loop.isClosed, "work for a closed loop")
        self.loop = loop
        self.body = body
        self.then = then
        super.init(UV_WORK)
    }

    func start() {
        precondition(!isUnderWay, "work that has not ended")
        do {
            try submit { raw in
                uv_queue_work(
                    loop.pointer, raw.assumingMemoryBound(to: uv_work_t.self),
                    { WorkRequest.of($0).body() },
                    { request, _ in WorkRequest.take(request).then() })
            }
        } catch {
            preconditionFailure("uv_queue_work refuses nothing but a missing body: \(error)")
        }
    }
}
