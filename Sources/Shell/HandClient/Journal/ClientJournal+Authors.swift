import Disk
import HandCore
import HandSync
import HandWire

// What a client knows about itself: its author number under each name, and the sequences that it has used.

// MARK: - Authors

extension ClientJournal {
    /// Notes that another program has this client's id too. The journal takes a new id when it is opened next and
    /// nothing is in flight: only the old id can find out the result of a submission in flight.
    static func noteSharedClient(_ database: SQLiteConnection) throws {
        try database.run("UPDATE client SET is_shared = 1")
    }

    /// Takes a new id at once; returns false if something is in flight.
    package func take(_ fresh: ClientID) throws -> Bool {
        try writing { try Self.take(fresh, $0, path) }
    }

    /// Compares the author number that the server uses for this client under a name. If the journal has another number,
    /// the server is not the one that the journal knows, and the journal forgets all numbers.
    static func meet(author: AuthorID, of person: String, _ database: SQLiteConnection) throws {
        guard let known = try number(of: person, database), known != author else { return }
        try database.run("DELETE FROM authors")
    }

    /// Notes the author number of this client under a name, once a commit with the number exists: from then on the
    /// number is permanent.
    static func note(author: AuthorID, of person: String, _ database: SQLiteConnection) throws {
        guard try number(of: person, database) != author else { return }
        try database.run("INSERT OR REPLACE INTO authors VALUES (?, ?)", [.text(person), author.stored])
    }

    private static func number(of person: String, _ database: SQLiteConnection) throws -> AuthorID? {
        try database.first("SELECT number FROM authors WHERE person = ?", [.text(person)])?.number(0)
    }

    /// Returns the number that the client of a journal has under a name, or with a token, or nil if no commit of the
    /// client is known. Works while another process has the journal open.
    package static func author(of person: String, token: String? = nil, inJournalAt path: String) -> AuthorID? {
        try? reading(path) { try number(of: key(of: person, token), $0) }
    }

    /// Reads a journal, also while another process has it open.
    static func reading<Result>(_ path: String, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        // SQLite would wait for the other end of a pipe; it would also remove the log of an empty file, and the edits
        // in it.
        try StoreFile.expectUsable(path, isRead: true)
        try StoreFile.checkHeader(path)
        // A command that ends locks the journal for a moment, which reading waits for.
        return try StoreFile.translating(path) { try SQLiteDatabase(path, .reading).read(body) }
    }
}

// MARK: - Sequences

extension ClientJournal {
    static func noteUsed(_ sequence: SequenceNumber, in log: UInt64, _ database: SQLiteConnection) throws {
        if let last = try usedSequences(database)[log], last >= sequence { return }
        let sql = "INSERT OR REPLACE INTO sequences VALUES (?, ?)"
        try database.run(sql, [log.stored, sequence.stored])
    }

    static func usedSequences(_ database: SQLiteConnection) throws -> [UInt64: SequenceNumber] {
        Dictionary(
            uniqueKeysWithValues: try database.all("SELECT log_id, sequence FROM sequences") {
                (try $0.bits(0), try $0.number(1))
            })
    }
}
