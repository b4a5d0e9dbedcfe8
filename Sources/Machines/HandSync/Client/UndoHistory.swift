import HandCore
import HandWire

/// The user's edits that can be undone and redone. Others' edits in between stay.
///
/// An entry is the inverse of an edit, as of when it was made. Others' later edits are composed only next to the newest
/// entry, and passed down as entries are removed, so following a commit costs O(log n) at any depth. Editors' rebased
/// histories use the same scheme: an entry is transformed only when it is used.
///
/// The size of the history is bounded: the oldest entries are forgotten, regardless of how much was done between them.
public struct UndoHistory: Sendable {
    private var undos = Stack()
    private var redos = Stack()
    /// Whether everything is forgotten once nothing is pending. See `forgetOnceSettled`.
    private var isForgottenOnceSettled = false

    init() {}

    var isEmpty: Bool { undos.isEmpty && redos.isEmpty }
    var canUndo: Bool { !undos.isEmpty }
    var canRedo: Bool { !redos.isEmpty }

    private subscript(step: UndoStep) -> Stack {
        get { step == .undo ? undos : redos }
        _modify { if step == .undo { yield &undos } else { yield &redos } }
    }

    /// Records the inverse of a new edit by the user. Edits that were undone can no longer be redone.
    mutating func record(inverse: Delta, of origin: Origin? = nil) {
        redos = Stack()
        undos.push(inverse, of: origin)
    }

    /// Takes somebody else's edit of the list into account.
    mutating func follow(_ delta: Delta) {
        guard !delta.isIdentity else { return }
        undos.follow(delta)
        redos.follow(delta)
    }

    /// Notes that the commits will not be what the history says. A pending edit has overridden somebody else's edit, so
    /// its inverse would bring back the list as it was before both. Or another client of the person has committed an
    /// edit, which comes before the pending ones.
    mutating func forgetOnceSettled() { isForgottenOnceSettled = true }

    /// Nothing is pending any more. What can be undone may have to be found in the commits then
    /// (`UndoReconstruction`).
    mutating func settle() {
        if isForgottenOnceSettled { self = UndoHistory() }
    }

    /// Returns the edit of a step on the current list, or nil if there is nothing to undo or redo. The caller applies
    /// the edit and passes its inverse to `made`.
    mutating func take(_ step: UndoStep) -> Retraction? { self[step].pop() }

    /// - Parameter isWithdrawn: whether the step took back an edit that was never submitted.
    mutating func made(_ step: UndoStep, inverse: Delta, isWithdrawn: Bool = false, of origin: Origin? = nil) {
        self[step == .undo ? .redo : .undo].push(inverse, isWithdrawn, of: origin)
    }

    /// An edit that was found in a commit.
    struct Origin: Sendable {
        let edit: Delta
        let revision: Int
    }

    /// The revision of the edit that the step would reverse, if the edit was found in a commit.
    func revision(of step: UndoStep) -> Int? { self[step].entries.last?.origin?.revision }

    /// Removes the older edit that a step has reversed, although newer edits were in effect. Returns false if the step
    /// equals the reversal of none of the older edits.
    mutating func takeOlder(_ step: UndoStep, _ made: Delta) -> Bool { self[step].remove(reversedBy: made) }

    /// Whether the step makes an edit again that was withdrawn before it was submitted. Then it is an edit like any
    /// other: in the commits, there is no step that it reverses.
    func isWithdrawn(_ step: UndoStep) -> Bool { self[step].entries.last?.isWithdrawn ?? false }

    /// Notes a step whose entry does not say what the step did. Like somebody else's edit, it changes what the older
    /// entries of its stack do.
    mutating func followMade(_ step: UndoStep, inverse: Delta, of origin: Origin) {
        self[step].follow(origin.edit)
        made(step, inverse: inverse, of: origin)
    }

    /// Takes into account a commit that was not made with this client. The commit has an inverse if the same person
    /// made it.
    mutating func note(_ delta: Delta, _ inverse: Delta?) {
        if let inverse { recordElsewhere(delta, inverse: inverse) } else { follow(delta) }
    }

    /// Records an edit that the user made with another client. The edit is a step if it equals the edit that the step
    /// would make: a commit does not say whether it is a step. If no older edit is known, the edit may be a step that
    /// reverses one of those: what can be undone has to be found in the commits then (`UndoReconstruction`).
    private mutating func recordElsewhere(_ delta: Delta, inverse: Delta) {
        for step in [UndoStep.undo, .redo] {
            var next = self
            guard next.take(step)?.delta == delta else { continue }
            next.made(step, inverse: inverse)
            self = next
            return
        }
        if canUndo { record(inverse: inverse) } else { self = UndoHistory() }
    }

    /// The approximate size on the wire, in bytes.
    var bytes: Int { undos.bytes + redos.bytes }
}

/// An edit that undoes the user's own words, and nobody else's.
public struct Retraction: Equatable, Sendable {
    public let delta: Delta
    /// Words that somebody has put in place of the user's words, and that stay (`WordKeepingUndo.keptWords`), by their
    /// item's index after `delta`.
    public let keptWords: [Superseded]

    package init(delta: Delta, keptWords: [Superseded] = []) {
        self.delta = delta
        self.keptWords = keptWords
    }

    static let nothing = Retraction(delta: .identity)
}

/// A stack of inverse edits.
private struct Stack: Sendable {
    fileprivate struct Entry: Sendable {
        let inverse: Delta
        let isWithdrawn: Bool
        let origin: UndoHistory.Origin?
        /// What happened to the list between this entry and the next one. For the newest entry, this change is still
        /// being composed in `Stack.since`.
        var since = Delta.identity
        var bytes: Int

        /// What reverses the entry's edit after others' edits. A deletion that was refused, or that somebody else has
        /// undone, is not undone once more.
        func reversal(after since: Delta) -> (inverse: WordKeepingUndo, twice: Delta, delta: Delta) {
            let inverse = inverse.keepingWords(of: since)
            let delta = inverse.delta.transformed(over: since, as: .later)
            let twice = delta.deletingItems(insertedBy: since)
            return (inverse, twice, twice.isIdentity ? delta : delta.composed(with: twice))
        }
    }

    fileprivate var entries: [Entry] = []
    /// What happened since the newest entry.
    fileprivate var since = Composer()
    /// How many deltas `since` may compose before it is compacted.
    private var room = smallRoom
    private(set) var bytes = 0

    /// The maximum number of entries. Half of them are dropped together, as dropping one from the front moves all
    /// others.
    private static let depth = 2_000
    /// The maximum size of the entries on the wire, in bytes; the newest entry is always kept.
    private static let maxBytes = 4 << 20
    private static let smallRoom = 1_000

    var isEmpty: Bool { entries.isEmpty }

    mutating func follow(_ delta: Delta) {
        guard !entries.isEmpty else { return }
        since.append(delta)
        guard since.count > room else { return }
        // A composer retains content that later edits have replaced; a new one does not.
        let all = since.delta
        since = Composer(all)
        room = Self.smallRoom + all.componentCount
    }

    mutating func push(_ inverse: Delta, _ isWithdrawn: Bool = false, of origin: UndoHistory.Origin? = nil) {
        if !entries.isEmpty {
            let last = entries.count - 1
            entries[last].since = since.delta
            note(entries[last].since.wireSize, of: last)
        }
        entries.append(Entry(inverse: inverse, isWithdrawn: isWithdrawn, origin: origin, bytes: 0))
        note(inverse.wireSize, of: entries.count - 1)
        begin(since: .identity)
        if entries.count > Self.depth { forget(entries.count - Self.depth / 2) }
        if bytes > Self.maxBytes { forgetBytes() }
    }

    mutating func pop() -> Retraction? {
        guard let entry = entries.popLast() else { return nil }
        bytes -= entry.bytes
        let since = since.delta
        let (inverse, twice, delta) = entry.reversal(after: since)
        if let below = entries.last {
            let last = entries.count - 1
            note(-below.since.wireSize, of: last)
            entries[last].since = .identity
            begin(since: below.since)
            // The entry below did not see this edit, so later edits reach that entry as if this edit were undone,
            // except for the words of this edit that remain.
            self.since.append(inverse.left.transformed(over: inverse.delta, as: .later).invertedWords)
            self.since.append(since.transformed(over: inverse.delta, as: .earlier))
            self.since.append(twice)
        }
        let keptWords = inverse.keptWords.compactMap { keptWords in
            delta.map(index: keptWords.index).map {
                Superseded(index: $0, loss: keptWords.loss, loser: keptWords.loser)
            }
        }
        return Retraction(delta: delta, keptWords: keptWords)
    }

    /// Removes the older entry whose edit `reversal` has reversed, although newer entries were in effect. For the other
    /// entries, the edit and its reversal are like edits of somebody else. Returns false if there is no such entry.
    /// O(entries above it, each with all deltas that were made since)
    mutating func remove(reversedBy reversal: Delta) -> Bool {
        guard var above = entries.last?.origin?.edit, !reversal.isIdentity else { return false }
        above = above.composed(with: since.delta)
        for index in entries.indices.dropLast().reversed() {
            let entry = entries[index]
            guard let edit = entry.origin?.edit else { return false }
            above = entry.since.composed(with: above)
            if entry.reversal(after: above).delta == reversal {
                entries.remove(at: index)
                bytes -= entry.bytes
                if index > 0 {
                    let below = entries[index - 1].since
                    entries[index - 1].since = below.composed(with: edit).composed(with: entry.since)
                    note(entries[index - 1].since.wireSize - below.wireSize, of: index - 1)
                }
                follow(reversal)
                return true
            }
            above = edit.composed(with: above)
        }
        return false
    }

    fileprivate mutating func begin(since delta: Delta) {
        since = Composer(delta)
        room = Self.smallRoom
    }

    private mutating func note(_ more: Int, of index: Int) {
        entries[index].bytes += more
        bytes += more
    }

    private mutating func forgetBytes() {
        var (count, left) = (0, bytes)
        while left > Self.maxBytes / 2, count < entries.count - 1 {
            left -= entries[count].bytes
            count += 1
        }
        forget(count)
    }

    private mutating func forget(_ count: Int) {
        bytes -= entries.prefix(count).reduce(0) { $0 + $1.bytes }
        entries.removeFirst(count)
    }
}

extension Delta {
    /// Returns the deletion of the items that this delta inserts, although `other` has inserted them already. It is
    /// made on the list that this delta leaves.
    fileprivate func deletingItems(insertedBy other: Delta) -> Delta {
        let (mine, there) = (insertedItems, Set(other.insertedItems.map(\.id)))
        guard mine.contains(where: { there.contains($0.id) }) else { return .identity }
        let places = placed.filter { $0.mark == .inserted }.map(\.new).joined()
        let twice = zip(mine, places).filter { there.contains($0.0.id) }
        return (try? Delta(placing: twice.map { ($0.1, .delete(1)) })) ?? .identity
    }
}

// MARK: - Bytes

extension UndoHistory {
    /// The stored form: both stacks, each with its entries from the oldest on.
    package var encoded: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout WireWriter) {
        undos.write(to: &writer)
        redos.write(to: &writer)
        writer.flag(isForgottenOnceSettled)
    }

    package init(_ reader: inout WireReader) throws(WireError) {
        undos = try Stack(&reader)
        redos = try Stack(&reader)
        isForgottenOnceSettled = try reader.flag("forgotten once settled")
    }
}

extension UndoHistory: Equatable {
    public static func == (first: UndoHistory, second: UndoHistory) -> Bool { first.encoded == second.encoded }
}

extension Stack {
    fileprivate func write(to writer: inout WireWriter) {
        writer.varint(entries.count)
        for (index, entry) in entries.enumerated() {
            writer.delta(entry.inverse)
            writer.flag(entry.isWithdrawn)
            writer.delta(index + 1 == entries.count ? since.delta : entry.since)
        }
    }

    fileprivate init(_ reader: inout WireReader) throws(WireError) {
        var last = Delta.identity
        for _ in 0..<(try reader.count("undo steps", limit: reader.remaining)) {
            since = Composer(last)
            push(try reader.delta(), try reader.flag("withdrawn"))
            last = try reader.delta()
        }
        begin(since: last)
    }
}
