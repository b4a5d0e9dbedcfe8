import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    static let columns = "number, name, log_id, rules, revision, count, floor"

    static func list(_ row: Row) throws -> StoredList {
        let rules: Data = try row.value(3)
        return StoredList(
            number: try row.bits(0), name: try row.value(1), logID: try row.bits(2),
            rules: try Self.rules([UInt8](rules)), revision: try row.value(4), count: try row.value(5),
            floor: try row.value(6))
    }

    static func rules(_ bytes: [UInt8]) throws -> Rules {
        do {
            return try bytes.withUnsafeBytes { all in
                var reader = WireReader(all)
                let rules = try reader.rules()
                try reader.expectEnd(of: "rules")
                return rules
            }
        } catch {
            throw StoreError.damaged("the rules of a list do not read: \(error)")
        }
    }

    public func create(_ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?) throws -> StoredList {
        var writer = WireWriter()
        writer.rules(rules)
        let bytes = Data(writer.bytes)
        return try write { database in
            let sql = "INSERT OR IGNORE INTO lists (name, log_id, rules, deck_seed) VALUES (?, ?, ?, ?)"
            try database.execute(sql: sql, arguments: [name, logID.stored, bytes, deckSeed?.stored])
            guard database.changesCount == 1 else { throw StoreError.listExists(name) }
            return StoredList(
                number: UInt64(stored: database.lastInsertedRowID), name: name, logID: logID, rules: rules, revision: 0,
                count: 0)
        }
    }

    public func delete(_ name: String) throws {
        try write { database in
            let sql = "SELECT number FROM lists WHERE name = ?"
            guard let number = try Int64.fetchOne(database, sql: sql, arguments: [name]) else {
                throw StoreError.noSuchList(name)
            }
            for table in ["commits", "sequences", "snapshots", "snapshot_heads"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE list = ?", arguments: [number])
            }
            try database.execute(sql: "DELETE FROM lists WHERE number = ?", arguments: [number])
        }
    }

    public func list(named name: String) throws -> StoredList? {
        try read { database in
            let sql = "SELECT \(Self.columns) FROM lists WHERE name = ?"
            return try Row.fetchOne(database, sql: sql, arguments: [name]).map(Self.list)
        }
    }

    func list(numbered number: UInt64) throws -> StoredList? {
        try read { database in
            let sql = "SELECT \(Self.columns) FROM lists WHERE number = ?"
            return try Row.fetchOne(database, sql: sql, arguments: [number.stored]).map(Self.list)
        }
    }

    public func lists(after name: String, limit: Int) throws -> [StoredList] {
        try read { database in
            let sql = "SELECT \(Self.columns) FROM lists WHERE name > ? ORDER BY name LIMIT ?"
            return try Row.fetchAll(database, sql: sql, arguments: [name, limit]).map(Self.list)
        }
    }

    public func listCount() throws -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM lists") ?? 0 }
    }

    // MARK: People

    public func author(for client: ClientID, person: String) throws -> UInt64 {
        let key: StatementArguments = [client.high.stored, client.low.stored]
        let sql = "SELECT number, person FROM authors WHERE client_high = ? AND client_low = ?"
        // Most who come have been here under the same name; then nothing is written.
        let known = try read { database -> (author: UInt64, person: String)? in
            try Row.fetchOne(database, sql: sql, arguments: key).map { (try $0.bits(0), try $0.value(1)) }
        }
        if let known, known.person == person { return known.author }
        return try write { database in
            try database.execute(
                sql: """
                    INSERT INTO authors (client_high, client_low, person) VALUES (?, ?, ?)
                    ON CONFLICT (client_high, client_low) DO UPDATE SET person = excluded.person
                    """, arguments: key + [person])
            guard let row = try Row.fetchOne(database, sql: sql, arguments: key) else {
                throw StoreError.failed("an author that was just written cannot be read")
            }
            return try row.bits(0)
        }
    }

    public func people(_ authors: [UInt64]) throws -> [DownMessage.Person] {
        try read { database in
            let statement = try database.cachedStatement(sql: "SELECT person FROM authors WHERE number = ?")
            return try authors.compactMap { author in
                try String.fetchOne(statement, arguments: [author.stored]).map {
                    DownMessage.Person(author: author, name: $0)
                }
            }
        }
    }
}
