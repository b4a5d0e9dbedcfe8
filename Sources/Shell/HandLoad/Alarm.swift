import EventLoop

/// The time as a player has it: a loop's, or a test's own.
package protocol Alarm: AnyObject {
    /// Nanoseconds.
    var now: UInt64 { get }
    /// Calls back once, in place of what was to be called before.
    func start(after milliseconds: UInt64, _ body: @escaping () -> Void)
    func stop()
    func close()
}

/// Rings after a loop's milliseconds, which are counted from the loop's last look at the clock: by `now` that can be too early.
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
