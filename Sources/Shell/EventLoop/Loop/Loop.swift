internal import CLibuv
internal import Glibc

/// A libuv event loop: waits for sockets, timers, signals, pool work and other threads, and calls back.
///
/// The loop and everything that is open on it are confined to one thread at a time. The compiler ensures this, because
/// none of these types is `Sendable`. Other threads reach the loop through a ``Mailbox``. Callbacks never run inside
/// the call that requested them.
///
/// The first loop makes the process ignore `SIGPIPE` if the process does not handle that signal, since libuv writes
/// with plain `writev`.
package final class Loop {
    let pointer: UnsafeMutablePointer<uv_loop_t>

    /// Shared by all streams: libuv fills it and delivers it in one step.
    private let readBuffer: UnsafeMutableRawPointer
    static let readBufferSize = 64 * 1024

    private(set) var isClosed = false
    private var isRunning = false

    /// - Throws: for example `.tooManyOpenFiles`, because a loop needs descriptors of its own.
    package init() throws(UVError) {
        _ = Loop.ignoreBrokenPipes
        let pointer = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let result = uv_loop_init(pointer)
        guard result == 0 else {
            pointer.deallocate()
            throw UVError(code: result)
        }
        self.pointer = pointer
        readBuffer = UnsafeMutableRawPointer.allocate(byteCount: Loop.readBufferSize, alignment: 16)
        pointer.pointee.data = readBuffer
    }

    deinit {
        // Open handles and requests retain the loop, so none is left here, and closing does not wait.
        if !isClosed { close() }
    }

    /// Runs turns until nothing active is left or ``stop()`` is called.
    package func run() {
        turn(UV_RUN_DEFAULT)
    }

    /// Runs one turn, and waits for an event if there is none yet.
    /// - Returns: whether something active is left.
    @discardableResult
    package func runOnce() -> Bool {
        turn(UV_RUN_ONCE)
    }

    /// Makes ``run()`` return at the end of this turn. Only on the loop's thread.
    package func stop() {
        if !isClosed { uv_stop(pointer) }
    }

    /// Closes all handles, reports canceled operations, waits for running pool work and its results, then frees the
    /// loop. May be called again, but not from one of the loop's callbacks.
    package func close() {
        guard !isClosed else { return }
        precondition(!isRunning, "a loop closed from its own callback")
        isRunning = true
        // Repeated, because callbacks may open new handles.
        repeat {
            uv_walk(pointer, { handle, _ in Handle.of(handle).close() }, nil)
            uv_run(pointer, UV_RUN_ONCE)
        } while uv_loop_close(pointer) == UV_EBUSY.rawValue
        isRunning = false
        isClosed = true
        readBuffer.deallocate()
        pointer.deallocate()
    }

    /// The time in milliseconds at which this turn began, on a monotonic clock. Timers count from this time.
    package var now: UInt64 {
        precondition(!isClosed, "the time of a closed loop")
        return uv_now(pointer)
    }

    /// The present time in nanoseconds, on a monotonic clock. May be read from any thread.
    package static var monotonicNanoseconds: UInt64 { uv_hrtime() }

    @discardableResult
    private func turn(_ mode: uv_run_mode) -> Bool {
        precondition(!isClosed, "a closed loop cannot run")
        precondition(!isRunning, "a loop run from its own callback")
        isRunning = true
        defer { isRunning = false }
        return uv_run(pointer, mode) != 0
    }

    private static let ignoreBrokenPipes: Void = {
        var current = sigaction()
        // A program that handles the signal itself is left alone.
        if sigaction(SIGPIPE, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil {
            signal(SIGPIPE, SIG_IGN)
        }
    }()
}

extension Loop {
    /// Runs `body` soon, but never inside this call: for results that are known at once.
    package func soon(_ body: @escaping () -> Void) {
        // A handle's close callback is the only callback that libuv always makes, even while the loop is being closed.
        if isClosed { body() } else { Timer(self).close(body) }
    }
}
