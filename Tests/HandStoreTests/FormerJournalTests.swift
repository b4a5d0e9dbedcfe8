import Foundation
import HandCore
import HandJournal
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import SQLite
import Testing

/// Journals whose edits set texts are converted: pending edits keep their meaning.
@Suite struct FormerJournalTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/0.sqlite" }

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    private func edit(_ body: (SQLiteConnection) throws -> Void) throws {
        let database = try SQLiteDatabase(path)
        try database.write(body)
        try database.close()
    }

    private func open() throws -> ClientJournal {
        try ClientJournal(path: path, fresh: ClientID(high: 5, low: 1), person: "ada")
    }

    /// As the last program of that format left it.
    @Test func aJournalIsConverted() throws {
        try edit { try $0.runAll(FormerStore.fourthJournal) }
        for _ in 0..<2 {
            let journal = try open()
            let replica = try #require(try journal.load("groceries"))
            #expect(
                replica.view.map(\.content.text) == ["whole milk", "oat flakes", "12 eggs", "bread", "made offline"])
            #expect(replica.pending.count == 1 && replica.revision == 10)
            let change = Change(text: "oat milk, 2 l", to: "whole milk")
            #expect(replica.pending.flatMap(\.itemChanges) == [change])
            #expect(try journal.waitingPerson() == "ada")
            try journal.close()
        }
    }

    /// A client that has made edits, got answers and received others' commits, in any order.
    @Test(arguments: 0..<12) func randomJournalsAreConverted(round: Int) throws {
        var chaos = Chaos(seed: testSeed(63) &+ UInt64(round))
        var replica = Replica(confirmed: Hand(chaos.items(8)), revision: 3, logID: 7, sequence: 0)
        replica.author = 1
        let journal = try open()
        var events: [[UInt8]] = []
        func play(_ count: Int) throws {
            for _ in 0..<count {
                var event: JournalEvent
                switch chaos.random.next(below: 3) {
                case 0: event = .edit(chaos.delta(on: replica.view, size: 2), isExact: false)
                case 1: event = .submitted
                default: event = .commit(Self.commit(on: replica, &chaos))
                }
                if case .submitted = event, replica.inFlight != nil {
                    event = .commit(Self.own(on: replica))
                }
                events.append(try Self.former(event, replica))
                try replica.replay(event)
            }
        }
        try play(12)
        try journal.checkpoint(replica, of: "a")
        let checkpoint = try Self.former(replica)
        events = []
        try play(12)
        try journal.close()
        try edit { database in
            try database.run("UPDATE checkpoints SET head = ?", [.bytes(checkpoint)])
            for event in events {
                try database.run("INSERT INTO events (list, event) VALUES ('a', ?)", [.bytes(event)])
            }
            try database.runAll("DROP TABLE sequences; PRAGMA user_version = 4")
        }
        let again = try open()
        let kept = try #require(try again.load("a"))
        #expect(kept.confirmed == replica.confirmed && kept.view == replica.view)
        #expect(kept.pending == replica.pending && kept.inFlight?.sequence == replica.inFlight?.sequence)
        try again.close()
    }

    /// In journals of the fifth format, a rejection left its sequence free, and the submission in flight took the one
    /// after the server's last.
    @Test func formerSequencesKeepTheirMeaning() throws {
        func item(_ number: UInt64) -> Delta {
            .inserting([Item(id: ItemID(rawValue: number), content: .note("n"))], at: 0, .after)
        }
        var replica = Replica(confirmed: Hand(), revision: 3, logID: 7, sequence: 4)
        replica.author = 1
        let journal = try open()
        try journal.checkpoint(replica, of: "rejected")
        try journal.checkpoint(replica, of: "caught up")
        let edits: [JournalEvent] = [.edit(item(1), isExact: false), .submitted, .edit(item(2), isExact: true)]
        // It was sent under sequence 5 and refused, and the next one was sent under sequence 5, too.
        try journal.append(edits + [.rejected(sequence: 5, .notStored), .submitted], to: "rejected")
        try journal.append(edits + [.caughtUp(lastSequence: 2)], to: "caught up")
        try journal.note(.undo, in: 9, sequence: 12)
        try journal.close()
        try edit { try $0.runAll("DROP TABLE sequences; PRAGMA user_version = 5") }
        let again = try open()
        #expect(try again.load("rejected")?.inFlight?.sequence == 5)
        #expect(try again.load("rejected")?.view.map(\.id.rawValue) == [2])
        #expect(try again.load("caught up")?.inFlight?.sequence == 3)
        // Records about an undo that was not accepted must not be applied to a later edit.
        #expect(again.used == [9: 12])
        // From now on no sequence is used twice.
        try again.append(
            [.rejected(sequence: 5, .notStored), .edit(item(3), isExact: false), .submitted], to: "rejected")
        #expect(try again.load("rejected")?.inFlight?.sequence == 6)
        try again.close()
    }

    /// An unreadable list is not read as something else, and does no harm to others.
    @Test func unreadableListsStay() throws {
        try edit { database in
            try database.runAll(FormerStore.fourthJournal)
            try database.runAll("INSERT INTO checkpoints SELECT 'broken', head FROM checkpoints")
            try database.runAll("INSERT INTO events (list, event) VALUES ('broken', X'010109')")
        }
        let journal = try open()
        #expect(throws: StoreError.self) { try journal.load("broken") }
        #expect(try journal.load("groceries")?.pending.count == 1)
        #expect(try journal.mayHavePending("broken") && journal.eventCount(of: "broken") == 1)
        try journal.forget("broken")
        #expect(try journal.lists() == ["groceries"])
        try journal.close()
    }

    // MARK: Events

    private static func commit(on replica: Replica, _ chaos: inout Chaos) -> Commit {
        let delta = chaos.delta(on: replica.confirmed, size: 1)
        return commit(delta, by: 2, sequence: UInt64(replica.revision), on: replica)
    }

    private static func own(on replica: Replica) -> Commit {
        commit(replica.inFlight?.delta ?? .identity, by: 1, sequence: replica.inFlight?.sequence ?? 0, on: replica)
    }

    private static func commit(_ delta: Delta, by author: UInt64, sequence: UInt64, on replica: Replica) -> Commit {
        let after = (try? replica.confirmed.applying(delta)) ?? replica.confirmed
        return Commit(
            revision: replica.revision + 1, author: author, sequence: sequence, base: replica.revision, time: 0,
            count: after.count, digest: after.digest, delta: delta)
    }

    private static func former(_ event: JournalEvent, _ replica: Replica) throws -> [UInt8] {
        switch event {
        case .edit(let delta, _): try [1] + FormerWriter.bytes(delta, on: replica.view)
        case .commit(let commit): try [4] + FormerWriter.bytes(commit, on: replica.confirmed)
        case .submitted, .rejected, .caughtUp, .author: event.bytes
        }
    }

    /// Returns the checkpoint, with pending edits as they were written then.
    private static func former(_ replica: Replica) throws -> [UInt8] {
        var bytes = replica.checkpoint.bytes
        var (list, end) = (replica.confirmed, 0)
        for delta in replica.pending {
            var writer = WireWriter()
            writer.delta(delta)
            let place = try #require(bytes[end...].firstRange(of: writer.bytes))
            let former = try FormerWriter.bytes(delta, on: list)
            bytes.replaceSubrange(place, with: former)
            end = place.lowerBound + former.count
            list = try list.applying(delta)
        }
        return bytes
    }
}
