import HandCore
import HandWire

/// The client side of one list: the list as the server has confirmed it, the submission on its way to the server, and
/// the edits that wait behind the submission.
///
///     confirmed ──inFlight──▶ · ──buffer──▶ view
///         │                   │              │
///       commit              commit′        commit″   (reported to the user)
///         ▼                   ▼              ▼
///     confirmed′ ─inFlight′─▶ · ─buffer′──▶ view′
///
/// Three states: synchronized (nothing pending), awaiting (`inFlight`), awaiting with buffer. Pure: no clock, no
/// socket.
public struct Replica: Sendable {
    /// The list as the server has confirmed it, at `revision` of the history `logID`.
    public internal(set) var confirmed: Hand
    public internal(set) var revision: Int
    public internal(set) var logID: UInt64
    /// The list as its user sees it.
    public internal(set) var view: Hand
    /// The submission that the server has or will get, transformed only over others' commits: at most one.
    public internal(set) var inFlight: InFlight?
    /// Later edits, joined, in portions that fit into one frame each.
    var buffer: [Portion] = []
    /// The last sequence that was used in this list's history. It wraps around: a faulty server may claim that the
    /// highest sequence was used; the result is then meaningless, but the client does not crash.
    public internal(set) var sequence: SequenceNumber
    /// This client's author number on the server; nil until it is known.
    public package(set) var author: AuthorID?
    /// The author numbers of the person who uses this client, with this client or another one: their commits can be
    /// undone here.
    package private(set) var persons: Set<AuthorID> = []
    var history = UndoHistory()
    /// The user's recent edits and moves, which others may override.
    var ownWork = OwnWork()
    /// Whether a digest did not match; then only a snapshot helps.
    public internal(set) var hasDiverged = false

    /// The approximate number of bytes of edits that are joined into one submission.
    package static let portionBytes = 256 << 10

    /// Creates an empty replica.
    public init() {
        self.init(confirmed: Hand(), revision: 0, logID: 0, sequence: 0)
    }

    init(author: AuthorID?, persons: Set<AuthorID>) {
        self.init()
        (self.author, self.persons) = (author, persons)
    }

    /// Creates a replica from a stored list.
    package init(confirmed: Hand, revision: Int, logID: UInt64, sequence: SequenceNumber) {
        self.confirmed = confirmed
        self.revision = revision
        self.logID = logID
        self.sequence = sequence
        view = confirmed
    }

    public enum State: Equatable, Sendable {
        case synchronized
        case awaiting
        case awaitingWithBuffer
    }

    public var state: State {
        if inFlight == nil && buffer.isEmpty { return .synchronized }
        return inFlight != nil && buffer.isEmpty ? .awaiting : .awaitingWithBuffer
    }

    public var hasPending: Bool { state != .synchronized }
    /// The number of user edits that wait behind the submission in flight.
    public var bufferedCount: Int { buffer.reduce(0) { $0 + $1.count } }
    /// All pending edits as deltas. Each is made on the list that the delta before it leaves, the first on `confirmed`.
    public var pending: [Delta] { (inFlight.map { [$0.delta] } ?? []) + buffer.map(\.delta) }
    /// The number of user edits that the server has not confirmed.
    public var unconfirmedCount: Int { (inFlight?.count ?? 0) + bufferedCount }

    /// The items that pending edits insert, move or change. O(size of the pending edits · log n).
    public var pendingItems: Set<ItemID> {
        var items: Set<ItemID> = []
        var list = confirmed
        for delta in pending {
            items.formUnion(delta.items.map(\.id))
            items.formUnion(delta.intentions(on: list).map(\.item.id))
            if let next = try? list.applying(delta) { list = next }
        }
        return items
    }

    /// Notes the author numbers of this client and of its person.
    ///
    /// If the person has a client that was not known here, its commits may have been taken for somebody else's. The
    /// history of undos is incomplete then: what can be undone has to be found in the commits (`UndoReconstruction`).
    package mutating func identify(as author: AuthorID?, persons: Set<AuthorID>) {
        let isIncomplete = !persons.subtracting([author].compactMap(\.self)).isSubset(of: self.persons)
        (self.author, self.persons) = (author, persons)
        guard isIncomplete, !history.isEmpty else { return }
        if hasPending { history.forgetOnceSettled() } else { history = UndoHistory() }
    }

    public var canUndo: Bool { history.canUndo }
    public var canRedo: Bool { history.canRedo }
    /// The approximate size of the undo history, in bytes.
    package var undoBytes: Int { history.bytes }
}

// MARK: - Own edits

extension Replica {
    /// Why the replica refused an edit.
    public enum EditError: Error, Equatable, Sendable {
        case misfit(Delta.Misfit)
        case violation(Rules.Violation)
        /// The edit alone is larger than a frame: it must be divided.
        case tooLarge(bytes: Int, limit: Int)
    }

    /// Applies an edit to the view, at once. With `isExact`, the server rejects the edit if the list has newer commits.
    ///
    /// - Returns: the edit, as a delta of the view.
    @discardableResult
    package mutating func edit(_ delta: Delta, isExact: Bool = false) throws(EditError) -> Delta {
        let edit = try apply(delta)
        enqueue(edit, isExact: isExact)
        history.record(inverse: edit.inverse)
        return delta
    }

    /// Undoes the user's newest edit that is not undone, except for words that somebody has changed since, or redoes
    /// the edit that was undone last. Returns nil if there is no such edit. If the step's own edit cannot be applied,
    /// the history stays as it was.
    package mutating func take(_ step: UndoStep) throws(EditError) -> Retraction? {
        var next = history
        guard let retraction = next.take(step) else { return nil }
        try make(step, retraction.delta, leaving: next)
        return retraction
    }

    /// Makes a step whose edit is known: a step that is replayed, or a step that reverses an edit older than the
    /// history.
    package mutating func take(_ step: UndoStep, _ delta: Delta) throws(EditError) {
        var next = history
        _ = next.take(step)
        try make(step, delta, leaving: next)
    }

    /// Applies the edit of a step. If the step reverses the last edit that waits exactly, neither of them is submitted:
    /// what others do to the items meanwhile stays.
    ///
    /// - Parameter rest: the history without the step's entry.
    private mutating func make(_ step: UndoStep, _ delta: Delta, leaving rest: UndoHistory) throws(EditError) {
        let edit = try apply(delta)
        let isOrdinary = history.isWithdrawn(step)
        history = rest
        if let last = buffer.indices.last, buffer[last].dropLast(reversedBy: delta) {
            history.made(step, inverse: edit.inverse, isWithdrawn: buffer[last].step == nil)
            if buffer[last].count == 0 { buffer.removeLast() }
        } else {
            history.made(step, inverse: edit.inverse)
            enqueue(edit, isOrdinary ? nil : step)
        }
    }

    /// Returns the approximate size of an edit in bytes, or throws if it does not fit into a frame.
    @discardableResult
    package static func checkSize(of delta: Delta) throws(EditError) -> Int {
        let (size, limit) = (delta.wireSize, portionBytes * 16)
        if size > limit { throw .tooLarge(bytes: size, limit: limit) }
        return size
    }

    /// Applies an edit to the view.
    private mutating func apply(_ delta: Delta) throws(EditError) -> Portion.Edit {
        let size = try Self.checkSize(of: delta)
        if delta.growth > 0, view.count + delta.growth > view.rules.maximumCount {
            throw .violation(.listFull(maximum: view.rules.maximumCount))
        }
        for item in delta.items {
            let violation = view.rules.violation(ofKind: item.kind, size: item.size, level: item.level)
            if let violation { throw .violation(violation) }
        }
        let highest = delta.changes.lazy.compactMap(\.level).max() ?? 0
        if highest > view.rules.maximumLevel {
            throw .violation(.levelTooHigh(highest, maximum: view.rules.maximumLevel))
        }
        do { try view.check(delta) } catch { throw .misfit(error) }
        let inverse = delta.inverted(on: view)
        do { try view.apply(delta) } catch { throw .misfit(error) }
        return Portion.Edit(delta: delta, inverse: inverse, size: size)
    }

    private mutating func enqueue(_ edit: Portion.Edit, isExact: Bool = false, _ step: UndoStep? = nil) {
        guard !edit.delta.isIdentity || isExact else { return }
        if isExact || step != nil || buffer.last?.hasRoom(for: edit.size) != true {
            buffer.append(
                Portion(
                    .identity, exactBase: isExact ? revision : nil, step: step, size: 0, count: 0, seen: revision))
        }
        // The last portion is accessed in place: if there were a copy, growing the portion would copy all its items.
        buffer[buffer.count - 1].append(edit)
    }

    /// Returns what to submit now: the edit already in flight (a resubmission), or the first portion of the buffer,
    /// which is then in flight; nil if nothing is pending.
    package mutating func takeSubmission(list: ListNumber) -> Submission? {
        if inFlight == nil, !buffer.isEmpty {
            sequence = sequence.next
            inFlight = InFlight(buffer.removeFirst(), sequence: sequence)
        }
        guard let inFlight else { return nil }
        // A snapshot of another history may have set the list back to an older revision.
        let lag = max(0, revision - inFlight.seen)
        return Submission(
            list: list, base: inFlight.exactBase ?? revision, sequence: inFlight.sequence,
            isExact: inFlight.exactBase != nil, lag: lag, delta: inFlight.delta)
    }
}

extension Delta {
    /// The approximate size of this delta on the wire in bytes, without encoding it.
    package var wireSize: Int {
        let items = self.items.reduce(0) { $0 + 14 + $1.size }
        let changes = self.changes.reduce(0) { $0 + 8 + $1.size }
        return items + changes + 5 * componentCount
    }
}
