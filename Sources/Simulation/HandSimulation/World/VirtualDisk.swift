import HandCore
import HandSync
import HandWire

/// The disk below a simulated store: what was written, and how much of it a crash leaves.
///
/// A write is there for later writes at once; it is seen by readers and survives a crash once it was flushed, as SQLite's log does with full
/// synchronization. Until then a crash takes it, with all that came behind it, or leaves it.
///
/// `@unchecked Sendable` is safe: a simulation is run by one thread.
final class VirtualDisk: @unchecked Sendable {
    private var contents = StoreContents()
    private(set) var durable = StoreContents()
    private var unflushed: [StoreContents] = []
    private var flushed = 0
    /// Writes fail, and nothing of them is there.
    var isFull = false
    /// The next flush fails: nobody knows what of it is there.
    var failsFlush = false
    /// Whether each write is flushed as it is made.
    let flushesAtOnce: Bool
    /// How many of its former states a standby may be behind.
    var lag = 0
    private var former: [StoreContents] = []
    /// Hears of every state that has become durable.
    var onDurable: (StoreContents) -> Void = { _ in }

    init(flushesAtOnce: Bool = false) {
        self.flushesAtOnce = flushesAtOnce
    }

    /// How many writes there were.
    var writes: Int { flushed + unflushed.count }

    func read<Value>(_ body: (StoreContents) throws -> Value) rethrows -> Value {
        try body(durable)
    }

    func write<Value>(_ body: (inout StoreContents) throws -> Value) throws -> Value {
        if isFull { throw StoreError.failed("no space left on the disk") }
        var next = contents
        let value = try body(&next)
        contents = next
        unflushed.append(next)
        if flushesAtOnce { flush(writes) }
        return value
    }

    /// Makes the first `count` writes durable.
    func flush(_ count: Int) {
        guard count > flushed else { return }
        if lag > 0 { former = former.suffix(lag - 1) + [durable] }
        durable = unflushed[count - flushed - 1]
        unflushed.removeFirst(count - flushed)
        flushed = count
        onDurable(durable)
    }

    /// A standby takes over that is behind.
    func failOver(_ random: inout SplitMix64) {
        guard let before = former.randomElement(using: &random) else { return }
        contents.goBack(to: before)
        (durable, former) = (contents, [])
    }

    /// What was not flushed is there or not, but never a write without the ones before it.
    func crash(_ random: inout SplitMix64) {
        flush(flushed + random.next(below: unflushed.count + 1))
        unflushed = []
        contents = durable
        isFull = false
        failsFlush = false
    }
}
