import Disk
import HandCore
import HandSync
import HandWire

/// A row of `lists` whose checksum is right.
struct ListRow {
    let number: ListNumber
    /// The list's name, or nil if it is deleted.
    private(set) var name: String?
    private(set) var logID: UInt64
    private let rules: [UInt8]
    let deckSeed: UInt64?
    private(set) var floor: Int

    private init(_ row: SQLiteRow) throws {
        let number: ListNumber = try row.number(0)
        try row.check(.lists, "list \(number)")
        self.number = number
        name = try row.optionalText(1)
        logID = try row.bits(2)
        rules = try row.bytes(3)
        deckSeed = try row.optionalBits(4)
        floor = try row.integer(5)
    }

    var isDeleted: Bool { name == nil }

    /// The deck as it was when the list was created.
    var firstDeck: Deck? { deckSeed.map { Deck(seed: $0) } }

    /// The list at its newest revision.
    func list(_ database: SQLiteConnection) throws -> StoredList {
        let head = try database.head(of: number)
        let list = try list(revision: head.revision, count: head.count)
        // The snapshot at the floor is lost, and the commits after it.
        guard head.revision >= floor else { throw list.noSnapshot(at: floor) }
        return list
    }

    func list(revision: Int, count: Int) throws -> StoredList {
        StoredList(
            number: number, name: name ?? "", logID: logID,
            rules: try rules.withUnsafeBytes(Rules.init(stored:)), revision: revision, count: count, floor: floor)
    }

    // MARK: Reading

    /// - Parameter condition: what follows `WHERE`.
    static func all(
        _ condition: String, _ arguments: [SQLiteValue], _ database: SQLiteConnection
    ) throws -> [ListRow] {
        try database.all(
            "SELECT \(CheckedTable.lists.selection) FROM lists WHERE \(condition)", arguments, ListRow.init)
    }

    static func find(_ number: ListNumber, _ database: SQLiteConnection) throws -> ListRow? {
        try all("number = ?", [number.stored], database).first
    }

    /// - Throws: `StoreError.noSuchList`.
    static func get(_ number: ListNumber, _ database: SQLiteConnection) throws -> ListRow {
        guard let row = try find(number, database) else { throw StoreError.noSuchList("number \(number)") }
        return row
    }

    /// Returns the row of a list that still has the name under which it was looked up.
    ///
    /// - Throws: `StoreError.noSuchList` if it has another name.
    static func named(_ list: StoredList, _ database: SQLiteConnection) throws -> ListRow {
        guard let row = try find(list.number, database), row.name == list.name else {
            throw StoreError.noSuchList(list.name)
        }
        return row
    }

    // MARK: Writing

    /// Creates an empty list.
    ///
    /// - Returns: nil if a list of that name exists.
    static func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?, _ database: SQLiteConnection
    ) throws -> StoredList? {
        let values: [SQLiteValue] = [.text(name), logID.stored, .bytes(rules.stored), .init(bits: deckSeed)]
        let made = try database.run(
            "INSERT OR IGNORE INTO lists (name, log_id, rules, deck_seed, owner) VALUES (?, ?, ?, ?, ?)",
            values + [.init(owner)])
        guard made == 1 else { return nil }
        let number = database.lastInsertedRow
        try database.run(
            "UPDATE lists SET checksum = ? WHERE number = ?",
            [
                .integer(CheckedTable.lists.checksum([.integer(number)] + values + [.integer(0)])), .integer(number),
            ])
        return StoredList(
            number: ListNumber(rawValue: UInt64(bitPattern: number)), name: name, logID: logID, rules: rules,
            revision: 0, count: 0)
    }

    static func insert(_ list: ListRecord, _ database: SQLiteConnection) throws {
        let stored = list.stored
        let values: [SQLiteValue] = [
            stored.number.stored, .init(list.deletion == nil ? list.name : nil), stored.logID.stored,
            .bytes(stored.rules.stored), .init(bits: list.deckSeed), .init(stored.floor),
        ]
        try database.run(CheckedTable.lists.insertion, CheckedTable.lists.arguments(values))
        try database.run("UPDATE lists SET owner = ? WHERE number = ?", [.init(list.owner), stored.number.stored])
    }

    mutating func update(logID: UInt64? = nil, floor: Int? = nil, _ database: SQLiteConnection) throws {
        self.logID = logID ?? self.logID
        self.floor = floor ?? self.floor
        try write(database)
    }

    /// - Parameter name: nil for a list that is deleted.
    mutating func rename(to name: String?, _ database: SQLiteConnection) throws {
        self.name = name
        try write(database)
    }

    /// Writes the values that may change.
    private func write(_ database: SQLiteConnection) throws {
        let checksum = CheckedTable.lists.checksum([
            number.stored, .init(name), logID.stored, .bytes(rules), .init(bits: deckSeed), .init(floor),
        ])
        try database.run(
            "UPDATE lists SET name = ?, log_id = ?, floor = ?, checksum = ? WHERE number = ?",
            [.init(name), logID.stored, .init(floor), .integer(checksum), number.stored])
    }
}
