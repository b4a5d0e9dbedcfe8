import Disk
import HandCore
import HandSync

/// A row of `lists` whose checksum is right.
struct ListRow {
    private(set) var list: StoredList
    let deckSeed: UInt64?
    /// How many authors have a sequence in this list, which must match the rows of `sequences`.
    private(set) var authors: Int
    private let rules: [UInt8]
    /// The list's name, or nil if it is deleted.
    private var name: String?

    private init(_ row: SQLiteRow) throws {
        let number = try row.bits(0)
        try row.check(.lists, "list \(number)")
        rules = try row.bytes(3)
        deckSeed = try row.optionalBits(4)
        authors = try row.integer(8)
        name = try row.optionalText(1)
        list = StoredList(
            number: number, name: name ?? "", logID: try row.bits(2),
            rules: try rules.withUnsafeBytes(Rules.init(stored:)), revision: try row.integer(5),
            count: try row.integer(6), floor: try row.integer(7))
    }

    var isDeleted: Bool { name == nil }

    /// The deck as it was when the list was created.
    var firstDeck: Deck? { deckSeed.map { Deck(seed: $0) } }

    // MARK: Reading

    /// - Parameter condition: what follows `WHERE`.
    static func all(
        _ condition: String, _ arguments: [SQLiteValue], _ database: SQLiteConnection
    ) throws -> [ListRow] {
        try database.all(
            "SELECT \(CheckedTable.lists.selection) FROM lists WHERE \(condition)", arguments, ListRow.init)
    }

    static func find(_ number: UInt64, _ database: SQLiteConnection) throws -> ListRow? {
        try all("number = ?", [number.stored], database).first
    }

    /// Returns the row of a list that still has the name under which it was looked up.
    ///
    /// - Throws: `StoreError.noSuchList` if it has another name.
    static func named(_ list: StoredList, _ database: SQLiteConnection) throws -> ListRow {
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
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?, _ database: SQLiteConnection
    ) throws -> StoredList? {
        let values: [SQLiteValue] = [.text(name), logID.stored, .bytes(rules.stored), .init(bits: deckSeed)]
        let made = try database.run(
            "INSERT OR IGNORE INTO lists (name, log_id, rules, deck_seed, owner) VALUES (?, ?, ?, ?, ?)",
            values + [.init(owner)])
        guard made == 1 else { return nil }
        let number = database.lastInsertedRow
        let zeros = [SQLiteValue](repeating: .integer(0), count: 4)
        try database.run(
            "UPDATE lists SET checksum = ? WHERE number = ?",
            [.integer(CheckedTable.lists.checksum([.integer(number)] + values + zeros)), .integer(number)])
        return StoredList(
            number: UInt64(bitPattern: number), name: name, logID: logID, rules: rules, revision: 0, count: 0)
    }

    /// Inserts a list from another store.
    ///
    /// - Parameter authors: how many authors have a sequence in it.
    static func insert(_ list: ListRecord, authors: Int, _ database: SQLiteConnection) throws {
        let stored = list.stored
        let values: [SQLiteValue] = [
            stored.number.stored, .init(list.deletion == nil ? list.name : nil), stored.logID.stored,
            .bytes(stored.rules.stored), .init(bits: list.deckSeed), .init(stored.revision), .init(stored.count),
            .init(stored.floor), .init(authors),
        ]
        try database.run(CheckedTable.lists.insertion, CheckedTable.lists.arguments(values))
        try database.run("UPDATE lists SET owner = ? WHERE number = ?", [.init(list.owner), stored.number.stored])
    }

    /// Updates this row with the values that change.
    mutating func update(
        logID: UInt64? = nil, revision: Int? = nil, count: Int? = nil, floor: Int? = nil, newAuthors: Int = 0,
        _ database: SQLiteConnection
    ) throws {
        authors += newAuthors
        list.logID = logID ?? list.logID
        list.revision = revision ?? list.revision
        list.count = count ?? list.count
        list.floor = floor ?? list.floor
        try database.run(
            "UPDATE lists SET log_id = ?, revision = ?, count = ?, floor = ?, authors = ?, checksum = ? WHERE number = ?",
            [
                list.logID.stored, .init(list.revision), .init(list.count), .init(list.floor), .init(authors),
                .integer(checksum), list.number.stored,
            ])
    }

    /// - Parameter name: nil for a list that is deleted.
    mutating func rename(to name: String?, _ database: SQLiteConnection) throws {
        self.name = name
        list.name = name ?? ""
        try database.run(
            "UPDATE lists SET name = ?, checksum = ? WHERE number = ?",
            [.init(name), .integer(checksum), list.number.stored])
    }

    /// The checksum of the row's new values.
    private var checksum: Int64 {
        CheckedTable.lists.checksum([
            list.number.stored, .init(name), list.logID.stored, .bytes(rules), .init(bits: deckSeed),
            .init(list.revision), .init(list.count), .init(list.floor), .init(authors),
        ])
    }
}
