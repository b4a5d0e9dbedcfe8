import HandSync
import HandWire
import SQLite
import StoreFiles

// What a client knows about itself: its numbers by name, which of its commits are undos or redos, and which sequences
// it has used.

// MARK: - Authors

extension ClientJournal {
    /// Notes that another program has this client's id too. The journal takes a new id when it is opened next and
    /// nothing is in flight: only the old id can find out the result of a submission in flight.
    package func noteSharedClient() throws {
        try StoreFile.translating(path) {
            try database.write { _ = try $0.run("UPDATE client SET is_shared = 1") }
        }
    }

    /// Takes a new id at once; returns false if something is in flight.
    package func take(_ fresh: ClientID) throws -> Bool {
        try StoreFile.translating(path) { try database.write { try Self.take(fresh, $0, path) } }
    }

    /// Compares the author number that the server uses for this client under a name. If the journal has another number,
    /// it is another server, and the journal forgets all numbers.
    package func meet(author: UInt64, of person: String) throws {
        try StoreFile.translating(path) {
            try database.withConnection { database in
                guard let known = try Self.number(of: person, database), known != author else { return }
                try database.run("DELETE FROM authors")
            }
        }
    }

    /// Notes the author number of this client under a name, once a commit with it exists: the number is permanent then.
    package func note(author: UInt64, of person: String) throws {
        try StoreFile.translating(path) {
            try database.withConnection { database in
                guard try Self.number(of: person, database) != author else { return }
                let sql = "INSERT OR REPLACE INTO authors VALUES (?, ?)"
                try database.run(sql, [.text(person), author.stored])
            }
        }
    }

    private static func number(of person: String, _ database: SQLiteConnection) throws -> UInt64? {
        try database.first("SELECT number FROM authors WHERE person = ?", [.text(person)])?.bits(0)
    }

    /// Returns the number that the client of a journal has under a name, or nil if no commit of it is known. Works
    /// while another process has the journal open.
    package static func author(of person: String, inJournalAt path: String) -> UInt64? {
        try? reading(path) { try number(of: person, $0) }
    }

    static func reading<Result>(_ path: String, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        // SQLite would wait for the other end of a pipe; it would also remove the log of an empty file, and the edits
        // in it.
        try StoreFile.expectUsable(path)
        try StoreFile.checkHeader(path)
        // A command that ends locks the journal for a moment, which reading waits for.
        return try SQLiteDatabase(path, .reading).read(body)
    }
}

// MARK: - Steps

extension ClientJournal {
    /// How many steps are kept: the newest ones.
    static let mostSteps = 10_000

    /// Notes that this client's submission with a sequence is an undo or redo of one of its own commits.
    package func note(_ step: UndoStep, in log: UInt64, sequence: UInt64) throws {
        try insert("sequence) VALUES (?, ?, ?)", [log.stored, .init(Int(step.rawValue)), sequence.stored])
    }

    /// Notes that at a revision nothing was left that the author could undo or redo, so no commit was made.
    package func noteEmpty(_ step: UndoStep, in log: UInt64, at revision: Int, by author: UInt64) throws {
        try insert(
            "revision, author) VALUES (?, ?, ?, ?)",
            [log.stored, .init(Int(step.rawValue)), .init(revision), author.stored])
    }

    /// - Parameter row: the columns after the first two, and the placeholders of all values.
    private func insert(_ row: String, _ arguments: [SQLiteValue]) throws {
        try StoreFile.translating(path) {
            try database.write { database in
                try database.run("INSERT INTO steps (log_id, step, \(row)", arguments)
                let oldest = database.lastInsertedRow - Int64(Self.mostSteps)
                try database.run("DELETE FROM steps WHERE number <= ?", [.integer(oldest)])
            }
        }
    }

    /// Returns what a journal knows of an author's steps through a history. Works while another process has the journal
    /// open.
    package static func steps(of author: UInt64, in log: UInt64, inJournalAt path: String) -> Retrace.Steps {
        let found = try? reading(path) { database in
            var steps = Retrace.Steps()
            let sql = """
                SELECT step, sequence, revision FROM steps
                WHERE log_id = ? AND (author IS NULL OR author = ?) ORDER BY number
                """
            let rows = try database.rows(sql, [log.stored, author.stored])
            while let row = try rows.next() {
                guard let step = UndoStep(rawValue: UInt8(clamping: try row.integer(0))) else { continue }
                if let sequence = try row.optionalBits(1) { steps.made[sequence] = step }
                if !row.isNull(2) { steps.empty[try row.integer(2), default: []].append(step) }
            }
            return steps
        }
        return found ?? Retrace.Steps()
    }
}

// MARK: - Sequences

extension ClientJournal {
    /// Notes that a sequence is used in a history.
    package func noteUsed(_ sequence: UInt64, in log: UInt64) throws {
        try StoreFile.translating(path) {
            try database.withConnection { try Self.noteUsed(sequence, in: log, $0) }
        }
    }

    static func noteUsed(_ sequence: UInt64, in log: UInt64, _ database: SQLiteConnection) throws {
        if let last = try usedSequences(database)[log], last >= sequence { return }
        let sql = "INSERT OR REPLACE INTO sequences VALUES (?, ?)"
        try database.run(sql, [log.stored, sequence.stored])
    }

    static func usedSequences(_ database: SQLiteConnection) throws -> [UInt64: UInt64] {
        let rows = try database.all("SELECT log_id, sequence FROM sequences") { (try $0.bits(0), try $0.bits(1)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}
