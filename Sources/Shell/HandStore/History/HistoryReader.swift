import HandCore
import HandSync
import HandWire

/// Reads the histories of a store as they are at one moment. A history is a list's snapshots and the commits after
/// them; everything else that is known about it follows from these.
protocol HistoryReader {
    /// Returns consecutive frames up to revision `last`: about `bytes` bytes of them, and at least one if there is any.
    /// None is missing, except that trimming removes those up to the floor, the oldest first.
    func frames(
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int
    ) throws -> [StoredFrame]
    /// Calls `body` with the header of each commit up to revision `last`, in order. None is missing.
    func forEachHeader(
        of list: StoredList, after revision: Int, through last: Int, _ body: (CommitHeader) -> Void) throws
    /// Returns the head of the newest snapshot up to revision `last`.
    func snapshotHead(of list: StoredList, upTo last: Int) throws -> (revision: Int, head: SnapshotHead)?
    func snapshotItems(of list: StoredList, at revision: Int) throws -> [PackedItem]
    /// Returns the revisions of a list's snapshots, in order.
    func snapshots(of list: StoredList) throws -> [Int]
    /// Returns the clients of the known ones among some authors.
    func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID]
}

extension HistoryReader {
    func forEachHeader(
        of list: StoredList, after revision: Int, through last: Int, _ body: (CommitHeader) -> Void
    ) throws {
        var end = revision
        while end < last {
            let frames = try frames(of: list, after: end, through: last, about: Replay.bytesAtOnce)
            for frame in frames {
                body(try frame.header())
                end = frame.revision
            }
            if frames.isEmpty { throw list.missing(end + 1) }
        }
    }

    /// Returns what an authority needs to continue at the list's newest revision.
    ///
    /// - Parameter deck: the deck of the new list.
    func start(of list: StoredList, deck: Deck?) throws -> Authority.Start {
        try checkFloor(of: list)
        let (replay, sequences) = try replay(list, deck: deck, through: list.revision)
        return Authority.Start(
            list: list.number, logID: list.logID, hand: replay.hand, revision: replay.revision, deck: replay.deck,
            sequences: sequences, snapshotRevision: replay.start)
    }

    func state(of list: StoredList, at revision: Int) throws -> Hand {
        guard list.floor <= revision, revision <= list.revision else {
            throw StoreError.noSuchRevision(revision, oldest: list.floor, newest: list.revision)
        }
        return try replay(list, deck: nil, through: revision).replay.hand
    }

    /// Checks that the history begins with a snapshot at the floor, and continues after it.
    private func checkFloor(of list: StoredList) throws {
        guard try list.floor == 0 || snapshotHead(of: list, upTo: list.floor)?.revision == list.floor else {
            throw list.noSnapshot(at: list.floor)
        }
        if list.floor < list.revision { _ = try commit(list.floor + 1, of: list) }
    }

    /// Loads the newest snapshot up to `last`, replays the commits after it up to `last`, and compares every digest.
    /// Also returns the last submission of each client at that revision.
    func replay(
        _ list: StoredList, deck: Deck?, through last: Int
    ) throws -> (replay: Replay, sequences: [AuthorID: SequenceMark]) {
        let found = try snapshotHead(of: list, upTo: last)
        let hand = try found.map { try snapshot(of: list, at: $0.revision, $0.head) } ?? Hand(rules: list.rules)
        var replay = Replay(
            list: list.number, from: hand, revision: found?.revision ?? 0, deck: found.map(\.head.deck) ?? deck)
        var marks = Marks(found?.head.sequences ?? [:])
        try replay.run(through: last) {
            try frames(of: list, after: $0, through: last, about: Replay.bytesAtOnce)
        } each: {
            marks.note(SequenceMark(of: $0))
        }
        return (replay, try marks.byClient(self))
    }

    func snapshot(of list: StoredList, at revision: Int, _ head: SnapshotHead) throws -> Hand {
        let hand = Hand(packed: try snapshotItems(of: list, at: revision), rules: list.rules)
        guard hand.count == head.count, hand.digest == head.digest else {
            throw StoreError.damaged("the snapshot of list \(list.number) at revision \(revision) has another digest")
        }
        return hand
    }

    /// Returns the last submission of each client at a revision, and compares the digest there: who has a wrong copy
    /// must not write a snapshot that all others continue from.
    ///
    /// - Returns: nil if the revision is not in the history any more.
    func sequences(
        of list: StoredList, at revision: Int, digest: UInt64
    ) throws -> [AuthorID: SequenceMark]? {
        guard list.floor <= revision, revision <= list.revision else { return nil }
        let start = try snapshotHead(of: list, upTo: revision)
        var marks = Marks(start?.head.sequences ?? [:])
        var found = start?.head.digest ?? 0
        try forEachHeader(of: list, after: start?.revision ?? 0, through: revision) { header in
            marks.note(SequenceMark(of: header))
            found = header.digest
        }
        guard found == digest else {
            throw StoreError.failed("a snapshot of list \(list.number) did not match the list at revision \(revision)")
        }
        return try marks.byClient(self)
    }

    func commit(_ revision: Int, of list: StoredList) throws -> Commit {
        let found = try frames(of: list, after: revision - 1, through: revision, about: 1).first
        guard let found else { throw list.missing(revision) }
        return try found.commit()
    }

    /// Returns the revision up to which commits are to be forgotten. An interrupted trim is finished before more is
    /// cut.
    ///
    /// - Parameter oldest: the key of the oldest row of commits.
    func cut(of list: StoredList, keeping retention: Retention, now: UInt64, oldest: Int?) throws -> Int {
        if let oldest, oldest <= list.floor { return list.floor }
        return try retention.cut(floor: list.floor, revision: list.revision, now: now) {
            try commit($0, of: list).time
        }
    }
}

/// The last submission of each client, from a snapshot and the commits after it.
struct Marks {
    private let known: [AuthorID: SequenceMark]
    /// By author.
    private var later: [AuthorID: SequenceMark] = [:]

    init(_ known: [AuthorID: SequenceMark]) {
        self.known = known
    }

    /// Adds a commit. Call this for commits in order.
    mutating func note(_ mark: SequenceMark) {
        later[mark.author] = mark
    }

    /// - Throws: `StoreError.damaged` if one of the authors is unknown.
    func byClient(_ history: some HistoryReader) throws -> [AuthorID: SequenceMark] {
        let clients = later.isEmpty ? [:] : try history.clients(of: Array(later.keys))
        return try byClient { clients[$0] }
    }

    /// - Parameter client: the number of an author's client; nil if nobody knows the author.
    func byClient(_ client: (AuthorID) -> AuthorID?) throws(StoreError) -> [AuthorID: SequenceMark] {
        known.merging(try SequenceMark.ofClients(later.values, client: client)) { $0.sequence > $1.sequence ? $0 : $1 }
    }
}
