import Files
import Foundation
import GRDB
import HandSync

/// A store remembers the access rules that hold for it: that there are any, should their file get lost, and for backups.
extension SQLiteStore {
    /// To be told whenever other rules hold.
    package func remember(accessRules rules: [UInt8]) throws {
        try write { try Self.remember(rules, $0) }
    }

    static func remember(_ rules: [UInt8], _ database: Database) throws {
        try database.execute(sql: "DELETE FROM access; INSERT INTO access (rules) VALUES (?)", arguments: [Data(rules)])
    }

    /// The rules that the store of a folder, or a backup, remembers; nil if there never were any, or there is no store.
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
