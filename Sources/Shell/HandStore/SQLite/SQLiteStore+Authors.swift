import Disk
import EventLoop
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    /// The author numbers that one transaction reserves: new clients that do not edit cost no other write.
    package static let numbersAtOnce: UInt64 = 1_000

    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        let client = client.hashed
        let (known, other) = try read { database in
            let known = try AuthorRow.find(client, named: person, database)
            return (known, try known ?? AuthorRow.find(client, database))
        }
        if let known { return (known.author, false) }
        let number = try freshNumber()
        return (Author(number: number, client: other?.author.client ?? number), true)
    }

    /// Returns a number that no author ever had, not even in an earlier process.
    private func freshNumber() throws -> AuthorID {
        try freeNumbers.withLock { free in
            if free.isEmpty { free = try numbers(from: free.upperBound) }
            defer { free = free.lowerBound.next..<free.upperBound }
            return free.lowerBound
        }
    }

    /// Reserves numbers. If the disk is full, they are not reserved, so that people can still read: only the number of
    /// an author with commits is needed later, and commits have to be written.
    private func numbers(from start: AuthorID) throws -> Range<AuthorID> {
        do {
            return try write { try AuthorRow.reserve(Self.numbersAtOnce, from: start, $0) }
        } catch StoreError.failed {
            return try read { try AuthorRow.free(Self.numbersAtOnce, from: start, $0) }
        }
    }

    package func people(_ authors: [AuthorID]) throws -> [DownMessage.Person] {
        try read { database in
            try authors.compactMap { author in
                try AuthorRow.find(author, database).map { DownMessage.Person(author: author, name: $0.person) }
            }
        }
    }

    package func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID] {
        try read { try $0.clients(of: authors) }
    }
}

extension ClientID {
    /// The id as it is stored. Hashed, so that nobody who reads the store or a backup can impersonate a client.
    var hashed: ClientID {
        let digits = Fingerprint.sha256("client \(high) \(low)")
        let halves = [digits.prefix(16), digits.dropFirst(16).prefix(16)].map { UInt64($0, radix: 16) ?? 0 }
        return ClientID(high: halves[0], low: halves[1])
    }
}

/// A row of `authors` whose checksum is right. No row ever changes.
///
/// A client whose row is not found would get a second number, and its unanswered edits would be made twice. So if a key
/// is not found, the rows on both sides of its place are checked. A search that a damaged key has misled ends next to
/// that key, which then does not match its row's checksum, or among rows that are not in order.
struct AuthorRow {
    let author: Author
    let person: String
    /// The client's id, as the index sorts it.
    private let key: (Int64, Int64)

    private init(_ row: SQLiteRow) throws {
        author = Author(number: try row.number(0), client: try row.number(1))
        try row.check(.authors, "author \(author.number)")
        key = (Int64(bitPattern: try row.bits(2)), Int64(bitPattern: try row.bits(3)))
        person = try row.text(4)
    }

    static func insert(_ newcomer: Newcomer, _ database: SQLiteConnection) throws {
        try insert(
            AuthorRecord(author: newcomer.author, client: newcomer.client.hashed, person: newcomer.person), database)
    }

    static func insert(_ record: AuthorRecord, _ database: SQLiteConnection) throws {
        let (author, client) = (record.author, record.client)
        let values: [SQLiteValue] = [
            author.number.stored, author.client.stored, client.high.stored, client.low.stored, .text(record.person),
        ]
        try database.run(CheckedTable.authors.insertion, CheckedTable.authors.arguments(values))
    }

    /// Reserves numbers for authors who may or may not be stored later: SQLite's own counter of the table continues
    /// after them.
    static func reserve(
        _ count: UInt64, from start: AuthorID, _ database: SQLiteConnection
    ) throws -> Range<AuthorID> {
        let numbers = try free(count, from: start, database)
        try database.run("DELETE FROM sqlite_sequence WHERE name = 'authors'")
        try database.run(
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('authors', ?)",
            [(numbers.upperBound.rawValue - 1).stored])
        return numbers
    }

    /// Returns numbers that no author of the store has, from `start` on or later.
    static func free(
        _ count: UInt64, from start: AuthorID, _ database: SQLiteConnection
    ) throws -> Range<AuthorID> {
        let counted = try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'authors'")
        let kept = try database.integer("SELECT max(number) FROM authors")
        let first = max(UInt64(max(counted ?? 0, kept ?? 0)) + 1, start.rawValue)
        return AuthorID(rawValue: first)..<AuthorID(rawValue: first + count)
    }

    /// Returns the client of each author by number.
    static func clients(_ database: SQLiteConnection) throws -> [AuthorID: AuthorID] {
        try all("TRUE", [], database).reduce(into: [:]) { $0[$1.author.number] = $1.author.client }
    }

    /// The record that another store copies.
    var record: AuthorRecord {
        let client = ClientID(high: UInt64(bitPattern: key.0), low: UInt64(bitPattern: key.1))
        return AuthorRecord(author: author, client: client, person: person)
    }

    /// - Parameter condition: what follows `WHERE`.
    static func all(
        _ condition: String, _ arguments: [SQLiteValue], _ database: SQLiteConnection
    ) throws -> [AuthorRow] {
        try database.all(
            "SELECT \(CheckedTable.authors.selection) FROM authors WHERE \(condition)", arguments, AuthorRow.init)
    }

    private static func first(
        _ condition: String, _ arguments: [SQLiteValue], _ database: SQLiteConnection
    ) throws -> AuthorRow? {
        try all(condition + " LIMIT 1", arguments, database).first
    }

    static func find(_ client: ClientID, named person: String, _ database: SQLiteConnection) throws -> AuthorRow? {
        try first(
            "(client_high, client_low, person) = (?, ?, ?)", [client.high.stored, client.low.stored, .text(person)],
            database)
    }

    static func find(_ client: ClientID, _ database: SQLiteConnection) throws -> AuthorRow? {
        let key = (Int64(bitPattern: client.high), Int64(bitPattern: client.low))
        let columns = "(client_high, client_low)"
        let arguments: [SQLiteValue] = [.integer(key.0), .integer(key.1)]
        if let row = try first("\(columns) = (?, ?)", arguments, database) { return row }
        let before = try first(
            "\(columns) < (?, ?) ORDER BY client_high DESC, client_low DESC", arguments, database)
        let after = try first("\(columns) > (?, ?) ORDER BY client_high, client_low", arguments, database)
        try expect(before.map { $0.key < key }, after.map { $0.key > key })
        return nil
    }

    static func find(_ number: AuthorID, _ database: SQLiteConnection) throws -> AuthorRow? {
        let key = [number.stored]
        if let row = try first("number = ?", key, database) { return row }
        let before = try first("number < ? ORDER BY number DESC", key, database)
        let after = try first("number > ? ORDER BY number", key, database)
        // SQLite compares signed numbers.
        let (here, others) = (
            Int64(bitPattern: number.rawValue),
            [before, after].map { $0.map { Int64(bitPattern: $0.author.number.rawValue) } }
        )
        try expect(others[0].map { $0 < here }, others[1].map { $0 > here })
        return nil
    }

    private static func expect(_ inOrder: Bool?...) throws {
        guard inOrder.allSatisfy({ $0 != false }) else {
            throw StoreError.damaged("the authors are not in order")
        }
    }
}
