internal import CLibuv

/// Calls back after some time, once or repeatedly. Confined to its loop's thread.
package final class Timer: Handle {
    private var body: (() -> Void)?

    package init(_ loop: Loop) {
        super.init(loop, UV_TIMER) { uv_timer_init($0, $1.assumingMemoryBound(to: uv_timer_t.self)) }
    }

    /// Starts or restarts the timer.
    ///
    /// Timers that are due at the same time run in the order in which they were started.
    /// - Parameters:
    ///   - milliseconds: the time until the call, counted from ``Loop/now``; 0 means the next turn.
    ///   - interval: the milliseconds between later calls; 0 means only one call.
    package func start(after milliseconds: UInt64, repeating interval: UInt64 = 0, _ body: @escaping () -> Void) {
        guard !isClosing else { return }
        self.body = body
        uv_timer_start(timer, { Timer.of($0).fire() }, milliseconds, interval)
    }

    /// Stops the timer; the body is not called until the timer is started again.
    package func stop() {
        guard !isClosing else { return }
        uv_timer_stop(timer)
        body = nil
    }

    override func willClose() {
        body = nil
    }

    private func fire() {
        let body = body
        // After its last call, the body must not keep its captured objects alive.
        if uv_timer_get_repeat(timer) == 0 { self.body = nil }
        body?()
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> { raw.assumingMemoryBound(to: uv_timer_t.self) }
}
