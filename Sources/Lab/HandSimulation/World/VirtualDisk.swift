import HandCore
import HandSync

/// The disk below a simulated store: all writes, and the writes that survive a crash.
///
/// Later writes see a write at once. Once a write is flushed, readers see it and it survives a crash, as with SQLite's
/// log with full synchronization. Before the flush, a crash leaves the write, or removes it together with all later
/// writes.
///
/// `@unchecked Sendable` is safe: one thread runs a simulation.
final class VirtualDisk: @unchecked Sendable {
    private var contents = StoreContents()
    private(set) var durable = StoreContents()
    private var unflushed: [StoreContents] = []
    private var flushed = 0
    /// Whether writes fail without any effect.
    var isFull = false
    /// Whether the next flush fails. The flush's writes may or may not be durable.
    var failsFlush = false
    /// Whether each write is flushed at once.
    let flushesAtOnce: Bool
    /// The number of states that a standby may lag behind.
    var lag = 0
    private var former: [StoreContents] = []
    /// Receives every state that becomes durable.
    var onDurable: (StoreContents) -> Void = { _ in }

    init(flushesAtOnce: Bool = false) {
        self.flushesAtOnce = flushesAtOnce
    }

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

    /// A standby that lags behind takes over. Returns false if no standby lags behind.
    func failOver(_ random: inout SplitMix64) -> Bool {
        guard let before = former.randomElement(using: &random) else { return false }
        contents.goBack(to: before)
        (durable, former) = (contents, [])
        return true
    }

    /// Unflushed writes survive or not, but a write never survives without all earlier ones. Returns how many survive,
    /// and how many are lost.
    func crash(_ random: inout SplitMix64) -> (kept: Int, lost: Int) {
        let kept = random.next(below: unflushed.count + 1)
        flush(flushed + kept)
        defer { unflushed = [] }
        contents = durable
        isFull = false
        failsFlush = false
        return (kept, unflushed.count)
    }
}
