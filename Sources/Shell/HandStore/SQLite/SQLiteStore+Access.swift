import Disk

/// A store keeps a copy of its access rules: for backups, and to know that there were rules if their file gets lost.
extension SQLiteStore {
    /// Stores the access rules. Call this whenever they change.
    package func remember(accessRules rules: [UInt8]) throws {
        try write { try Self.remember(rules, $0) }
    }

    static func remember(_ rules: [UInt8], _ database: SQLiteConnection) throws {
        try database.run("DELETE FROM access")
        try database.run("INSERT INTO access (rules) VALUES (?)", [.bytes(rules)])
    }

    /// Returns the rules that a folder's store or a backup keeps, or nil if there never were any or there is no store.
    package static func accessRules(in path: String) throws -> [UInt8]? {
        try reading(path) { database in
            guard try Schema.isThere(database, StoreVerifier.file(at: path)) else { return nil }
            return try database.first("SELECT rules FROM access")?.bytes(0)
        } ?? nil
    }

    /// Whether a folder's store or a backup has a list of that name.
    package static func hasList(_ name: String, in path: String) throws -> Bool {
        try reading(path) { try !ListRow.all("name = ?", [.text(name)], $0).isEmpty } ?? false
    }

    /// Reads a folder's store or a backup, even while a server uses it; nil if there is none.
    private static func reading<Result>(
        _ path: String, _ body: (SQLiteConnection) throws -> Result
    ) throws -> Result? {
        let file = StoreVerifier.file(at: path)
        guard try PrivateFile.exists(file) else { return nil }
        return try StoreFile.translating(file) {
            let database = try StoreFile.opened(file)
            defer { try? database.close() }
            return try database.read(body)
        }
    }
}
