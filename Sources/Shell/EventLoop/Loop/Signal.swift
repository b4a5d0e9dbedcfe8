internal import CLibuv
internal import Glibc

/// Calls back when the process receives a signal. Confined to its loop's thread.
///
/// The handle keeps the loop running, unless ``Handle/unreference()`` is called. Signals that arrive close together may
/// be reported only once. Closing the last handle of a signal restores the signal's default action.
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
        try check(uv_signal_start(signal, { handle, _ in Signal.of(handle).body?() }, number))
        Signal.unblock(number)
    }

    /// Unblocks a signal: a signal that the parent process has blocked would never arrive.
    package static func unblock(_ number: Int32) {
        var mask = sigset_t()
        sigemptyset(&mask)
        sigaddset(&mask, number)
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    override func willClose() {
        body = nil
    }
}
