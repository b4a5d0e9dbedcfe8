import EventLoop

/// A player's clock: that of a loop, or that of a test.
package protocol Alarm: AnyObject {
    /// Nanoseconds.
    var now: UInt64 { get }
    /// Calls back once. Replaces a call that is still to come.
    func start(after milliseconds: UInt64, _ body: @escaping () -> Void)
    func stop()
    func close()
}

/// Rings by the loop's time, which is that of its last look at the clock. By `now` it can ring too early.
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
