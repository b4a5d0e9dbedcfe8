import HandCore
import HandWire

/// The server's side of one list: puts submissions into one order, checks the rules, deals cards.
///
///     submit ──▶ numbered ──takeBatch──▶ being written ──wrote──▶ durable: visible to everybody
///                                              └─────writeFailed──▶ gone, as if never submitted
///
/// Sans-IO: writing happens outside, and several commits can be numbered while earlier ones are being written.
public struct Authority: Sendable {
    /// What a store knows of a list: enough to carry on.
    public struct Start: Sendable {
        public var list: ListNumber
        public var logID: UInt64
        public var hand: Hand
        public var revision: Int
        public var deck: Deck?
        /// The last submission of each client, by the number of the client's first author.
        public var sequences: [AuthorID: SequenceMark]
        /// The revision of the snapshot from which the list was read; 0 for none.
        public var snapshotRevision: Int

        public init(
            list: ListNumber, logID: UInt64, hand: Hand, revision: Int, deck: Deck?,
            sequences: [AuthorID: SequenceMark],
            snapshotRevision: Int = 0
        ) {
            self.snapshotRevision = snapshotRevision
            self.list = list
            self.logID = logID
            self.hand = hand
            self.revision = revision
            self.deck = deck
            self.sequences = sequences
        }
    }

    public let list: ListNumber
    public let logID: UInt64
    let limits: Limits

    /// The list with all numbered commits. The durable list is found by undoing the pending commits: with a second copy
    /// of the list, each edit would copy the parts that it touches.
    var present: State
    /// The revision that is durable: what everybody may see.
    public internal(set) var revision: Int
    /// The date of the newest commit, in milliseconds since 1970; 0 if nothing was committed since the list was
    /// loaded.
    var lastTime: UInt64 = 0
    /// The digest of the list at `revision`.
    var digest: UInt64

    var window: Window
    var ids: Set<NumberKey>
    /// The last numbered submission of each client, by the number of the client's first author.
    var sequences: [AuthorID: SequenceMark]
    /// The commits that are numbered and not yet durable, in order.
    var pending: [Pending] = []
    var past: RecentInverses
    /// The commits that became durable last, and the revision before them: most readers get these next. Nil if they are
    /// not contiguous in memory.
    package internal(set) var latest: (base: Int, run: FrameRun)?
    /// Components that were looked at for the last submission.
    package internal(set) var work = 0
    /// How many of the pending commits are in the batch that is being written.
    var inWriting = 0

    struct State {
        var hand: Hand
        var revision: Int
        var deck: Deck?
        /// Roughly how many bytes of memory the items take.
        var bytes: Int
    }

    /// A commit that is not durable yet. Its delta is in the window.
    struct Pending {
        /// The author, the sequence and the revision.
        let mark: SequenceMark
        /// The number of items, and the list's digest, after the commit.
        let count: Int
        let digest: UInt64
        /// The submission, to be decided again if others' commits come first.
        let origin: Origin
        /// The identity if `before` is there.
        var inverse: Delta
        /// The deck before the commit.
        let deck: Deck?
        /// `State.bytes` before the commit.
        let bytes: Int
        /// The client's entry in `sequences` before the commit.
        let previous: SequenceMark?
        /// The list before a large commit, whose inverse would take long to make or to apply, or much memory.
        let before: Hand?

        /// The client's number, which is the same under all its names.
        var client: AuthorID { origin.author.client }
    }

    /// A submission as it came.
    package struct Origin: Sendable {
        package let submission: Submission
        package let author: Author
        /// The connection over which the submission came.
        package let connection: ConnectionID
        /// Whether nothing that came over this connection has been decided yet: then a refusal has to be a commit.
        package let isFirst: Bool

        package init(_ submission: Submission, by author: Author, over connection: ConnectionID, isFirst: Bool) {
            (self.submission, self.author, self.connection, self.isFirst) = (submission, author, connection, isFirst)
        }
    }

    public init(_ start: Start, limits: Limits) {
        list = start.list
        logID = start.logID
        self.limits = limits
        present = State(
            hand: start.hand, revision: start.revision, deck: start.deck, bytes: start.hand.bytesInMemory)
        revision = start.revision
        digest = start.hand.digest
        window = Window(floor: start.revision, count: start.hand.count, limit: limits.windowBytes)
        ids = start.hand.idKeys
        sequences = start.sequences
        past = RecentInverses(revision: start.revision)
    }

    // MARK: What everybody may see

    /// The list with all durable commits. O(pending · log n), where only the pending commits before the first large one
    /// count.
    public var hand: Hand {
        let large = pending.firstIndex { $0.before != nil }
        var hand = large.flatMap { pending[$0].before } ?? present.hand
        for commit in pending[..<(large ?? pending.count)].reversed() { hand.takeBack(commit.inverse) }
        return hand
    }

    /// The list as it was at a revision; nil if it is too long ago to tell without the store. O(commits since · log n).
    public func hand(at revision: Int) -> Hand? {
        guard (past.floor...self.revision).contains(revision) else { return nil }
        var hand = hand
        for later in stride(from: self.revision, to: revision, by: -1) { hand.takeBack(past.inverse(of: later)) }
        return hand
    }

    public var deck: Deck? { pending.isEmpty ? present.deck : pending[0].deck }
    public var rules: Rules { present.hand.rules }
    /// Number of items, of which some may be in commits that are not durable yet.
    public var count: Int { present.hand.count }
    /// The oldest revision from which frames can be read here.
    public var floor: Int { window.floor }
    /// Bytes of commits that are kept in memory.
    package var windowBytes: Int { window.byteCount }
    /// Whether commits wait to be written or are being written.
    public var isBusy: Bool { !pending.isEmpty }

    /// Whether a batch was taken whose outcome is not yet known.
    package var isWriting: Bool { inWriting > 0 }

    /// Whether a submission of that author's client is numbered and not yet durable.
    package func isPending(_ author: Author) -> Bool { pending.contains { $0.client == author.client } }

    /// The last submission of an author's client that is durable; nil if there is none.
    package func lastMark(of author: Author) -> SequenceMark? {
        let first = pending.first { $0.client == author.client }
        return first.map(\.previous) ?? sequences[author.client]
    }

    /// The last sequence of an author's client that is durable.
    public func lastSequence(of author: Author) -> SequenceNumber { lastMark(of: author)?.sequence ?? 0 }

    /// Whether an author's client, who has the list at `revision`, can tell its own commits among the commits that
    /// follow. A client recognizes its commits by its present author number, so it cannot if the last of its commits
    /// was made under another name.
    package func recognizesOwnCommits(_ author: Author, after revision: Int) -> Bool {
        guard let last = sequences[author.client] else { return true }
        return last.author == author.number || last.revision <= revision
    }

    /// Whether a client has commits after `revision`.
    package func hasCommits(of author: Author, after revision: Int) -> Bool {
        sequences[author.client].map { $0.revision > revision } ?? false
    }

    /// Frames of durable commits after `cursor`, about `bytes` of them, and the revision that they lead to.
    ///
    /// - Precondition: `floor ≤ cursor ≤ revision`.
    public func frames(after cursor: Int, about bytes: Int) -> (runs: [FrameRun], revision: Int) {
        window.frames(after: cursor, through: revision, about: bytes)
    }

    /// The newest commit that is numbered, durable or not; nil if none is in memory. O(its size).
    public var newest: Commit? { window.head > window.floor ? window.commit(at: window.head) : nil }

    // MARK: Writing

    /// The commits numbered since the last batch, to be written in one transaction. Empty while a batch is under way.
    public mutating func takeBatch() -> CommitBatch {
        guard inWriting == 0 else { return CommitBatch(list: list, expected: revision, entries: []) }
        inWriting = pending.count
        let entries = pending.map {
            CommitBatch.Entry(
                mark: $0.mark, count: $0.count, digest: $0.digest, frame: window.frame(at: $0.mark.revision))
        }
        return CommitBatch(list: list, expected: revision, entries: entries, logID: logID, digest: digest)
    }

    /// The batch is durable: from now on it is visible.
    ///
    /// - Returns: the written commits, if freeing their memory takes long.
    @discardableResult
    public mutating func wrote() -> Spent? {
        guard inWriting > 0 else { return nil }
        var isLarge = false
        for index in 0..<inWriting {
            let isInvertible = pending[index].before == nil
            past.append(&pending[index].inverse, of: pending[index].mark.revision, isKept: isInvertible)
            isLarge = isLarge || !isInvertible
        }
        let base = revision
        revision = pending[inWriting - 1].mark.revision
        digest = pending[inWriting - 1].digest
        let spent = isLarge ? Spent(written: Array(pending[..<inWriting])) : nil
        if inWriting == pending.count { pending.clear() } else { pending.removeFirst(inWriting) }
        inWriting = 0
        show(from: base)
        return spent
    }

    /// The commits after `base` have become durable.
    mutating func show(from base: Int) {
        latest = window.run(after: base, through: revision, atMost: Self.latestBytes).map { (base, $0) }
        window.trim(through: revision)
    }

    /// The most bytes of `latest`: no more bytes are kept together than are sent at a time.
    private static let latestBytes = 256 << 10

    /// Commits that are durable, with the inverses that would have undone them.
    public struct Spent: Sendable {
        let written: [Pending]
    }

    /// The batch could not be written: the list falls back to its durable value. Returns the lost submissions,
    /// including those numbered after the batch, because they are based on it.
    public mutating func writeFailed() -> [(author: AuthorID, sequence: SequenceNumber)] {
        takeBackPending().map { (author: $0.mark.author, sequence: $0.mark.sequence) }
    }

    /// Undoes the commits that are numbered but not durable, as if they had never been numbered. Returns them, in
    /// order.
    mutating func takeBackPending() -> [Pending] {
        for commit in pending.reversed() {
            sequences[commit.client] = commit.previous
            let made = window.delta(at: commit.mark.revision)
            let deleted = commit.before.map { made.packedItems(deletedFrom: $0) } ?? Array(commit.inverse.items)
            ids.replace(made.items, by: deleted)
        }
        present = State(
            hand: hand, revision: revision, deck: deck, bytes: pending.first?.bytes ?? present.bytes)
        inWriting = 0
        window.truncate(to: revision)
        return exchange(&pending, with: [])
    }
}

extension Hand {
    var idKeys: Set<NumberKey> {
        var keys = Set<NumberKey>(minimumCapacity: count)
        for id in ids { keys.insert(NumberKey(id.rawValue)) }
        return keys
    }
}

/// The last submission to a list that an author or a client made, and the revision that it became.
public struct SequenceMark: Equatable, Sendable {
    public var author: AuthorID
    public var sequence: SequenceNumber
    public var revision: Int
    /// Whether the submission was refused.
    public var isRefused: Bool

    public init(author: AuthorID, sequence: SequenceNumber, revision: Int, isRefused: Bool = false) {
        self.author = author
        self.sequence = sequence
        self.revision = revision
        self.isRefused = isRefused
    }

    public init(of commit: Commit) {
        self.init(
            author: commit.author, sequence: commit.sequence, revision: commit.revision,
            isRefused: commit.refusal != nil)
    }

    package init(of header: CommitHeader) {
        self.init(
            author: header.author, sequence: header.sequence, revision: header.revision, isRefused: header.isRefusal)
    }

    /// Returns the last submission of each client, given the last submissions of authors.
    ///
    /// - Parameter client: the number of an author's client; nil if nobody knows the author.
    package static func ofClients(
        _ authors: some Sequence<SequenceMark>, client: (AuthorID) -> AuthorID?
    ) throws(StoreError) -> [AuthorID: SequenceMark] {
        var marks: [AuthorID: SequenceMark] = [:]
        for mark in authors {
            guard let client = client(mark.author) else {
                throw .damaged("author \(mark.author), who has edited a list, is unknown")
            }
            if let other = marks[client], other.sequence > mark.sequence { continue }
            marks[client] = mark
        }
        return marks
    }
}
