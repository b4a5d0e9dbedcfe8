import Disk
import HandSync
import HandWire

extension SQLiteStore {
    package func delete(_ list: StoredList, by person: String, at time: UInt64) throws {
        try write { database in
            var row = try ListRow.named(list, database)
            try row.rename(to: nil, database)
            try DeletionRow.create(of: list.number, called: list.name, by: person, at: time, database)
        }
    }

    package func undelete(_ deletion: UInt64, as name: String) throws {
        try write { database in
            guard let found = try DeletionRow.all("number = ?", [deletion.stored], database).first,
                var row = try ListRow.find(found.list, database)
            else { throw StoreError.notDeleted(name) }
            guard try ListRow.all("name = ?", [.text(name)], database).isEmpty else {
                throw StoreError.listExists(name)
            }
            try row.rename(to: name, database)
            try found.remove(database)
        }
    }

    package func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList] {
        // Clamping is safe: no table counts up to the highest numbers.
        let before = Int64(clamping: number)
        return try read { database in
            let ids = lists.map { "WHERE log_id & 4294967295 IN (\($0.map(String.init).joined(separator: ",")))" } ?? ""
            let condition = """
                number < ?1 AND (?2 IS NULL OR name = ?2) AND list IN (SELECT number FROM lists \(ids))
                ORDER BY number DESC LIMIT ?3
                """
            return try DeletionRow.all(condition, [.integer(before), .init(name), .init(limit)], database).compactMap {
                deletion in
                guard var list = try ListRow.find(deletion.list, database)?.list(database) else { return nil }
                list.name = deletion.name
                let age = try database.integer(
                    "SELECT passed - start FROM clock, deleted_lists WHERE number = ?", [deletion.number.stored])
                return DeletedList(
                    deletion: deletion.number, list: list, time: deletion.time, person: deletion.person,
                    age: UInt64(clamping: age ?? 0))
            }
        }
    }

    package func purgeOldest(of owner: String?) throws -> String? {
        try giveUp("?1 IS NULL OR owner = ?1", [.init(owner)], limit: 1).first
    }

    package func sweep(keeping kept: UInt64, passed: UInt64) throws -> Sweep {
        // Most of the time there are no deletions, and then nothing is written.
        guard try read({ try $0.integer("SELECT 1 FROM deleted_lists LIMIT 1") }) != nil else { return Sweep() }
        if passed > 0 {
            try write { _ = try $0.run("UPDATE clock SET passed = passed + ?", [.integer(Int64(clamping: passed))]) }
        }
        let condition = "start <= (SELECT passed FROM clock) - ?1"
        let due = "SELECT 1 FROM deleted_lists WHERE \(condition) OR list NOT IN (SELECT number FROM lists) LIMIT 1"
        let arguments: [SQLiteValue] = [.integer(Int64(clamping: kept))]
        guard try read({ try $0.integer(due, arguments) }) != nil else { return Sweep() }
        let names = try giveUp(condition, arguments, limit: RemovalStep.lists)
        guard names.isEmpty else { return Sweep(names: names, hasMore: true) }
        return try write { database in
            let unfinished = "list NOT IN (SELECT number FROM lists) ORDER BY number LIMIT 1"
            guard let deletion = try DeletionRow.all(unfinished, [], database).first else { return Sweep() }
            if try Self.removePart(of: deletion.list, database) { try deletion.remove(database) }
            return Sweep(hasMore: true)
        }
    }

    /// Removes the rows of deleted lists, the oldest first, and returns the lists' former names. The sweep removes the
    /// rows that belong to them.
    private func giveUp(_ condition: String, _ arguments: [SQLiteValue], limit: Int) throws -> [String] {
        try write { database in
            try database.all(
                """
                DELETE FROM lists WHERE name IS NULL AND number IN (
                    SELECT list FROM deleted_lists JOIN lists ON list = lists.number
                    WHERE \(condition) ORDER BY deleted_lists.number LIMIT \(limit))
                RETURNING (SELECT name FROM deleted_lists WHERE list = lists.number)
                """, arguments
            ) { try $0.text(0) }
        }
    }

    /// - Returns: whether nothing is left.
    private static func removePart(of list: ListNumber, _ database: SQLiteConnection) throws -> Bool {
        for (table, key, step) in RemovalStep.tables {
            let removed = try database.run(
                """
                DELETE FROM \(table) WHERE list = ?1 AND (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE list = ?1 ORDER BY \(key) LIMIT ?2)
                """, [list.stored, .init(step)])
            if removed == step { return false }
        }
        return true
    }
}

/// A row of `deleted_lists` whose checksum is right.
struct DeletionRow {
    let number: UInt64
    let list: ListNumber
    /// The list's former name.
    let name: String
    let time: UInt64
    let person: String

    private init(_ row: SQLiteRow) throws {
        number = try row.bits(0)
        try row.check(.deletedLists, "deletion \(number)")
        list = try row.number(1)
        name = try row.text(2)
        time = try row.bits(3)
        person = try row.text(4)
    }

    static func all(
        _ condition: String, _ arguments: [SQLiteValue], _ database: SQLiteConnection
    ) throws -> [DeletionRow] {
        let sql = "SELECT \(CheckedTable.deletedLists.selection) FROM deleted_lists WHERE \(condition)"
        return try database.all(sql, arguments, DeletionRow.init)
    }

    static func create(
        of list: ListNumber, called name: String, by person: String, at time: UInt64, _ database: SQLiteConnection
    ) throws {
        let values: [SQLiteValue] = [list.stored, .text(name), .integer(Int64(clamping: time)), .text(person)]
        try database.run(
            """
            INSERT INTO deleted_lists (list, name, time, person, start)
            VALUES (?, ?, ?, ?, (SELECT passed FROM clock))
            """, values)
        let number = SQLiteValue.integer(database.lastInsertedRow)
        try database.run(
            "UPDATE deleted_lists SET checksum = ? WHERE number = ?",
            [.integer(CheckedTable.deletedLists.checksum([number] + values)), number])
    }

    static func insert(_ deleted: DeletedList, _ database: SQLiteConnection) throws {
        let values: [SQLiteValue] = [
            deleted.deletion.stored, deleted.list.number.stored, .text(deleted.list.name),
            .integer(Int64(clamping: deleted.time)), .text(deleted.person),
        ]
        try database.run(CheckedTable.deletedLists.insertion, CheckedTable.deletedLists.arguments(values))
    }

    func remove(_ database: SQLiteConnection) throws {
        try database.run("DELETE FROM deleted_lists WHERE number = ?", [number.stored])
    }
}
