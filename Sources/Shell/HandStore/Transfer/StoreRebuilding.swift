import Disk
import HandSync

/// Copies what can be read of a damaged file of SQLite, as when a page of it was lost. `StoreSalvage` then mends the
/// lists of which rows are missing.
struct StoreRebuilding {
    private let source: SQLiteConnection
    private let target: SQLiteConnection

    /// Puts a sound copy in the place of the file, if the file itself is damaged.
    ///
    /// - Parameter file: nobody else uses it.
    /// - Returns: whether the file itself was damaged.
    /// - Throws: `StoreError.damaged` if no list can be read.
    static func run(_ file: String) throws -> Bool {
        let source = try SQLiteDatabase(file)
        defer { try? source.close() }
        // Not in a transaction, whose end would fail once a damaged page was read.
        let verdict = try? source.withConnection { try $0.first("PRAGMA integrity_check(1)")?.text(0) }
        if verdict == "ok" { return false }
        let copy = file + ".rebuilt"
        try StoreBackup.removeAll(copy)
        defer { try? StoreBackup.removeAll(copy) }
        try StoreFile.makePrivate(copy)
        let target = try SQLiteDatabase(copy)
        try source.withConnection { source in
            try target.write { target in
                try Schema.create(target)
                try StoreRebuilding(source: source, target: target).run()
            }
        }
        try target.close()
        try? source.close()
        try StoreBackup.removeAll(file)
        try StoreBackup.move(copy, to: file)
        return true
    }

    private func run() throws {
        try target.run("DELETE FROM clock")
        for table in ["lists", "authors", "deleted_lists", "access", "clock"] { try copy(table, by: ["rowid"]) }
        try target.run("INSERT INTO clock SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM clock)")
        try target.run("DELETE FROM sqlite_sequence")
        try copy("sqlite_sequence", by: ["rowid"])
        let lists = try target.all("SELECT number FROM lists", [], { $0.value(0) })
        if lists.isEmpty { throw StoreError.damaged("no list in it can be read") }
        for list in lists {
            try copy("commits", of: list, by: ["last"])
            try copy("snapshots", of: list, by: ["revision", "part"])
        }
    }

    /// Copies the rows of a table; if some cannot be read, from both ends up to these.
    private func copy(_ table: String, of list: SQLiteValue? = nil, by keys: [String]) throws {
        for order in ["ASC", "DESC"] {
            let places = keys.map { "\($0) \(order)" }.joined(separator: ", ")
            let sql = "SELECT * FROM \(table) \(list == nil ? "" : "WHERE list = ?") ORDER BY \(places)"
            do {
                let rows = try source.rows(sql, list.map { [$0] } ?? [])
                while let row = try rows.next() { try insert((0..<row.count).map(row.value), into: table) }
                return
            } catch let error as SQLiteError where error.kind == .damaged {}
        }
    }

    private func insert(_ values: [SQLiteValue], into table: String) throws {
        let places = Array(repeating: "?", count: values.count).joined(separator: ", ")
        try target.run("INSERT OR IGNORE INTO \(table) VALUES (\(places))", values)
    }
}
