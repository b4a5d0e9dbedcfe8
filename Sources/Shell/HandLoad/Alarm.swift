import EventLoop

/// A player's clock: the clock of a loop or of a test.
package protocol Alarm: AnyObject {
    /// The time in nanoseconds.
    var now: UInt64 { get }
    /// Calls back once. Replaces a pending call.
    func start(after milliseconds: UInt64, _ body: @escaping () -> Void)
    func stop()
    func close()
}

/// An alarm that rings by the loop's time, which lags behind the clock. Compared with `now`, the alarm can ring too
/// early.
final class LoopAlarm: Alarm {
    private let timer: Timer

    init(_ loop: Loop) {
        timer = Timer(loop)
    }

    var now: UInt64 { Loop.monotonicNanoseconds }
    func start(after milliseconds: UInt64, _ body: @escaping () -> Void) { timer.start(after: milliseconds, body) }
    func stop() { timer.stop() }
    func close() { timer.close() }
}
