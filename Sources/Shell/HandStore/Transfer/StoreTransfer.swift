import HandCore
import HandSync
import HandWire

/// Has one store take all that another one has: authors, lists with their histories, deleted ones among them, and who may do what.
///
/// Every commit is replayed on the way, and every digest and snapshot compared. Numbers stay what they are, so that frames stay what
/// they are.
struct StoreTransfer {
    /// What is to become of a list that is damaged.
    enum Damage {
        /// Nothing is copied.
        case throwError
        /// The others are copied; the closure hears at which revision the list is wrong.
        case skip((ListRecord, Int, StoreError) -> Void)
    }

    let source: any StoreSource
    let target: any StoreTarget
    var damage = Damage.throwError
    /// What a list's history is called from now on. Another name keeps clients from going on where they were.
    var logID: (UInt64) -> UInt64 = { $0 }
    /// Hears of a list, the revision that has been copied, and the last one.
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
    private func copyAuthors() throws -> [UInt64: UInt64] {
        var clients: [UInt64: UInt64] = [:]
        var last: UInt64 = 0
        while true {
            let authors = try source.authors(after: last, limit: Self.authorsAtOnce)
            guard let end = authors.last else { return clients }
            try target.add(authors)
            for author in authors { clients[author.author.number] = author.author.client }
            last = end.author.number
        }
    }

    private func copy(_ list: ListRecord, _ clients: [UInt64: UInt64], _ revision: inout Int) throws {
        let stored = list.stored
        let base = try source.base(of: list)
        var replay = Replay(list: stored.number, from: base.hand, revision: stored.floor, deck: base.deck)
        var marks: [UInt64: SequenceMark] = [:]
        for mark in base.marks { marks[mark.author] = mark }
        let snapshots = try source.snapshots(of: stored)
        func keepSnapshot() throws {
            guard snapshots.contains(replay.revision) else { return }
            let (hand, deck) = try source.snapshot(of: stored, at: replay.revision)
            guard hand == replay.hand, deck == replay.deck else {
                throw StoreError.damaged("the snapshot at revision \(replay.revision) is not what the commits lead to")
            }
            let marks = try SequenceMark.ofClients(marks.values) { clients[$0] }
            try target.add(ListState(hand: hand, deck: deck, marks: marks), of: stored, at: replay.revision)
        }
        try keepSnapshot()
        while replay.revision < stored.revision {
            let frames = try source.frames(of: stored, after: replay.revision, about: Self.bytesAtOnce)
            if frames.isEmpty { throw StoreError.damaged("revision \(replay.revision + 1) is missing") }
            try target.add(frames, of: stored)
            for frame in frames {
                let commit = try frame.commit()
                try replay.apply(commit)
                marks[commit.author] = SequenceMark(of: commit)
                revision = replay.revision
                try keepSnapshot()
            }
            progress(list.name, replay.revision, stored.revision)
        }
        guard replay.hand.count == stored.count, list.digest == nil || list.digest == replay.hand.digest else {
            throw StoreError.damaged(
                "list \(stored.number) is not at revision \(stored.revision) what its commits make of it")
        }
        try target.finish(list, replay.hand, marks)
    }
}

/// A store of which all is read, as it is at one moment.
protocol StoreSource {
    /// In the order of their numbers.
    func authors(after number: UInt64, limit: Int) throws -> [AuthorRecord]
    /// Deleted ones among them.
    func lists() throws -> [ListRecord]
    /// A list as it is where what is kept of its history begins. Each client's last submission by then is among the marks.
    func base(of list: ListRecord) throws -> (hand: Hand, deck: Deck?, marks: [SequenceMark])
    /// At least one, if there is one up to the list's revision.
    func frames(of list: StoredList, after revision: Int, about bytes: Int) throws -> [StoredFrame]
    /// The revisions of its snapshots.
    func snapshots(of list: StoredList) throws -> Set<Int>
    func snapshot(of list: StoredList, at revision: Int) throws -> (hand: Hand, deck: Deck?)
    func lastNumbers() throws -> LastNumbers
}

/// An empty store that is filled, as one transaction.
protocol StoreTarget {
    func add(_ authors: [AuthorRecord]) throws
    /// What `body` adds is not there if it throws. A target that cannot take back a part of what it has is given up then.
    func atomically(_ body: () throws -> Void) throws
    /// A snapshot.
    func add(_ state: ListState, of list: StoredList, at revision: Int) throws
    /// To be called with all commits of a list in their order.
    func add(_ frames: [StoredFrame], of list: StoredList) throws
    /// A list whose commits and snapshots are there.
    ///
    /// - Parameter marks: the last submission of each author, as far as it is known.
    func finish(_ list: ListRecord, _ hand: Hand, _ marks: [UInt64: SequenceMark]) throws
    func finish(_ numbers: LastNumbers, rules: [UInt8]?) throws
}

/// What a store says of a list, items and commits aside.
struct ListRecord {
    var stored: StoredList
    /// At the newest revision; nil where it is not kept beside the commits.
    let digest: UInt64?
    let deckSeed: UInt64?
    let owner: String?
    /// Nil for a list that is there. The list inside is the same.
    let deletion: DeletedList?

    /// For a deleted list, what it was called.
    var name: String { deletion?.list.name ?? stored.name }
}

struct AuthorRecord {
    let author: Author
    /// The client's id, hashed.
    let client: ClientID
    let person: String
}

/// All that a snapshot has of a list.
struct ListState {
    let hand: Hand
    let deck: Deck?
    /// By client.
    let marks: [UInt64: SequenceMark]
}

/// The highest numbers that were given to anybody. They are not given again.
struct LastNumbers {
    var lists: UInt64 = 0
    var authors: UInt64 = 0
    var deletions: UInt64 = 0
}
