import GRDB
import HandSync
import HandWire

// What a client knows of itself: its numbers by name, which of its commits take others back, which sequences it has used.

// MARK: - Authors

extension ClientJournal {
    /// Another program has this client's id too. A new one is taken when the journal is opened next and nothing is in flight: what
    /// became of that, only the old id can tell.
    package func noteSharedClient() throws {
        try SQLiteStore.translating(path) {
            try database.write { try $0.execute(sql: "UPDATE client SET is_shared = 1") }
        }
    }

    /// Takes a new id at once; false if something is in flight.
    package func take(_ fresh: ClientID) throws -> Bool {
        try SQLiteStore.translating(path) { try database.write { try Self.take(fresh, $0, path) } }
    }

    /// The server calls this client by that number under that name. If it is known by another, it is another server by now.
    package func meet(author: UInt64, of person: String) throws {
        try SQLiteStore.translating(path) {
            try database.writeWithoutTransaction { database in
                guard let known = try Self.number(of: person, database), known != author.stored else { return }
                try database.execute(sql: "DELETE FROM authors")
            }
        }
    }

    /// A commit of this client was made under that name: it has that number there for ever.
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

    /// The number that the client of a journal has under a name, also while another process has it open; nil if no commit of it is
    /// known.
    package static func author(of person: String, inJournalAt path: String) -> UInt64? {
        try? reading(path) { try number(of: person, $0).map { UInt64(bitPattern: $0) } }
    }

    static func reading<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        // SQLite would wait for the other end of a pipe, and remove the log of an empty file, and with it what waits there.
        try SQLiteStore.expectUsable(path)
        try SQLiteStore.checkHeader(path)
        var configuration = Configuration()
        configuration.readonly = true
        // A command that ends has it to itself for a moment.
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration).read(body)
    }
}

// MARK: - Steps

extension ClientJournal {
    /// The newest of them are kept.
    static let mostSteps = 10_000

    /// The submission of this client to a history with that sequence takes back one of its own commits.
    package func note(_ step: Retrace.Step, in log: UInt64, sequence: UInt64) throws {
        try insert("sequence) VALUES (?, ?, ?)", [log.stored, Int(step.rawValue), sequence.stored])
    }

    /// At that revision of a history there was nothing left that the author could have taken back: no commit was made.
    package func noteEmpty(_ step: Retrace.Step, in log: UInt64, at revision: Int, by author: UInt64) throws {
        try insert("revision, author) VALUES (?, ?, ?, ?)", [log.stored, Int(step.rawValue), revision, author.stored])
    }

    /// - Parameter row: the columns after the first two, and the values of all.
    private func insert(_ row: String, _ arguments: StatementArguments) throws {
        try SQLiteStore.translating(path) {
            try database.write { database in
                try database.execute(sql: "INSERT INTO steps (log_id, step, \(row)", arguments: arguments)
                let oldest = database.lastInsertedRowID - Int64(Self.mostSteps)
                try database.execute(sql: "DELETE FROM steps WHERE number <= ?", arguments: [oldest])
            }
        }
    }

    /// What the client of a journal knows of an author's steps through a history, also while another process has it open.
    package static func steps(of author: UInt64, in log: UInt64, inJournalAt path: String) -> Retrace.Steps {
        let found = try? reading(path) { database in
            var steps = Retrace.Steps()
            let sql = """
                SELECT step, sequence, revision FROM steps
                WHERE log_id = ? AND (author IS NULL OR author = ?) ORDER BY number
                """
            let rows = try Row.fetchCursor(database, sql: sql, arguments: [log.stored, author.stored])
            while let row = try rows.next() {
                guard let step = Retrace.Step(rawValue: row[0]) else { continue }
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
