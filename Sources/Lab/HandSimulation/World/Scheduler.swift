import HeapModule

/// Virtual time. Events happen in the order of their times; events of the same time in the order in which they were
/// scheduled.
final class Scheduler {
    private struct Event: Comparable {
        let time: UInt64
        let order: Int
        let body: () -> Void

        static func < (left: Event, right: Event) -> Bool { (left.time, left.order) < (right.time, right.order) }
        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
    }

    /// Milliseconds since the start.
    private(set) var now: UInt64 = 0
    private var events = Heap<Event>()
    private var planned = 0

    func after(_ delay: UInt64, _ body: @escaping () -> Void) {
        planned += 1
        events.insert(Event(time: now + delay, order: planned, body: body))
    }

    func clear() {
        events = Heap()
    }

    /// Advances to `time` and runs all events until then, or stops after the event that makes `isOver` true.
    func run(until time: UInt64, isOver: () -> Bool) {
        while let next = events.min, next.time <= time, !isOver() {
            events.removeMin()
            now = max(now, next.time)
            next.body()
        }
        if !isOver() { now = max(now, time) }
    }
}
