import GRDB
import HandSync
import HandWire

// What a client knows about itself: its numbers by name, which of its commits are undos or redos, and which sequences
// it has used.

// MARK: - Authors

extension ClientJournal {
    /// Notes that another program has this client's id too. The journal takes a new id when it is opened next and
    /// nothing is in flight: only the old id can find out the result of a submission in flight.
    package func noteSharedClient() throws {
        try SQLiteStore.translating(path) {
            try database.write { try $0.execute(sql: "UPDATE client SET is_shared = 1") }
        }
    }

    /// Takes a new id at once; returns false if something is in flight.
    package func take(_ fresh: ClientID) throws -> Bool {
        try SQLiteStore.translating(path) { try database.write { try Self.take(fresh, $0, path) } }
    }

    /// Compares the author number that the server uses for this client under a name. If the journal has another number,
    /// it is another server, and the journal forgets all numbers.
    package func meet(author: UInt64, of person: String) throws {
        try SQLiteStore.translating(path) {
            try database.writeWithoutTransaction { database in
                guard let known = try Self.number(of: person, database), known != author.stored else { return }
                try database.execute(sql: "DELETE FROM authors")
            }
        }
    }

    /// Notes the author number of this client under a name, once a commit with it exists: the number is permanent then.
    package func note(author: UInt64, of person: String) throws {
        try SQLiteStore.translating(path) {
            try database.writeWithoutTransaction { database in
                guard try Self.number(of: person, database) != author.stored else { return }
                let sql = "INSERT OR REPLACE INTO authors VALUES (?, ?)"
                try database.execute(sql: sql, arguments: [person, author.stored])
            }
        }
    }

    private static func number(of person: String, _ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT number FROM authors WHERE person = ?", arguments: [person])
    }

    /// Returns the number that the client of a journal has under a name, or nil if no commit of it is known. Works
    /// while another process has the journal open.
    package static func author(of person: String, inJournalAt path: String) -> UInt64? {
        try? reading(path) { try number(of: person, $0).map { UInt64(bitPattern: $0) } }
    }

    static func reading<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        // SQLite would wait for the other end of a pipe; it would also remove the log of an empty file, and the edits
        // in it.
        try SQLiteStore.expectUsable(path)
        try SQLiteStore.checkHeader(path)
        var configuration = Configuration()
        configuration.readonly = true
        // A command that ends locks the journal for a moment.
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration).read(body)
    }
}

// MARK: - Steps

extension ClientJournal {
    /// How many steps are kept: the newest ones.
    static let mostSteps = 10_000

    /// Notes that this client's submission with a sequence is an undo or redo of one of its own commits.
    package func note(_ step: UndoStep, in log: UInt64, sequence: UInt64) throws {
        try insert("sequence) VALUES (?, ?, ?)", [log.stored, Int(step.rawValue), sequence.stored])
    }

    /// Notes that at a revision nothing was left that the author could undo or redo, so no commit was made.
    package func noteEmpty(_ step: UndoStep, in log: UInt64, at revision: Int, by author: UInt64) throws {
        try insert("revision, author) VALUES (?, ?, ?, ?)", [log.stored, Int(step.rawValue), revision, author.stored])
    }

    /// - Parameter row: the columns after the first two, and the placeholders of all values.
    private func insert(_ row: String, _ arguments: StatementArguments) throws {
        try SQLiteStore.translating(path) {
            try database.write { database in
                try database.execute(sql: "INSERT INTO steps (log_id, step, \(row)", arguments: arguments)
                let oldest = database.lastInsertedRowID - Int64(Self.mostSteps)
                try database.execute(sql: "DELETE FROM steps WHERE number <= ?", arguments: [oldest])
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
            let rows = try Row.fetchCursor(database, sql: sql, arguments: [log.stored, author.stored])
            while let row = try rows.next() {
                guard let step = UndoStep(rawValue: row[0]) else { continue }
                if let sequence: Int64 = row[1] { steps.made[UInt64(bitPattern: sequence)] = step }
                if let revision: Int = row[2] { steps.empty[revision, default: []].append(step) }
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
        try SQLiteStore.translating(path) {
            try database.writeWithoutTransaction { try Self.noteUsed(sequence, in: log, $0) }
        }
    }

    static func noteUsed(_ sequence: UInt64, in log: UInt64, _ database: Database) throws {
        if let last = try usedSequences(database)[log], last >= sequence { return }
        let sql = "INSERT OR REPLACE INTO sequences VALUES (?, ?)"
        try database.execute(sql: sql, arguments: [log.stored, sequence.stored])
    }

    static func usedSequences(_ database: Database) throws -> [UInt64: UInt64] {
        let rows = try Row.fetchAll(database, sql: "SELECT log_id, sequence FROM sequences")
        return try rows.reduce(into: [:]) { $0[try $1.bits(0)] = try $1.bits(1) }
    }
}
