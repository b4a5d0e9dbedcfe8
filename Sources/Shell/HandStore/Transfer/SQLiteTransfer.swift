import Disk
import HandCore
import HandSync
import HandWire

/// Reads a whole store from a file of the present format.
struct SQLiteSource: StoreSource {
    let database: SQLiteConnection

    func authors(after number: UInt64, limit: Int) throws -> [AuthorRecord] {
        try AuthorRow.all("number > ? ORDER BY number LIMIT ?", [number.stored, .init(limit)], database).map(\.record)
    }

    func lists() throws -> [ListRecord] {
        let deletions = try DeletionRow.all("TRUE", [], database)
        let deleted = Dictionary(deletions.map { ($0.list, $0) }) { $1 }
        return try ListRow.all("TRUE ORDER BY number", [], database).map { row in
            var former = row.list
            let deletion = row.isDeleted ? deleted[row.list.number] : nil
            former.name = deletion?.name ?? row.list.name
            if row.isDeleted, deletion == nil {
                throw StoreError.damaged("list \(row.list.number) has neither a name nor a deletion")
            }
            let sql = "SELECT owner FROM lists WHERE number = ?"
            return ListRecord(
                stored: row.list, digest: nil, deckSeed: row.deckSeed,
                owner: try database.first(sql, [row.list.number.stored])?.optionalText(0),
                deletion: deletion.map {
                    DeletedList(deletion: $0.number, list: former, time: $0.time, person: $0.person)
                })
        }
    }

    func base(of list: ListRecord) throws -> (hand: Hand, deck: Deck?, marks: [SequenceMark]) {
        let stored = list.stored
        guard let row = try ListRow.find(stored.number, database) else { throw StoreError.noSuchList(list.name) }
        let marks = try SQLiteStore.sequences(of: row, database).values.filter { $0.revision <= stored.floor }
        guard stored.floor > 0 else { return (Hand(rules: stored.rules), row.firstDeck, marks) }
        let (hand, deck) = try snapshot(of: stored, at: stored.floor)
        return (hand, deck, marks)
    }

    func frames(of list: StoredList, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try SQLiteStore.frames(of: list, after: revision, through: list.revision, about: bytes, database)
    }

    func snapshots(of list: StoredList) throws -> Set<Int> {
        Set(
            try database.all("SELECT revision FROM snapshot_heads WHERE list = ?", [list.number.stored]) {
                try $0.integer(0)
            })
    }

    func snapshot(of list: StoredList, at revision: Int) throws -> (hand: Hand, deck: Deck?) {
        let found = try SQLiteStore.snapshot(of: list, upTo: revision, database)
        guard found.revision == revision else {
            throw list.noSnapshot(at: revision)
        }
        return (found.hand, found.deck)
    }

    func lastNumbers() throws -> LastNumbers {
        func last(_ table: String) throws -> UInt64 {
            let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?"
            return UInt64(try database.integer(sql, [.text(table)]) ?? 0)
        }
        return LastNumbers(lists: try last("lists"), authors: try last("authors"), deletions: try last("deleted_lists"))
    }
}

/// Fills an empty store of the present format.
struct SQLiteTarget: StoreTarget {
    let database: SQLiteConnection

    func add(_ authors: [AuthorRecord]) throws {
        for author in authors { try AuthorRow.insert(author, database) }
    }

    func atomically(_ body: () throws -> Void) throws {
        try database.savepoint(body)
    }

    func add(_ state: SnapshotContents, of list: StoredList, at revision: Int) throws {
        try SQLiteStore.writeSnapshot(of: list.number, state.hand, revision: revision, deck: state.deck, database)
    }

    func add(_ frames: [StoredFrame], of list: StoredList) throws {
        guard let last = frames.last else { return }
        let values: [SQLiteValue] = [list.number.stored, .init(last.revision), .bytes(frames.flatMap(\.bytes))]
        try database.run(CheckedTable.commits.insertion, CheckedTable.commits.arguments(values))
    }

    func finish(_ list: ListRecord, _ hand: Hand, _ marks: [UInt64: SequenceMark]) throws {
        try ListRow.insert(list, authors: marks.count, database)
        try SQLiteStore.write(marks, of: list.stored.number, database)
        if let deletion = list.deletion { try DeletionRow.insert(deletion, database) }
    }

    func finish(_ numbers: LastNumbers, rules: [UInt8]?) throws {
        for (table, last) in [
            ("lists", numbers.lists), ("authors", numbers.authors), ("deleted_lists", numbers.deletions),
        ] {
            try database.run("DELETE FROM sqlite_sequence WHERE name = ?", [.text(table)])
            try database.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [.text(table), last.stored])
        }
        if let rules { try SQLiteStore.remember(rules, database) }
    }
}
