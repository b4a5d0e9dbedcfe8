import Disk
import HandCore
import HandSync

extension SQLiteStore {
    package func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList {
        try write { database in
            let list = try ListRow.create(
                name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner, database)
            guard let list else { throw StoreError.listExists(name) }
            return list
        }
    }

    package func rename(_ list: StoredList, to new: String) throws {
        try write { database in
            var row = try ListRow.named(list, database)
            guard try ListRow.all("name = ?", [.text(new)], database).isEmpty else { throw StoreError.listExists(new) }
            try row.rename(to: new, database)
        }
    }

    package func list(named name: String) throws -> StoredList? {
        try read { try ListRow.all("name = ?", [.text(name)], $0).first?.list($0) }
    }

    package func lists(after name: String, limit: Int) throws -> [StoredList] {
        try read { database in
            try ListRow.all("name > ? ORDER BY name LIMIT ?", [.text(name), .init(limit)], database).map { row in
                do { return try row.list(database) } catch StoreError.damaged {
                    return try row.list(revision: row.floor, count: 0)
                }
            }
        }
    }

    package func name(of list: UInt32) throws -> String? {
        try read { database in
            let condition = "log_id & 4294967295 = ? AND name IS NOT NULL"
            return try ListRow.all(condition, [.integer(Int64(list))], database).first?.name
        }
    }

    package func listCount(of owner: String?) throws -> Int {
        try read { database in
            guard let owner else { return try database.integer("SELECT count(*) FROM lists") ?? 0 }
            let sql = "SELECT count(*) FROM lists WHERE owner = ?"
            return try database.integer(sql, [.text(owner)]) ?? 0
        }
    }

    package func size() throws -> Int {
        let pages = try pages()
        return (pages.all - pages.free) * pages.bytes
    }

    /// Rewrites the whole database in one transaction, and empties the write-ahead log, which then has all of it.
    package func compact() throws -> Compaction {
        try StoreFile.translating(path) {
            let before = try pages()
            try stamp(after: "VACUUM")
            let after = try pages()
            return Compaction(before: before.all * before.bytes, after: after.all * after.bytes)
        }
    }

    /// Returns how many pages the database has, how many of them are free, and the bytes of one.
    private func pages() throws -> (all: Int, free: Int, bytes: Int) {
        try read { database in
            func number(_ name: String) throws -> Int { try database.integer("PRAGMA \(name)") ?? 0 }
            return (try number("page_count"), try number("freelist_count"), try number("page_size"))
        }
    }
}
