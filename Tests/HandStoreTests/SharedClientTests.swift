import Foundation
import HandCore
import HandJournal
import HandStore
import HandSync
import HandTestSupport
import HandWire
import SQLite
import Testing

/// A journal's knowledge about its client: its author numbers by name, and whether another program uses its id.
@Suite struct SharedClientTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/0.sqlite" }
    private let first = ClientID(high: 1, low: 1)
    private let second = ClientID(high: 2, low: .max)

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    private func inJournal<Result>(_ fresh: ClientID, _ body: (ClientJournal) throws -> Result) throws -> Result {
        let journal = try ClientJournal(path: path, fresh: fresh)
        defer { try? journal.close() }
        return try body(journal)
    }

    @Test func aSharedIDIsReplacedWhenNothingIsInFlight() throws {
        var replica = Replica(confirmed: Hand(), revision: 3, logID: 7, sequence: 4)
        try replica.edit(Delta.inserting(tasks(1), at: 0, .after))
        try inJournal(first) { journal in
            try journal.checkpoint(replica, of: "list")
            try journal.append([.submitted], to: "list")
            try journal.noteSharedClient()
            #expect(journal.client == first)
        }
        try inJournal(second) { journal in
            #expect(journal.client == first, "only the old id can reveal the outcome of the submission in flight")
            try journal.append([.rejected(sequence: 5, .notStored)], to: "list")
        }
        #expect(try inJournal(second) { $0.client } == second)
        #expect(try inJournal(first) { $0.client } == second)
    }

    /// A running program takes another id as soon as nothing is in flight.
    @Test func anotherIDIsTakenAtOnce() throws {
        var replica = Replica(confirmed: Hand(), revision: 3, logID: 7, sequence: 4)
        try replica.edit(Delta.inserting(tasks(1), at: 0, .after))
        try inJournal(first) { journal in
            try journal.checkpoint(replica, of: "list")
            try journal.append([.submitted], to: "list")
            try journal.note(author: 7, of: "ada")
            #expect(try !journal.take(second))
            try journal.append([.rejected(sequence: 5, .notStored)], to: "list")
            #expect(try journal.take(second))
        }
        #expect(ClientJournal.author(of: "ada", inJournalAt: path) == nil, "the number belonged to the old id")
        #expect(try inJournal(first) { $0.client } == second)
    }

    @Test func theNumbersOfItsNamesAreKept() throws {
        func number(_ person: String) -> UInt64? { ClientJournal.author(of: person, inJournalAt: path) }
        #expect(number("ada") == nil)
        try inJournal(first) { journal in
            try journal.note(author: 7, of: "ada")
            try journal.note(author: .max, of: "bob")
            #expect(number("ada") == 7 && number("bob") == .max && number("eve") == nil)
            // Before the first commit, the number may be another each time.
            try journal.meet(author: 7, of: "ada")
            try journal.meet(author: 20, of: "eve")
            try journal.meet(author: 21, of: "eve")
            #expect(number("ada") == 7 && number("bob") == .max && number("eve") == nil)
            // Another number under the same name belongs to another server.
            try journal.meet(author: 8, of: "ada")
            #expect(number("ada") == nil && number("bob") == nil)
            try journal.note(author: 8, of: "ada")
            try journal.note(author: 9, of: "ada")
        }
        #expect(number("ada") == 9 && number("bob") == nil)
    }

    /// Journals of the third and the second format are converted.
    @Test(arguments: [
        "PRAGMA user_version = 3",
        "DROP TABLE authors; ALTER TABLE client DROP COLUMN is_shared; PRAGMA user_version = 2",
    ])
    func aFormerJournalIsConverted(change: String) throws {
        let replica = Replica(confirmed: Hand(tasks(2)), revision: 3, logID: 7, sequence: 4)
        try inJournal(first) { try $0.checkpoint(replica, of: "list") }
        let database = try SQLiteDatabase(path)
        try database.write {
            try $0.runAll("DROP TABLE steps; DROP TABLE waiting; DROP TABLE sequences; \(change)")
        }
        try database.close()
        try inJournal(second) { journal in
            #expect(journal.client == first)
            #expect(try journal.load("list")?.confirmed == replica.confirmed)
            try journal.note(author: 7, of: "ada")
            try journal.note(.undo, in: 1, sequence: 1)
        }
        #expect(steps().made == [1: .undo])
    }

    private func steps(of author: UInt64 = .max, in log: UInt64 = 1) -> Retrace.Steps {
        ClientJournal.steps(of: author, in: log, inJournalAt: path)
    }

    /// Which of its submissions undid others.
    @Test func stepsAreKeptByTheirSequences() throws {
        #expect(steps() == Retrace.Steps())
        try inJournal(first) { journal in
            try journal.note(.undo, in: 1, sequence: 4)
            try journal.noteEmpty(.undo, in: 1, at: 9, by: .max)
            try journal.note(.redo, in: 1, sequence: 5)
            try journal.noteEmpty(.redo, in: 1, at: 9, by: .max)
            try journal.noteEmpty(.redo, in: 1, at: 9, by: 7)
            try journal.note(.undo, in: .max, sequence: 6)
            #expect(steps() == Retrace.Steps(made: [4: .undo, 5: .redo], empty: [9: [.undo, .redo]]))
            // Sequences belong to the client; undos without a commit belong to one name.
            #expect(steps(of: 7).empty == [9: [.redo]])
        }
        #expect(steps(in: .max).made == [6: .undo])
        // They are useless to another client id, which has its own sequences.
        try inJournal(first) { try $0.noteSharedClient() }
        try inJournal(second) { _ in }
        #expect(steps() == Retrace.Steps() && steps(in: .max) == Retrace.Steps())
    }

    @Test func theNewestStepsAreKept() throws {
        try inJournal(first) { journal in
            for sequence in 1...10_003 { try journal.note(.undo, in: 1, sequence: UInt64(sequence)) }
        }
        #expect(Set(steps().made.keys) == Set(4...10_003))
    }
}
