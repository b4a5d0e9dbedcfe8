import Disk
import HandCore
import HandSync
import HandWire

/// Replays one list's history from its beginning to its end, and compares everything that is stored alongside it.
struct HistoryCheck {
    struct Fault: Error {
        let revision: Int?
        let text: String
    }

    private let row: ListRow
    var stored: StoredList { row.list }
    private var replayed: Replay
    private var ids: Set<ItemID> = []
    private var marks: [UInt64: SequenceMark] = [:]
    private var heads: [Int] = []
    private var lastOfClients: [UInt64: UInt64] = [:]
    /// The client of each author.
    private var clients: [UInt64: UInt64] = [:]

    var revision: Int { replayed.revision }
    var digest: UInt64 { replayed.hand.digest }
    var snapshots: Int { heads.count }

    init(_ row: ListRow) {
        self.row = row
        replayed = Replay(
            list: row.list.number, from: Hand(rules: row.list.rules), revision: 0, deck: row.firstDeck)
    }

    /// Starts where the history begins: with an empty list, or with the snapshot at the floor.
    mutating func start(_ database: SQLiteConnection) throws {
        let number = stored.number
        heads = try database.all(
            "SELECT revision FROM snapshot_heads WHERE list = ? ORDER BY revision", [number.stored]
        ) { try $0.integer(0) }
        if stored.floor > 0 {
            guard heads.contains(stored.floor) else {
                throw Fault(revision: stored.floor, text: "the snapshot where the history begins is missing")
            }
            let (hand, revision, deck) = try SQLiteStore.snapshot(of: stored, upTo: stored.floor, database)
            replayed = Replay(list: number, from: hand, revision: revision, deck: deck)
        }
        ids = Set(replayed.hand.ids)
        if ids.count != replayed.hand.count { throw Fault(revision: stored.floor, text: "an item occurs twice") }
        clients = try AuthorRow.clients(database)
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
                return try SQLiteStore.frames(
                    of: stored, after: replayed.revision, through: last, about: 1 << 20, database)
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
        marks[commit.author] = SequenceMark(of: commit)
        let deleted = commit.delta.reach <= replayed.hand.count ? commit.delta.deletedItems(on: replayed.hand) : []
        try replayed.apply(commit)
        for item in deleted { ids.remove(item.id) }
        for item in commit.delta.insertedItems {
            if !ids.insert(item.id).inserted { throw fault("item \(item.id) occurs twice") }
            if let violation = stored.rules.violation(of: item.content) {
                throw fault("the rules do not allow item \(item.id): \(Rejection.violation(violation))")
            }
        }
        if replayed.hand.count > stored.rules.maximumCount {
            throw fault("\(replayed.hand.count) items, but the rules allow \(stored.rules.maximumCount)")
        }
    }

    private func compareSnapshot(at revision: Int, _ database: SQLiteConnection) throws {
        do {
            let (hand, _, deck) = try SQLiteStore.snapshot(of: stored, upTo: revision, database)
            guard hand != replayed.hand || deck != replayed.deck else { return }
        } catch let error as StoreError {
            throw Fault(revision: revision, text: "\(error)")
        }
        throw Fault(revision: revision, text: "the snapshot does not match the commits")
    }

    /// Compares the end with what the store says about it.
    func finish(_ database: SQLiteConnection) throws {
        let beyond = "SELECT min(revision) FROM commits WHERE list = ? AND revision > ?"
        if let next = try database.integer(beyond, [stored.number.stored, .init(stored.revision)]) {
            throw Fault(revision: next, text: "the commits continue after revision \(stored.revision)")
        }
        if replayed.hand.count != stored.count {
            throw Fault(revision: nil, text: "\(replayed.hand.count) items, but there should be \(stored.count)")
        }
        if let last = heads.last, last > stored.revision {
            throw Fault(revision: last, text: "there is a snapshot of a revision that was never reached")
        }
        let kept = try SQLiteStore.sequences(of: row, database)
        for (author, mark) in marks where kept[author] != mark {
            throw Fault(revision: mark.revision, text: "the stored last sequence of author \(author) is wrong")
        }
        for (author, mark) in kept where marks[author] == nil && mark.revision > stored.floor {
            throw Fault(revision: mark.revision, text: "author \(author) has a sequence that no commit has")
        }
    }
}
