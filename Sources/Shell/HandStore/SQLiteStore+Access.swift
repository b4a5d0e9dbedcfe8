import Files
import Foundation
import GRDB
import HandSync

/// A store keeps a copy of its access rules: for backups, and to know that there were rules if their file gets lost.
extension SQLiteStore {
    /// Stores the access rules. Call this whenever they change.
    package func remember(accessRules rules: [UInt8]) throws {
        try write { try Self.remember(rules, $0) }
    }

    static func remember(_ rules: [UInt8], _ database: Database) throws {
        try database.execute(sql: "DELETE FROM access; INSERT INTO access (rules) VALUES (?)", arguments: [Data(rules)])
    }

    /// Returns the rules that a folder's store or a backup keeps, or nil if there never were any or there is no store.
    package static func accessRules(in path: String) throws -> [UInt8]? {
        let file = StoreVerifier.file(at: path)
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        return try translating(file) {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let database = try DatabaseQueue(path: file, configuration: configuration)
            defer { try? database.close() }
            return try database.read { database in
                // Older formats have no such table.
                guard try database.tableExists("access") else { return nil }
                return try Data.fetchOne(database, sql: "SELECT rules FROM access").map { [UInt8]($0) }
            }
        }
    }
}
