import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    public func author(for client: ClientID, person: String) throws -> UInt64 {
        // Most who come have been here under the same name; then nothing is written.
        let known = try read { try AuthorRow.find(client, $0) }
        if let known, known.person == person { return known.number }
        return try write { database in
            let known = try AuthorRow.find(client, database)
            if known == nil {
                try database.execute(
                    sql: "INSERT INTO authors (client_high, client_low, person) VALUES (?, ?, ?)",
                    arguments: [client.high.stored, client.low.stored, person])
            }
            let number = known?.number ?? UInt64(stored: database.lastInsertedRowID)
            let checksum = CheckedTable.authors.checksum(
                [number.stored.databaseValue, client.high.stored.databaseValue, client.low.stored.databaseValue]
                    + [person.databaseValue])
            try database.execute(
                sql: "UPDATE authors SET person = ?, checksum = ? WHERE number = ?",
                arguments: [person, checksum, number.stored])
            return number
        }
    }

    public func people(_ authors: [UInt64]) throws -> [DownMessage.Person] {
        try read { database in
            try authors.compactMap { author in
                try AuthorRow.find(author, database).map { DownMessage.Person(author: author, name: $0.person) }
            }
        }
    }
}

/// A row of `authors`, whose checksum is right.
///
/// A client whose row is not found would get a second number, and its unanswered edits would be made twice. So where a key is
/// not found, the rows that stand on both sides of its place are looked at: a search that a wrong key has led astray ends beside
/// that key, which then does not fit its row, or among rows that are not in order.
private struct AuthorRow {
    let number: UInt64
    let person: String
    /// The client's id, as it is sorted.
    let key: (Int64, Int64)

    private init(_ row: Row) throws {
        number = try row.bits(0)
        try row.check(.authors, "author \(number)")
        key = (try row.value(1), try row.value(2))
        person = try row.value(3)
    }

    private static func first(
        _ condition: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> AuthorRow? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(CheckedTable.authors.selection) FROM authors WHERE \(condition) LIMIT 1")
        return try Row.fetchOne(statement, arguments: arguments).map(AuthorRow.init)
    }

    static func find(_ client: ClientID, _ database: Database) throws -> AuthorRow? {
        let key = (client.high.stored, client.low.stored)
        let columns = "(client_high, client_low)"
        let arguments: StatementArguments = [key.0, key.1]
        if let row = try first("\(columns) = (?, ?)", arguments, database) { return row }
        let before = try first(
            "\(columns) < (?, ?) ORDER BY client_high DESC, client_low DESC", arguments, database)
        let after = try first("\(columns) > (?, ?) ORDER BY client_high, client_low", arguments, database)
        try expect(before.map { $0.key < key }, after.map { $0.key > key })
        return nil
    }

    static func find(_ number: UInt64, _ database: Database) throws -> AuthorRow? {
        let key = number.stored
        if let row = try first("number = ?", [key], database) { return row }
        let before = try first("number < ? ORDER BY number DESC", [key], database)
        let after = try first("number > ? ORDER BY number", [key], database)
        try expect(before.map { $0.number.stored < key }, after.map { $0.number.stored > key })
        return nil
    }

    private static func expect(_ inOrder: Bool?...) throws {
        guard inOrder.allSatisfy({ $0 != false }) else {
            throw StoreError.damaged("the authors are not in their order")
        }
    }
}
