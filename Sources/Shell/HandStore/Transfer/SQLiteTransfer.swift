import Disk
import HandCore
import HandSync

/// Reads a whole store from a file of the present format.
struct SQLiteSource: StoreSource {
    let database: SQLiteConnection
    var history: any HistoryReader { database }

    func authors(after number: AuthorID, limit: Int) throws -> [AuthorRecord] {
        try AuthorRow.all("number > ? ORDER BY number LIMIT ?", [number.stored, .init(limit)], database).map(\.record)
    }

    func lists() throws -> [ListRecord] {
        let deletions = try DeletionRow.all("TRUE", [], database)
        let deleted = Dictionary(deletions.map { ($0.list, $0) }) { $1 }
        return try ListRow.all("TRUE ORDER BY number", [], database).map { row in
            let list = try row.list(database)
            var former = list
            let deletion = row.isDeleted ? deleted[row.number] : nil
            former.name = deletion?.name ?? list.name
            if row.isDeleted, deletion == nil {
                throw StoreError.damaged("list \(row.number) has neither a name nor a deletion")
            }
            let sql = "SELECT owner FROM lists WHERE number = ?"
            return ListRecord(
                stored: list, digest: nil, deckSeed: row.deckSeed,
                owner: try database.first(sql, [row.number.stored])?.optionalText(0),
                deletion: deletion.map {
                    DeletedList(deletion: $0.number, list: former, time: $0.time, person: $0.person)
                })
        }
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

    func add(_ hand: Hand, _ head: SnapshotHead, of list: StoredList, at revision: Int) throws {
        try SQLiteStore.write(hand, head, of: list.number, at: revision, database)
    }

    func add(_ frames: [StoredFrame], of list: StoredList) throws {
        guard let last = frames.last else { return }
        let values: [SQLiteValue] = [list.number.stored, .init(last.revision), .bytes(frames.flatMap(\.bytes))]
        try database.run(CheckedTable.commits.insertion, CheckedTable.commits.arguments(values))
    }

    func finish(_ list: ListRecord, _ hand: Hand) throws {
        try ListRow.insert(list, database)
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
