import Disk
import HandCore
import HandSync
import HandWire

// What a person did with this client: submissions by their sequences, what can be undone, what others may override.

extension ClientJournal {
    /// How many submissions are kept, and how many steps without a commit; the oldest are dropped.
    static let maxSubmissions = 10_000

    // MARK: Submissions

    static func note(_ submission: JournalSubmission, _ person: String, _ database: SQLiteConnection) throws {
        try database.run(
            """
            INSERT OR REPLACE INTO submissions (log_id, sequence, person, list, step, count, edit) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                submission.log.stored, submission.sequence.stored, .text(person), .text(submission.list),
                submission.step.map { .init(Int($0.rawValue)) } ?? .null, .init(submission.count),
                submission.edit.map { .bytes($0.bytes) } ?? .null,
            ])
        try trim("submissions", where: " AND (edit IS NULL OR revision IS NOT NULL)", database)
        try noteUsed(submission.sequence, in: submission.log, database)
    }

    private static func trim(_ table: String, where condition: String = "", _ database: SQLiteConnection) throws {
        let oldest = database.lastInsertedRow - Int64(maxSubmissions)
        try database.run("DELETE FROM \(table) WHERE number <= ?\(condition)", [.integer(oldest)])
    }

    /// Notes the revision that a submission became; without a revision, forgets the submission.
    static func noteAnswer(
        to sequence: SequenceNumber, in log: UInt64, _ revision: Int?, _ database: SQLiteConnection
    ) throws {
        let key = [log.stored, sequence.stored]
        let isThis = "WHERE log_id = ? AND sequence = ?"
        if let revision {
            try database.run("UPDATE submissions SET edit = NULL, revision = ? \(isThis)", [.init(revision)] + key)
            try database.run("DELETE FROM submissions \(isThis) AND step IS NULL AND count = 1", key)
        } else {
            try database.run("DELETE FROM submissions \(isThis)", key)
        }
    }

    /// Returns the edits of a person that were sent and not answered, the oldest first.
    package func unanswered(by person: String) throws -> [JournalSubmission] {
        try reading { database in
            try database.all(
                """
                SELECT log_id, sequence, list, step, edit FROM submissions
                WHERE edit IS NOT NULL AND person = ? ORDER BY number
                """, [.text(person)]
            ) { row in
                JournalSubmission(
                    log: try row.bits(0), sequence: try row.number(1), list: try row.text(2),
                    step: row.isNull(3) ? nil : UndoStep(rawValue: UInt8(clamping: try row.integer(3))),
                    edit: try row.withBytes(4) { try ExcerptEdit($0) })
            }
        }
    }

    // MARK: Undo and redo

    /// Notes some steps of an author at a revision that changed nothing, so that no commits were made.
    package func noteEmpty(
        _ step: UndoStep, count: Int, in log: UInt64, at revision: Int, by author: AuthorID
    ) throws {
        try writing { database in
            for _ in 0..<count {
                try database.run(
                    "INSERT INTO empty_steps (log_id, step, revision, author) VALUES (?, ?, ?, ?)",
                    [log.stored, .init(Int(step.rawValue)), .init(revision), author.stored])
            }
            try Self.trim("empty_steps", database)
        }
    }

    static func note(
        _ base: UndoBase, in log: UInt64, of person: String, _ database: SQLiteConnection
    ) throws {
        try database.run(
            "INSERT OR REPLACE INTO undo VALUES (?, ?, ?)", [log.stored, .text(person), .bytes(base.bytes)])
    }

    /// Returns what a journal knows of an author's steps through a history. Works while another process has the journal
    /// open.
    package static func steps(of author: AuthorID, in log: UInt64, inJournalAt path: String) -> UndoReconstruction.Steps
    {
        let found = try? reading(path) { database in
            var steps = UndoReconstruction.Steps()
            let made = try database.rows(
                "SELECT step, sequence, count FROM submissions WHERE log_id = ?", [log.stored])
            while let row = try made.next() {
                let sequence: SequenceNumber = try row.number(1)
                if !row.isNull(0) { steps.made[sequence] = UndoStep(rawValue: UInt8(clamping: try row.integer(0))) }
                if try row.integer(2) > 1 { steps.counts[sequence] = try row.integer(2) }
            }
            let empty = try database.rows(
                "SELECT step, revision FROM empty_steps WHERE log_id = ? AND author = ? ORDER BY number",
                [log.stored, author.stored])
            while let row = try empty.next() {
                guard let step = UndoStep(rawValue: UInt8(clamping: try row.integer(0))) else { continue }
                steps.empty[try row.integer(1), default: []].append(step)
            }
            return steps
        }
        return found ?? UndoReconstruction.Steps()
    }

    /// Returns what a person could undo and redo when a list was last closed. Works while another process has the
    /// journal open.
    package static func history(
        of person: String, in log: UInt64, inJournalAt path: String
    ) -> UndoBase? {
        try? reading(path) { database in
            let row = try database.first(
                "SELECT base FROM undo WHERE log_id = ? AND person = ?", [log.stored, .text(person)])
            return try row?.withBytes(0) { try UndoBase($0) }
        } ?? nil
    }

    // MARK: What others may override

    static func note(_ work: KeptWork, of person: String, on list: String, _ database: SQLiteConnection) throws {
        try database.run(
            "INSERT OR REPLACE INTO work VALUES (?, ?, ?, ?)",
            [work.logID.stored, .text(person), .text(list), .bytes(work.bytes)])
    }

    /// Notes a person's work, and what others have overridden of it.
    package func note(_ work: KeptWork, of person: String, on list: String, _ losses: [Loss] = []) throws {
        try writing { database in
            for loss in losses { try Self.note(loss, of: list, work.logID, person, database) }
            if work.isEmpty {
                try database.run(
                    "DELETE FROM work WHERE log_id = ? AND person = ?", [work.logID.stored, .text(person)])
            } else {
                try Self.note(work, of: person, on: list, database)
            }
        }
    }

    /// Returns a person's work that others may still override, of each list. A list's name may have changed since.
    package func work(of person: String) throws -> [(list: String, work: KeptWork)] {
        try reading { database in
            try database.all("SELECT list, work FROM work WHERE person = ?", [.text(person)]) { row in
                (try row.text(0), try row.withBytes(1) { try KeptWork($0) })
            }
        }
    }
}
