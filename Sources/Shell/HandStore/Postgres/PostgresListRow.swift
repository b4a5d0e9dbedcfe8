import HandCore
import HandSync
import HandWire

/// A row of `lists` in a shared store, with the list's name.
struct PostgresListRow {
    let list: StoredList
    let digest: UInt64
    let isDeleted: Bool
    let deckSeed: UInt64?

    private static let columns =
        "lists.number, names.name, log_id, rules, deck_seed, revision, count, digest, floor, is_deleted"
    private static let tables = "lists LEFT JOIN names ON names.list = lists.number"
    private static let selection = "SELECT \(columns) FROM \(tables)"
    static let numbered = selection + " WHERE lists.number = $1"
    static let named = selection + " WHERE names.name = $1"
    /// Selects all lists, each with its owner and its deletion.
    static let all = """
        SELECT \(columns), owner, deleted_lists.number, deleted_lists.name, time, person
        FROM \(tables) LEFT JOIN deleted_lists ON deleted_lists.list = lists.number ORDER BY lists.number
        """
    static let after = selection + " WHERE names.name > $1 ORDER BY names.name LIMIT $2"

    init(_ row: PostgresRow) throws {
        let number: ListNumber = try row.number(0)
        isDeleted = try row.isTrue(9)
        digest = try row.bits(7)
        deckSeed = try row.optionalBits(4)
        list = StoredList(
            number: number, name: row.optionalBytes(1).map { String(decoding: $0, as: UTF8.self) } ?? "",
            logID: try row.bits(2), rules: try row.withBytes(3, Rules.init(stored:)), revision: try row.integer(5),
            count: try row.integer(6), floor: try row.integer(8))
    }

    /// The deck as it was when the list was created.
    var firstDeck: Deck? { deckSeed.map { Deck(seed: $0) } }

    static func find(_ number: ListNumber, _ session: PostgresSession) throws -> PostgresListRow? {
        try session.run(numbered, .init(number)).first.map(PostgresListRow.init)
    }

    /// - Throws: `StoreError.noSuchList`.
    static func get(_ number: ListNumber, _ session: PostgresSession) throws -> PostgresListRow {
        guard let row = try find(number, session) else { throw StoreError.noSuchList("number \(number)") }
        return row
    }
}
