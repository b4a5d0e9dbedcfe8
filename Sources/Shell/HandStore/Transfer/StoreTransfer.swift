import HandCore
import HandSync
import HandWire

/// Copies everything from one store to another: authors, lists with their histories, including deleted lists, and
/// access rules.
///
/// Replays every commit on the way, and compares every digest and snapshot. Numbers stay the same, so that frames stay
/// the same.
struct StoreTransfer {
    /// What to do with a damaged list.
    enum Damage {
        /// Nothing is copied.
        case throwError
        /// The other lists are copied; the closure gets the first wrong revision of the list.
        case skip((ListRecord, Int, StoreError) -> Void)
    }

    let source: any StoreSource
    let target: any StoreTarget
    var damage = Damage.throwError
    /// Returns the new log id of a list's history. A different id keeps clients from continuing where they were.
    var logID: (UInt64) -> UInt64 = { $0 }
    /// Called with a list's name, the last copied revision, and the list's last revision.
    var progress: (String, Int, Int) -> Void = { _, _, _ in }

    private static let authorsAtOnce = 1_000
    private static let bytesAtOnce = 64 << 10

    /// - Complexity: that of replaying all commits.
    func run(rules: [UInt8]?) throws {
        let clients = try copyAuthors()
        for var list in try source.lists() {
            list.stored.logID = logID(list.stored.logID)
            var revision = list.stored.floor
            do {
                try target.atomically { try copy(list, clients, &revision) }
            } catch let error as StoreError {
                guard case .skip(let note) = damage, case .damaged = error else { throw error }
                note(list, revision + 1, error)
            }
        }
        try target.finish(try source.lastNumbers(), rules: rules)
    }

    /// - Returns: the client of each author.
    private func copyAuthors() throws -> [AuthorID: AuthorID] {
        var clients: [AuthorID: AuthorID] = [:]
        var last: AuthorID = 0
        while true {
            let authors = try source.authors(after: last, limit: Self.authorsAtOnce)
            guard let end = authors.last else { return clients }
            try target.add(authors)
            for author in authors { clients[author.author.number] = author.author.client }
            last = end.author.number
        }
    }

    private func copy(_ list: ListRecord, _ clients: [AuthorID: AuthorID], _ revision: inout Int) throws {
        let (stored, history) = (list.stored, source.history)
        let firstDeck = list.deckSeed.map { Deck(seed: $0) }
        let base = try history.replay(stored, deck: firstDeck, through: stored.floor)
        guard base.replay.revision == stored.floor else { throw stored.noSnapshot(at: stored.floor) }
        var (replay, marks) = (base.replay, Marks(base.sequences))
        let snapshots = Set(try history.snapshots(of: stored))
        func keepSnapshot() throws {
            guard snapshots.contains(replay.revision),
                let (revision, head) = try history.snapshotHead(of: stored, upTo: replay.revision)
            else { return }
            let hand = try history.snapshot(of: stored, at: revision, head)
            guard hand == replay.hand, head.deck == replay.deck,
                try head.sequences == marks.byClient({ clients[$0] })
            else {
                throw StoreError.damaged("the snapshot at revision \(replay.revision) does not match the commits")
            }
            try target.add(hand, head, of: stored, at: revision)
        }
        try keepSnapshot()
        while replay.revision < stored.revision {
            let frames = try history.frames(
                of: stored, after: replay.revision, through: stored.revision, about: Self.bytesAtOnce)
            if frames.isEmpty { throw stored.missing(replay.revision + 1) }
            try target.add(frames, of: stored)
            for frame in frames {
                let commit = try frame.commit()
                try replay.apply(commit)
                marks.note(SequenceMark(of: commit))
                revision = replay.revision
                try keepSnapshot()
            }
            progress(list.name, replay.revision, stored.revision)
        }
        guard replay.hand.count == stored.count, list.digest == nil || list.digest == replay.hand.digest else {
            throw StoreError.damaged(
                "list \(stored.number) at revision \(stored.revision) does not match its commits")
        }
        try target.finish(list, replay.hand)
    }
}

/// A store that is read as a whole, as it is at one moment.
protocol StoreSource {
    var history: any HistoryReader { get }
    /// Returns authors in the order of their numbers.
    func authors(after number: AuthorID, limit: Int) throws -> [AuthorRecord]
    /// Returns all lists, including deleted ones.
    func lists() throws -> [ListRecord]
    func lastNumbers() throws -> LastNumbers
}

/// An empty store that is filled in one transaction.
protocol StoreTarget {
    func add(_ authors: [AuthorRecord]) throws
    /// Runs `body`. If `body` throws, rolls back what it added; a target that cannot roll back a part of its
    /// transaction must not be used any more.
    func atomically(_ body: () throws -> Void) throws
    func add(_ hand: Hand, _ head: SnapshotHead, of list: StoredList, at revision: Int) throws
    /// Adds commits. Call this with all commits of a list in order.
    func add(_ frames: [StoredFrame], of list: StoredList) throws
    /// Adds a list whose commits and snapshots were added.
    func finish(_ list: ListRecord, _ hand: Hand) throws
    func finish(_ numbers: LastNumbers, rules: [UInt8]?) throws
}

/// A list in a store, without its items and commits.
struct ListRecord {
    var stored: StoredList
    /// The digest at the newest revision, or nil if the store does not keep it apart from the commits.
    let digest: UInt64?
    let deckSeed: UInt64?
    let owner: String?
    /// The deletion of this list, or nil if it is not deleted.
    let deletion: DeletedList?

    /// The list's name; for a deleted list, its former name.
    var name: String { deletion?.list.name ?? stored.name }
}

struct AuthorRecord {
    let author: Author
    /// The client's id, hashed.
    let client: ClientID
    let person: String
}

/// The highest numbers in use. They are never used again.
struct LastNumbers {
    var lists: UInt64 = 0
    var authors: UInt64 = 0
    var deletions: UInt64 = 0
}
