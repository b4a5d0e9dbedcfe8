import HandCore
import HandSync

extension ClientJournal {
    /// How many of several writes succeeded, and the problem with the next one.
    package struct Progress: Sendable {
        package var done = 0
        package var problem: String?
    }

    /// Carries out the writes in order, up to the first that fails.
    package func keep(_ writes: [JournalWrite]) -> Progress {
        var progress = Progress()
        for write in writes {
            do { try keep(write) } catch {
                progress.problem = "the edits cannot be kept on disk: \(error)"
                return progress
            }
            progress.done += 1
        }
        return progress
    }

    private func keep(_ write: JournalWrite) throws {
        switch write {
        case .append(let events, let list): try append(events, to: list)
        case .checkpoint(let replica, let list, let formerName):
            try checkpoint(replica, of: list, formerName: formerName)
        case .step(let step, let log, let sequence): try note(step, in: log, sequence: sequence)
        case .used(let log, let sequence): try noteUsed(sequence, in: log)
        case .shared: try noteSharedClient()
        // Without the authors, a client cannot undo edits of earlier runs, but loses no edits.
        case .met(let author, let person): try? meet(author: author, of: person)
        case .committed(let author, let person): try? note(author: author, of: person)
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
}
