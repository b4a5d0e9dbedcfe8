import HeapModule

/// Virtual time: what is to happen, in the order of its time, and of its planning where times are equal.
final class Scheduler {
    private struct Event: Comparable {
        let time: UInt64
        let order: Int
        let body: () -> Void

        static func < (left: Event, right: Event) -> Bool { (left.time, left.order) < (right.time, right.order) }
        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
    }

    /// Milliseconds since the beginning.
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

    /// Goes on to that time, with all that happens until then, or until `isOver` says so after an event.
    func run(until time: UInt64, isOver: () -> Bool) {
        while let next = events.min, next.time <= time, !isOver() {
            events.removeMin()
            now = max(now, next.time)
            next.body()
        }
        if !isOver() { now = max(now, time) }
    }
}
