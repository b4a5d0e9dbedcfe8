internal import CLibuv
internal import Glibc

/// Threads beside the loop's.
package enum Threads {
    /// Runs `body` on a new thread. Without memory for a thread, the process ends.
    ///
    /// - Parameter name: at most 15 bytes; debuggers and `top -H` show it.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(name, body))
        var thread = uv_thread_t()
        let status = uv_thread_create(&thread, runWork, work.toOpaque())
        guard status == 0 else { fatalError("cannot start the thread '\(name)': \(UVError(code: status))") }
        pthread_detach(thread)
    }

    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            (self.name, self.body) = (name, body)
        }
    }

    private static let runWork: uv_thread_cb = { pointer in
        guard let pointer else { return }
        let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
        hand_uv_name_thread(work.name)
        work.body()
    }
}

/// A lock whose holder can wait until another thread changes what the lock guards.
///
/// `@unchecked Sendable` is safe: one thread sets up the memory, one frees it, and in between libuv may use it from any
/// thread.
package final class Condition: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<uv_cond_t>.allocate(capacity: 1)

    package init() {
        guard uv_mutex_init(lock) == 0, uv_cond_init(change) == 0 else { fatalError("no memory for a lock") }
    }

    deinit {
        uv_cond_destroy(change)
        uv_mutex_destroy(lock)
        change.deallocate()
        lock.deallocate()
    }

    package func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        uv_mutex_lock(lock)
        defer { uv_mutex_unlock(lock) }
        return try body()
    }

    // MARK: With the lock held

    package func broadcast() { uv_cond_broadcast(change) }

    /// Releases the lock until a thread calls `broadcast`. The call may also return without `broadcast`, so check the
    /// awaited condition again.
    package func wait() { uv_cond_wait(change, lock) }

    /// Waits at most until `end`.
    ///
    /// - Returns: false if the time is up.
    package func wait(until end: ContinuousClock.Instant) -> Bool {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { return false }
        return uv_cond_timedwait(change, lock, UInt64(left / .nanoseconds(1))) == 0
    }
}
