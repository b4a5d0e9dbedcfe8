import Disk
import Foundation
import HandClient
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
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
        let journal = try open(fresh)
        defer { try? journal.close() }
        return try body(journal)
    }

    /// A child that another test has just forked holds the lock until it runs its program.
    private func open(_ fresh: ClientID) throws -> ClientJournal {
        for _ in 0..<6_000 {
            do { return try ClientJournal(path: path, fresh: fresh) } catch StoreError.inUse { usleep(10_000) }
        }
        return try ClientJournal(path: path, fresh: fresh)
    }

    @Test func aSharedIDIsReplacedWhenNothingIsInFlight() throws {
        var replica = Replica(confirmed: Hand(), revision: 3, logID: 7, sequence: 4)
        try replica.edit(Delta.inserting(tasks(1), at: 0, .after))
        try inJournal(first) { journal in
            try journal.checkpoint(replica, of: "list")
            try journal.append([.submitted], to: "list")
            try journal.carryOut(.shared)
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
            try journal.carryOut(.committed(author: 7, person: "ada"))
            #expect(try !journal.take(second))
            try journal.append([.rejected(sequence: 5, .notStored)], to: "list")
            #expect(try journal.take(second))
        }
        #expect(ClientJournal.author(of: "ada", inJournalAt: path) == nil, "the number belonged to the old id")
        #expect(try inJournal(first) { $0.client } == second)
    }

    @Test func theNumbersOfItsNamesAreKept() throws {
        func number(_ person: String) -> AuthorID? { ClientJournal.author(of: person, inJournalAt: path) }
        #expect(number("ada") == nil)
        try inJournal(first) { journal in
            try journal.carryOut(.committed(author: 7, person: "ada"))
            try journal.carryOut(.committed(author: .max, person: "bob"))
            #expect(number("ada") == 7 && number("bob") == .max && number("eve") == nil)
            // Before the first commit, the number may be another each time.
            try journal.carryOut(.met(author: 7, person: "ada"))
            try journal.carryOut(.met(author: 20, person: "eve"))
            try journal.carryOut(.met(author: 21, person: "eve"))
            #expect(number("ada") == 7 && number("bob") == .max && number("eve") == nil)
            // Another number under the same name belongs to another server.
            try journal.carryOut(.met(author: 8, person: "ada"))
            #expect(number("ada") == nil && number("bob") == nil)
            try journal.carryOut(.committed(author: 8, person: "ada"))
            try journal.carryOut(.committed(author: 9, person: "ada"))
        }
        #expect(number("ada") == 9 && number("bob") == nil)
    }

    /// A token has its own name on the server, whatever the person is called here.
    @Test func eachTokenHasItsNumber() throws {
        for (token, number) in [(nil, 7), ("one", 8), ("two", 9)] as [(String?, AuthorID)] {
            let journal = try ClientJournal(path: path, fresh: ClientID(high: 1, low: 1), person: "ada", token: token)
            try journal.carryOut(.met(author: number, person: "ada"))
            try journal.carryOut(.committed(author: number, person: "ada"))
            try journal.close()
        }
        #expect(ClientJournal.author(of: "ada", inJournalAt: path) == 7)
        #expect(ClientJournal.author(of: "ada", token: "one", inJournalAt: path) == 8)
        #expect(ClientJournal.author(of: "ada", token: "two", inJournalAt: path) == 9)
    }

    /// Another command is making the journal: it has nothing yet.
    @Test func aJournalThatIsBeingMadeIsEmpty() throws {
        try StoreFile.makeFolder(PrivateFile.folder(of: path))
        let database = try SQLiteDatabase(path)
        try database.withConnection { try $0.runAll("PRAGMA journal_mode = WAL") }
        #expect(try ClientJournal.copy(of: "list", inJournalAt: path) == nil)
        #expect(try ClientJournal.lists(inJournalAt: path).isEmpty && ClientJournal.check(at: path).isEmpty)
        try database.close()
    }

    /// A journal from before 1.0 is refused with one sentence, and not touched.
    @Test func aFormerJournalIsRefused() throws {
        try inJournal(first) { try $0.checkpoint(Replica(), of: "list") }
        let database = try SQLiteDatabase(path)
        try database.write { try $0.runAll("PRAGMA user_version = 6") }
        try database.close()
        let before = try Data(contentsOf: URL(filePath: path))
        let problem = #expect(throws: StoreError.self) { try inJournal(second) { _ in } }
        #expect(problem?.description.contains("was written before hand 1.0") == true)
        #expect(throws: StoreError.self) { try ClientJournal.check(at: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    private func steps(of author: AuthorID = .max, in log: UInt64 = 1) -> UndoReconstruction.Steps {
        ClientJournal.steps(of: author, in: log, inJournalAt: path)
    }

    /// Which of its submissions undid others.
    @Test func stepsAreKeptByTheirSequences() throws {
        #expect(steps() == UndoReconstruction.Steps())
        try inJournal(first) { journal in
            try journal.carryOut(.step(.undo, 1, 4))
            try journal.noteEmpty(.undo, count: 1, in: 1, at: 9, by: .max)
            try journal.carryOut(.step(.redo, 1, 5))
            try journal.noteEmpty(.redo, count: 1, in: 1, at: 9, by: .max)
            try journal.noteEmpty(.redo, count: 1, in: 1, at: 9, by: 7)
            try journal.carryOut(.step(.undo, .max, 6))
            #expect(steps() == UndoReconstruction.Steps(made: [4: .undo, 5: .redo], empty: [9: [.undo, .redo]]))
            // Sequences belong to the client; undos without a commit belong to one name.
            #expect(steps(of: 7).empty == [9: [.redo]])
        }
        #expect(steps(in: .max).made == [6: .undo])
        // They are useless to another client id, which has its own sequences.
        try inJournal(first) { try $0.carryOut(.shared) }
        try inJournal(second) { _ in }
        #expect(steps() == UndoReconstruction.Steps() && steps(in: .max) == UndoReconstruction.Steps())
    }

    @Test func theNewestStepsAreKept() throws {
        try inJournal(first) { journal in
            for sequence in 1...10_003 { try journal.carryOut(.step(.undo, 1, SequenceNumber(sequence))) }
        }
        #expect(Set(steps().made.keys) == Set((4...10_003).map(SequenceNumber.init)))
    }
}

extension ClientJournal {
    fileprivate func carryOut(_ write: JournalWrite) throws { #expect(keep([write]).problem == nil) }
}

extension JournalWrite {
    fileprivate static func step(_ step: UndoStep, _ log: UInt64, _ sequence: SequenceNumber) -> JournalWrite {
        .submission(JournalSubmission(log: log, sequence: sequence, list: "list", step: step), person: "ada")
    }
}
