internal import CLibuv

/// Calls back after a time, once or repeatedly. Confined to its loop's thread.
package final class Timer: Handle {
    private var body: (() -> Void)?

    /// A timer that is not running.
    package init(_ loop: Loop) {
        super.init(loop, UV_TIMER) { uv_timer_init($0, $1.assumingMemoryBound(to: uv_timer_t.self)) }
    }

    /// Starts it, or starts it anew.
    ///
    /// Timers that are due at the same time run in the order in which they were started.
    /// - Parameters:
    ///   - milliseconds: counted from ``Loop/now``; 0 means the next turn.
    ///   - interval: milliseconds between later calls; 0 means one call only.
    package func start(after milliseconds: UInt64, repeating interval: UInt64 = 0, _ body: @escaping () -> Void) {
        guard !isClosing else { return }
        self.body = body
        uv_timer_start(timer, { Timer.of($0).fire() }, milliseconds, interval)
    }

    /// Stops it; the body is not called until it is started again.
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
        // A body that ran its last time must not keep alive what it captured.
        if uv_timer_get_repeat(timer) == 0 { self.body = nil }
        body?()
    }

    private var timer: UnsafeMutablePointer<uv_timer_t> { raw.assumingMemoryBound(to: uv_timer_t.self) }
}
