import Disk
import HandCore
import HandSync

extension ClientJournal {
    /// How many of several writes succeeded, and the problem with the next one.
    package struct Progress: Sendable {
        package var done = 0
        package var problem: String?
    }

    /// Carries out the writes in order and together: all or none.
    package func keep(_ writes: [JournalWrite]) -> Progress {
        do {
            try StoreFile.translating(path) {
                try database.write { database in for write in writes { try keep(write, database) } }
            }
            return Progress(done: writes.count)
        } catch {
            return Progress(problem: "the edits cannot be kept on disk: \(error)")
        }
    }

    private func keep(_ write: JournalWrite, _ database: SQLiteConnection) throws {
        switch write {
        case .append(let events, let list): try append(events, to: list, database)
        case .checkpoint(let replica, let list, let formerName):
            try checkpoint(replica, of: list, formerName: formerName, database)
        case .submission(let submission, let person): try Self.note(submission, person, database)
        case .answered(let log, let sequence, let revision):
            try Self.noteAnswer(to: sequence, in: log, revision, database)
        case .undo(let base, let log, let person): try Self.note(base, in: log, of: person, database)
        case .work(let work, let list, let person): try Self.note(work, of: person, on: list, database)
        case .lost(let loss, let list, let log, let person): try Self.note(loss, of: list, log, person, database)
        case .found(let loss, let list): try Self.forget(loss, of: list, database)
        case .told(let list, let person):
            let sql = "UPDATE losses SET is_told = 1 WHERE list = ? AND person = ?"
            try database.run(sql, [.text(list), .text(person)])
        case .used(let log, let sequence): try Self.noteUsed(sequence, in: log, database)
        case .shared: try Self.noteSharedClient(database)
        case .met(let author, let person): try Self.meet(author: author, of: key(of: person), database)
        case .committed(let author, let person): try Self.note(author: author, of: key(of: person), database)
        }
    }
}

extension ClientJournal {
    /// The stored replica of a list, and the number of its events.
    package struct Kept: Sendable {
        package let replica: Replica
        package let events: Int
    }

    /// Returns the stored replica of a list, or nil if there is none.
    package func kept(_ list: String) throws -> Kept? {
        try load(list).map { Kept(replica: $0, events: try eventCount(of: list)) }
    }

    /// Returns whether edits of a list wait to be sent.
    package func isWaiting(_ list: String) throws -> Bool { try mayHavePending(list) && load(list)?.hasPending == true }

    /// Returns the lists whose edits wait to be sent.
    package func waitingLists() throws -> [String] { try lists().filter { try isWaiting($0) } }
}
