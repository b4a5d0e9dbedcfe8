import Foundation
import GRDB
import HandCore
import HandSync
import HandWire
import TLS

extension SQLiteStore {
    public func author(for client: ClientID, person: String) throws -> Author {
        let client = client.hashed
        // Most who come have been here under the same name; then nothing is written.
        if let known = try read({ try AuthorRow.find(client, named: person, $0) }) { return known.author }
        return try write { database in
            if let known = try AuthorRow.find(client, named: person, database) { return known.author }
            let first = try AuthorRow.find(client, database)?.author.client
            return try AuthorRow.insert(client, person, first: first, database)
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

extension ClientID {
    /// As it is stored: who reads the store, or a backup, must not be able to come as somebody else.
    var hashed: ClientID {
        let digits = Fingerprint.sha256("client \(high) \(low)")
        let halves = [digits.prefix(16), digits.dropFirst(16).prefix(16)].map { UInt64($0, radix: 16) ?? 0 }
        return ClientID(high: halves[0], low: halves[1])
    }
}

/// A row of `authors`, whose checksum is right. No row ever changes.
///
/// A client whose row is not found would get a second number, and its unanswered edits would be made twice. So where a key is
/// not found, the rows that stand on both sides of its place are looked at: a search that a wrong key has led astray ends beside
/// that key, which then does not fit its row, or among rows that are not in order.
struct AuthorRow {
    let author: Author
    let person: String
    /// The client's id, as it is sorted.
    private let key: (Int64, Int64)

    private init(_ row: Row) throws {
        author = Author(number: try row.bits(0), client: try row.bits(1))
        try row.check(.authors, "author \(author.number)")
        key = (try row.value(2), try row.value(3))
        person = try row.value(4)
    }

    /// - Parameter first: the number of the client's first author; nil if this is it.
    static func insert(
        _ client: ClientID, _ person: String, first: UInt64?, _ database: Database
    ) throws -> Author {
        try database.execute(
            sql: "INSERT INTO authors (client, client_high, client_low, person) VALUES (0, ?, ?, ?)",
            arguments: [client.high.stored, client.low.stored, person])
        let number = UInt64(stored: database.lastInsertedRowID)
        let author = Author(number: number, client: first ?? number)
        let values: [any DatabaseValueConvertible] = [
            number.stored, author.client.stored, client.high.stored, client.low.stored, person,
        ]
        try database.execute(
            sql: "UPDATE authors SET client = ?, checksum = ? WHERE number = ?",
            arguments: [
                author.client.stored, CheckedTable.authors.checksum(values.map(\.databaseValue)), number.stored,
            ])
        return author
    }

    /// The client of each author, by number: of those who have edited a list, or of all.
    static func clients(in list: UInt64? = nil, _ database: Database) throws -> [UInt64: UInt64] {
        let condition = list == nil ? "" : "WHERE number IN (SELECT author FROM sequences WHERE list = ?)"
        let rows = try Row.fetchCursor(
            database, sql: "SELECT \(CheckedTable.authors.selection) FROM authors \(condition)",
            arguments: StatementArguments(list.map { [$0.stored] } ?? []))
        var found: [UInt64: UInt64] = [:]
        while let row = try rows.next() {
            let author = try AuthorRow(row).author
            found[author.number] = author.client
        }
        return found
    }

    private static func first(
        _ condition: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> AuthorRow? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(CheckedTable.authors.selection) FROM authors WHERE \(condition) LIMIT 1")
        return try Row.fetchOne(statement, arguments: arguments).map(AuthorRow.init)
    }

    static func find(_ client: ClientID, named person: String, _ database: Database) throws -> AuthorRow? {
        try first(
            "(client_high, client_low, person) = (?, ?, ?)", [client.high.stored, client.low.stored, person], database)
    }

    /// Under any name.
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
        try expect(before.map { $0.author.number.stored < key }, after.map { $0.author.number.stored > key })
        return nil
    }

    private static func expect(_ inOrder: Bool?...) throws {
        guard inOrder.allSatisfy({ $0 != false }) else {
            throw StoreError.damaged("the authors are not in their order")
        }
    }
}
