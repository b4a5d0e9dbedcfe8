internal import CLibuv
internal import Glibc

/// Calls back when the process receives a signal. Confined to its loop's thread.
///
/// It keeps the loop running; use ``Handle/unreference()`` where a signal alone should not. Signals that arrive close
/// together may be reported once. When the last one for a number is closed, the signal's default is back.
package final class Signal: Handle {
    private var body: (() -> Void)?

    /// - Parameter number: for example `SIGINT`.
    /// - Throws: `.invalidArgument` for numbers that cannot be handled, such as `SIGKILL`.
    package init(_ loop: Loop, _ number: Int32, _ body: @escaping () -> Void) throws(UVError) {
        self.body = body
        try super.init(loop, UV_SIGNAL) { (loop, raw) throws(UVError) in
            try UVError.check(uv_signal_init(loop, raw.assumingMemoryBound(to: uv_signal_t.self)))
        }
        let signal = raw.assumingMemoryBound(to: uv_signal_t.self)
        let result = uv_signal_start(signal, { handle, _ in Signal.of(handle).body?() }, number)
        if result < 0 {
            close()
            throw UVError(code: result)
        }
        // Who starts this program may have blocked the signal, and a blocked one would never come.
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, number)
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    override func willClose() {
        body = nil
    }
}
