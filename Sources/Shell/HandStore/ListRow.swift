import Foundation
import GRDB
import HandCore
import HandSync

/// A row of `lists` whose checksum is right.
struct ListRow {
    private(set) var list: StoredList
    let deckSeed: UInt64?
    /// How many authors have a sequence in this list, which must match the rows of `sequences`.
    private(set) var authors: Int
    private let rules: Data
    /// The list's name, or nil if it is deleted.
    private var name: String?

    private init(_ row: Row) throws {
        let number = try row.bits(0)
        try row.check(.lists, "list \(number)")
        rules = try row.value(3)
        let seed: Int64? = try row.value(4)
        deckSeed = seed.map { UInt64(stored: $0) }
        authors = try row.value(8)
        name = try row.value(1)
        list = StoredList(
            number: number, name: name ?? "", logID: try row.bits(2),
            rules: try rules.withUnsafeBytes(Rules.init(stored:)), revision: try row.value(5),
            count: try row.value(6), floor: try row.value(7))
    }

    var isDeleted: Bool { name == nil }

    /// The deck as it was when the list was created.
    var firstDeck: Deck? { deckSeed.map { Deck(seed: $0) } }

    // MARK: Reading

    /// - Parameter condition: what follows `WHERE`.
    static func all(
        _ condition: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [ListRow] {
        let statement = try database.cachedStatement(
            sql: "SELECT \(CheckedTable.lists.selection) FROM lists WHERE \(condition)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var found: [ListRow] = []
        while let row = try rows.next() { found.append(try ListRow(row)) }
        return found
    }

    static func find(_ number: UInt64, _ database: Database) throws -> ListRow? {
        try all("number = ?", [number.stored], database).first
    }

    /// Returns the row of a list that still has the name under which it was looked up.
    ///
    /// - Throws: `StoreError.noSuchList` if it has another name.
    static func named(_ list: StoredList, _ database: Database) throws -> ListRow {
        guard let row = try find(list.number, database), row.list.name == list.name else {
            throw StoreError.noSuchList(list.name)
        }
        return row
    }

    // MARK: Writing

    /// Creates an empty list.
    ///
    /// - Returns: nil if a list of that name exists.
    static func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?, _ database: Database
    ) throws -> StoredList? {
        let bytes = Data(rules.stored)
        try database.execute(
            sql: "INSERT OR IGNORE INTO lists (name, log_id, rules, deck_seed, owner) VALUES (?, ?, ?, ?, ?)",
            arguments: [name, logID.stored, bytes, deckSeed?.stored, owner])
        guard database.changesCount == 1 else { return nil }
        let number = database.lastInsertedRowID
        let values: [any DatabaseValueConvertible] = [
            number, name, logID.stored, bytes, deckSeed?.stored.databaseValue ?? .null, 0, 0, 0, 0,
        ]
        try database.execute(
            sql: "UPDATE lists SET checksum = ? WHERE number = ?",
            arguments: [CheckedTable.lists.checksum(values.map(\.databaseValue)), number])
        return StoredList(
            number: UInt64(stored: number), name: name, logID: logID, rules: rules, revision: 0, count: 0)
    }

    /// Inserts a list from another store.
    ///
    /// - Parameter authors: how many authors have a sequence in it.
    static func insert(_ list: ListRecord, authors: Int, _ database: Database) throws {
        let stored = list.stored
        let name = list.deletion == nil ? list.name.databaseValue : .null
        let values: [any DatabaseValueConvertible] = [
            stored.number.stored, name, stored.logID.stored, Data(stored.rules.stored),
            list.deckSeed?.stored.databaseValue ?? .null, stored.revision, stored.count, stored.floor, authors,
        ]
        try database.execute(
            sql: CheckedTable.lists.insertion, arguments: CheckedTable.lists.arguments(values))
        try database.execute(
            sql: "UPDATE lists SET owner = ? WHERE number = ?", arguments: [list.owner, stored.number.stored])
    }

    /// Updates this row with the values that change.
    mutating func update(
        logID: UInt64? = nil, revision: Int? = nil, count: Int? = nil, floor: Int? = nil, newAuthors: Int = 0,
        _ database: Database
    ) throws {
        authors += newAuthors
        list.logID = logID ?? list.logID
        list.revision = revision ?? list.revision
        list.count = count ?? list.count
        list.floor = floor ?? list.floor
        let statement = try database.cachedStatement(
            sql: """
                UPDATE lists SET log_id = ?, revision = ?, count = ?, floor = ?, authors = ?, checksum = ?
                WHERE number = ?
                """)
        try statement.execute(arguments: [
            list.logID.stored, list.revision, list.count, list.floor, authors, checksum, list.number.stored,
        ])
    }

    /// - Parameter name: nil for a list that is deleted.
    mutating func rename(to name: String?, _ database: Database) throws {
        self.name = name
        list.name = name ?? ""
        try database.execute(
            sql: "UPDATE lists SET name = ?, checksum = ? WHERE number = ?",
            arguments: [name, checksum, list.number.stored])
    }

    /// The checksum of the row's new values.
    private var checksum: Int64 {
        let values: [any DatabaseValueConvertible] = [
            list.number.stored, name?.databaseValue ?? .null, list.logID.stored, rules,
            deckSeed?.stored.databaseValue ?? .null, list.revision, list.count, list.floor, authors,
        ]
        return CheckedTable.lists.checksum(values.map(\.databaseValue))
    }
}
