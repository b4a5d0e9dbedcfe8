import Disk
import HandCore
import HandSync

/// Replays one list's history from its beginning to its end, and compares everything that is stored alongside it.
struct HistoryCheck {
    typealias Fault = StoreReport.Problem

    /// The list at the revision where its rows end.
    let stored: StoredList
    private var replayed: Replay
    private var ids: Set<ItemID> = []
    private var marks = Marks([:])
    private let heads: [Int]
    private var lastOfClients: [AuthorID: SequenceNumber] = [:]
    /// The client of each author.
    private let clients: [AuthorID: AuthorID]

    var revision: Int { replayed.revision }
    var count: Int { replayed.hand.count }
    var digest: UInt64 { replayed.hand.digest }
    var snapshots: Int { heads.count }

    init(_ row: ListRow, _ database: SQLiteConnection) throws {
        heads = try database.snapshots(of: row.list(revision: 0, count: 0))
        let last = try database.integer("SELECT max(last) FROM commits WHERE list = ?", [row.number.stored])
        stored = try row.list(revision: max(last ?? 0, heads.last ?? 0), count: 0)
        clients = try AuthorRow.clients(database)
        replayed = Replay(list: row.number, from: Hand(rules: stored.rules), revision: 0, deck: row.firstDeck)
    }

    /// Starts where the history begins: with an empty list, or with the snapshot at the floor.
    mutating func start(_ database: SQLiteConnection) throws {
        if stored.floor > 0 {
            guard let (revision, head) = try database.snapshotHead(of: stored, upTo: stored.floor),
                revision == stored.floor
            else { throw Fault(revision: stored.floor, text: "the snapshot where the history begins is missing") }
            let hand = try database.snapshot(of: stored, at: revision, head)
            replayed = Replay(list: stored.number, from: hand, revision: revision, deck: head.deck)
            marks = Marks(head.sequences)
            lastOfClients = head.sequences.mapValues(\.sequence)
        }
        ids = Set(replayed.hand.ids)
        if ids.count != replayed.hand.count { throw Fault(revision: stored.floor, text: "an item occurs twice") }
    }

    mutating func replay(_ database: SQLiteConnection, _ progress: (Int) -> Void) throws {
        if stored.floor == 0, heads.first == 0 { try compareSnapshot(at: 0, database) }
        while replayed.revision < stored.revision {
            let frames = try nextFrames(database)
            guard !frames.isEmpty else {
                throw Fault(
                    revision: replayed.revision + 1, text: "missing; the list should be at \(stored.revision)")
            }
            for frame in frames {
                let next = replayed.revision + 1
                guard frame.revision == next else { throw Fault(revision: next, text: "missing") }
                let commit = try frame.commit()
                guard commit.revision == next else {
                    throw Fault(revision: next, text: "commit \(commit.revision) is stored in its place")
                }
                try check(commit)
                if heads.contains(next) { try compareSnapshot(at: next, database) }
            }
            progress(replayed.revision)
        }
    }

    /// Returns many frames at a time; if one of them is damaged, those before it.
    private func nextFrames(_ database: SQLiteConnection) throws -> [StoredFrame] {
        let first = replayed.revision + 1
        var last = stored.revision
        while true {
            do {
                return try database.frames(of: stored, after: replayed.revision, through: last, about: 1 << 20)
            } catch let error as StoreError {
                guard last > first else { throw error }
                last = first + (min(last, first + 1 << 20) - first) / 2
            }
        }
    }

    private mutating func check(_ commit: Commit) throws {
        let revision = commit.revision
        func fault(_ text: String) -> Fault { Fault(revision: revision, text: text) }
        guard let client = clients[commit.author] else { throw fault("author \(commit.author) is unknown") }
        if let last = lastOfClients.updateValue(commit.sequence, forKey: client), commit.sequence <= last {
            throw fault("author \(commit.author) has sequence \(commit.sequence) after \(last)")
        }
        marks.note(SequenceMark(of: commit))
        let deleted = commit.delta.reach <= replayed.hand.count ? commit.delta.deletedItems(on: replayed.hand) : []
        try replayed.apply(commit)
        for item in deleted { ids.remove(item.id) }
        for item in commit.delta.insertedItems {
            if !ids.insert(item.id).inserted { throw fault("item \(item.id) occurs twice") }
            if let violation = stored.rules.violation(of: item) {
                throw fault("the rules do not allow item \(item.id): \(Rejection.violation(violation))")
            }
        }
        if replayed.hand.count > stored.rules.maximumCount {
            throw fault("\(replayed.hand.count) items, but the rules allow \(stored.rules.maximumCount)")
        }
    }

    private func compareSnapshot(at revision: Int, _ database: SQLiteConnection) throws {
        do {
            guard let head = try database.snapshotHead(of: stored, upTo: revision)?.head else { return }
            let hand = try database.snapshot(of: stored, at: revision, head)
            let sequences = try marks.byClient { clients[$0] }
            if hand == replayed.hand, head.deck == replayed.deck, head.sequences == sequences { return }
        } catch let error as StoreError {
            throw Fault(revision: revision, text: "\(error)")
        }
        throw Fault(revision: revision, text: "the snapshot does not match the commits")
    }
}
