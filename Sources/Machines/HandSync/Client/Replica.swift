import HandCore
import HandWire

/// The client's side of one list: what the server has confirmed, what is on its way there, and what waits behind it.
///
///     confirmed ──inFlight──▶ · ──buffer──▶ view
///         │                   │              │
///       commit              commit′        commit″   (what its user is told)
///         ▼                   ▼              ▼
///     confirmed′ ─inFlight′─▶ · ─buffer′──▶ view′
///
/// Three states: synchronized (neither), awaiting (`inFlight`), awaiting with buffer. Pure: no clock, no socket.
public struct Replica: Sendable {
    /// The list as the server has confirmed it, at `revision` of the history `logID`.
    public internal(set) var confirmed: Hand
    public internal(set) var revision: Int
    public internal(set) var logID: UInt64
    /// The list as its user sees it.
    public internal(set) var view: Hand
    /// The submission that the server has or will get, unchanged but for what others do: at most one.
    public internal(set) var inFlight: InFlight?
    /// Edits made since, joined, in portions that fit into a frame each.
    var buffer: [Portion] = []
    /// The last sequence that was used in this list's history. It is counted with wrapping round: a server that lies may say
    /// that the last of all was used, and gets nonsense, but no client down.
    public internal(set) var sequence: UInt64
    /// This client's number on the server; nil until it is known.
    public var author: UInt64?
    var history = UndoHistory()
    /// The user's recent edits and moves, which others may override.
    var ownWork = OwnWork()
    /// Whether a digest did not agree; then only a snapshot helps.
    public internal(set) var hasDiverged = false

    public struct InFlight: Equatable, Sendable {
        public let sequence: UInt64
        var carried: CarriedDelta
        /// The revision on which alone it may be committed; nil for any.
        public let exactBase: Int?
        /// The number of user edits joined in it; not kept on disk, where it counts as one.
        public let count: Int
        /// The revision that its author saw when making the first of them; it may have been carried over newer ones since.
        public internal(set) var seen: Int
        /// Whether it has been carried over the difference to a snapshot since it was sent. If it still arrives as it was sent, the
        /// server may make something else of it.
        public internal(set) var hasPassedSnapshot = false

        public init(sequence: UInt64, delta: Delta, exactBase: Int?, count: Int = 1, seen: Int) {
            self.sequence = sequence
            carried = CarriedDelta(delta)
            self.exactBase = exactBase
            self.count = count
            self.seen = seen
        }

        /// Made on `confirmed`.
        public var delta: Delta { carried.delta }

        /// Whether it has become a part of a snapshot that counts this client's sequences up to `lastSequence`. O(n).
        func isContained(in snapshot: Hand, lastSequence: UInt64) -> Bool {
            guard sequence < lastSequence else { return sequence == lastSequence }
            // A later one was sent before it was known what became of this one: what it inserts tells.
            let inserted = Set(delta.items.map(\.id))
            return snapshot.contains { inserted.contains($0.id) }
        }
    }

    /// Edits that go out together. They are joined in a `Composer` while one's own edits come, and are a `CarriedDelta` while
    /// others' commits pass, so that neither pays for the other's form each time.
    struct Portion: Sendable {
        private var joined: CarriedDelta
        private var composer: Composer?
        let exactBase: Int?
        private(set) var size: Int
        /// Edits in it, as they were made.
        private(set) var count = 1
        /// The revision that its author saw when making the first of them.
        var seen: Int

        init(_ delta: Delta, exactBase: Int?, size: Int, seen: Int) {
            joined = CarriedDelta(delta)
            self.exactBase = exactBase
            self.size = size
            self.seen = seen
        }

        var delta: Delta { composer?.delta ?? joined.delta }

        func hasRoom(for size: Int) -> Bool { exactBase == nil && self.size + size <= Replica.portionBytes }

        mutating func append(_ delta: Delta, size: Int) {
            var composer = composer ?? Composer(joined.delta)
            self.composer = nil
            composer.append(delta)
            self.composer = composer
            self.size += size
            count += 1
        }

        /// The edits, for commits that pass.
        var carried: CarriedDelta {
            get { composer.map { CarriedDelta($0.delta) } ?? joined }
            _modify {
                if let composer { joined = CarriedDelta(composer.delta) }
                composer = nil
                yield &joined
            }
        }
    }

    /// About how many bytes of edits are joined into one submission.
    package static let portionBytes = 256 << 10

    /// A replica that knows nothing yet.
    public init() {
        self.init(confirmed: Hand(), revision: 0, logID: 0, sequence: 0)
    }

    /// A replica that goes on from what was kept.
    public init(confirmed: Hand, revision: Int, logID: UInt64, sequence: UInt64) {
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
    /// Everything pending as deltas, each on the list that the one before leaves, the first on `confirmed`.
    public var pending: [Delta] { (inFlight.map { [$0.delta] } ?? []) + buffer.map(\.delta) }
    /// The number of user edits that the server has not confirmed.
    public var unconfirmedCount: Int { (inFlight?.count ?? 0) + bufferedCount }

    /// The items that pending edits insert, move or change. O(size of what is pending · log n).
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

    public var canUndo: Bool { history.canUndo }
    public var canRedo: Bool { history.canRedo }
    /// About how many bytes the undo history takes.
    package var undoBytes: Int { history.bytes }
}

// MARK: - Own edits

extension Replica {
    /// Why the replica refused an edit.
    public enum EditError: Error, Equatable, Sendable {
        case misfit(Delta.Misfit)
        case violation(Rules.Violation)
        /// The edit alone is larger than the frame that would carry it: divide it.
        case tooLarge(bytes: Int, limit: Int)
    }

    /// Makes an edit on the view, at once. `isExact` asks the server to reject it if the list has moved on meanwhile.
    ///
    /// - Returns: the edit, as a delta of the view.
    @discardableResult
    public mutating func edit(_ delta: Delta, isExact: Bool = false) throws(EditError) -> Delta {
        let inverse = try make(delta, isExact: isExact)
        history.record(inverse: inverse)
        return delta
    }

    /// Takes back the newest of one's own edits that still stands, but for words that somebody has changed since; nil if there is
    /// none.
    public mutating func undo() throws(EditError) -> Retraction? {
        try step {
            $0.undo()
        } record: {
            $0.undid(inverse: $1)
        }
    }

    /// Makes again what was undone last; nil if there is nothing.
    public mutating func redo() throws(EditError) -> Retraction? {
        try step {
            $0.redo()
        } record: {
            $0.redid(inverse: $1)
        }
    }

    /// One step through the history; if the edit cannot be made, the history is as it was.
    private mutating func step(
        _ take: (inout UndoHistory) -> Retraction?, record: (inout UndoHistory, Delta) -> Void
    ) throws(EditError) -> Retraction? {
        var next = history
        guard let retraction = take(&next) else { return nil }
        record(&next, try make(retraction.delta, isExact: false))
        history = next
        return retraction
    }

    /// About how many bytes an edit takes, if they fit into the frame that would carry it.
    @discardableResult
    package static func checkSize(of delta: Delta) throws(EditError) -> Int {
        let (size, limit) = (delta.wireSize, portionBytes * 16)
        if size > limit { throw .tooLarge(bytes: size, limit: limit) }
        return size
    }

    /// Makes an edit and returns what takes it back.
    private mutating func make(_ delta: Delta, isExact: Bool) throws(EditError) -> Delta {
        let size = try Self.checkSize(of: delta)
        if delta.growth > 0, view.count + delta.growth > view.rules.maximumCount {
            throw .violation(.listFull(maximum: view.rules.maximumCount))
        }
        for item in delta.items {
            if let violation = view.rules.violation(ofKind: item.kind, size: item.size) { throw .violation(violation) }
        }
        do { try view.check(delta) } catch { throw .misfit(error) }
        let inverse = delta.inverted(on: view)
        do { try view.apply(delta) } catch { throw .misfit(error) }
        enqueue(delta, size: size, isExact: isExact)
        return inverse
    }

    private mutating func enqueue(_ delta: Delta, size: Int, isExact: Bool) {
        guard !delta.isIdentity || isExact else { return }
        // The last portion is asked in its place: a copy of it would make it copy all its items when it grows.
        if let last = buffer.indices.last, !isExact, buffer[last].hasRoom(for: size) {
            buffer[last].append(delta, size: size)
        } else {
            buffer.append(Portion(delta, exactBase: isExact ? revision : nil, size: size, seen: revision))
        }
    }

    /// What to submit now: what is in flight already (a resubmission), or the first portion of the buffer, which thereby
    /// gets into flight; nil if nothing is pending.
    public mutating func takeSubmission(list: UInt64) -> Submission? {
        if inFlight == nil, !buffer.isEmpty {
            let portion = buffer.removeFirst()
            sequence &+= 1
            inFlight = InFlight(
                sequence: sequence, delta: portion.delta, exactBase: portion.exactBase, count: portion.count,
                seen: portion.seen)
        }
        guard let inFlight else { return nil }
        // A snapshot of another history may have taken the list back.
        let lag = max(0, revision - inFlight.seen)
        return Submission(
            list: list, base: inFlight.exactBase ?? revision, sequence: inFlight.sequence,
            isExact: inFlight.exactBase != nil, lag: lag, delta: inFlight.delta)
    }
}

extension Delta {
    /// About how many bytes this delta takes on the wire, without encoding it.
    package var wireSize: Int {
        let items = self.items.reduce(0) { $0 + 14 + $1.size }
        let changes = itemChanges.reduce(0) { $0 + 8 + $1.size }
        return items + changes + 5 * componentCount
    }
}
