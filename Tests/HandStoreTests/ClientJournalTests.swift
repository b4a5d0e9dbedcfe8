import Disk
import Foundation
import HandClient
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A client's data on disk.
@Suite struct ClientJournalTests {
    private let folder: TemporaryFolder
    private let client = ClientID(high: 5, low: .max)

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    private func journal(_ fresh: UInt64 = .max) throws -> ClientJournal {
        try ClientJournal(path: folder.path + "/state/0.sqlite", fresh: ClientID(high: 5, low: fresh))
    }

    private static func insertion(_ id: UInt64) -> JournalEvent {
        let item = Item(id: ItemID(rawValue: id), content: .note("n"))
        return .edit(Delta.inserting([item], at: 0, .after), isExact: false)
    }

    private static func ids(_ replica: Replica?) -> [UInt64]? { replica?.view.map(\.id.rawValue) }

    /// A list is read as it was last written as a whole, with all later records, each once; the secret stays.
    @Test func keptListsReadBack() throws {
        var journal = try journal(1)
        #expect(journal.client == ClientID(high: 5, low: 1))
        #expect(try journal.load("a") == nil && journal.lists() == [])
        try journal.checkpoint(Replica(confirmed: Hand(), revision: 0, logID: 5, sequence: 0), of: "a")
        try journal.checkpoint(Replica(confirmed: Hand(), revision: 0, logID: 6, sequence: 0), of: "b")
        try journal.append([Self.insertion(1), Self.insertion(2)], to: "a")
        try journal.append([Self.insertion(3)], to: "b")
        try journal.append([Self.insertion(4)], to: "a")
        let replica = try #require(try journal.load("a"))
        #expect(Self.ids(replica) == [4, 2, 1])
        #expect(try journal.eventCount(of: "a") == 3)
        try journal.checkpoint(replica, of: "a")
        #expect(try journal.eventCount(of: "a") == 0 && journal.eventCount(of: "b") == 1)
        try journal.append([Self.insertion(5)], to: "a")
        try journal.close()
        journal = try self.journal(2)
        #expect(journal.client == ClientID(high: 5, low: 1))
        #expect(try Self.ids(journal.load("a")) == [5, 4, 2, 1] && Self.ids(journal.load("b")) == [3])
        #expect(try journal.lists() == ["a", "b"])
        try journal.close()
    }

    /// What is folded in a list comes back; of too many lists, those that were folded longest ago are forgotten.
    @Test func foldsAreKept() throws {
        var journal = try journal(1)
        func items(_ numbers: Int...) -> [ItemID] { numbers.map { ItemID(rawValue: .max - UInt64($0)) } }
        try journal.keep(folds: items(1, 2, 3), of: 7)
        try journal.keep(folds: items(4), of: .max)
        try journal.keep(folds: items(5), of: 7)
        try journal.close()
        journal = try self.journal(1)
        #expect(try journal.folds(of: 7) == items(5) && journal.folds(of: .max) == items(4))
        #expect(try journal.folds(of: 8) == [])
        try journal.keep(folds: [], of: 7)
        #expect(try journal.folds(of: 7) == [])
        for log in 1...ClientJournal.maxFoldedLists {
            try journal.keep(folds: items(Int(log)), of: UInt64(log))
            if log == 3 { try journal.keep(folds: items(1), of: 1) }
        }
        try journal.keep(folds: items(9), of: 20_000)
        #expect(try journal.folds(of: .max) == [] && journal.folds(of: 2) == [])
        #expect(try journal.folds(of: 1) == items(1) && journal.folds(of: 20_000) == items(9))
        let many = (0...ClientJournal.maxFolds).map { ItemID(rawValue: UInt64($0)) }
        try journal.keep(folds: many, of: 1)
        #expect(try journal.folds(of: 1) == many.dropLast())
        try journal.close()
    }

    /// What each person has seen of a list comes back, under the list's newest name.
    @Test func whatWasSeenIsKept() throws {
        var journal = try journal(1)
        let path = folder.path + "/state/0.sqlite"
        func seen(_ log: UInt64, _ revision: Int, _ items: UInt64...) -> Seen {
            Seen(
                logID: log, revision: revision,
                unseen: Dictionary(uniqueKeysWithValues: items.map { (ItemID(rawValue: $0), .edited) }))
        }
        func kept(_ person: String = "") -> [String: Seen] { ClientJournal.seen(by: person, inJournalAt: path) }
        try journal.note(seen(7, 3, .max, 1), of: "a")
        try journal.note(seen(8, 1), of: "b")
        #expect(kept() == ["a": seen(7, 3, .max, 1), "b": seen(8, 1)])
        try journal.note(seen(7, 4), of: "c")
        try journal.note(seen(9, 1), of: "b")
        #expect(kept() == ["c": seen(7, 4), "b": seen(9, 1)])
        try journal.close()
        journal = try ClientJournal(path: path, fresh: journal.client, person: "eve")
        #expect(kept("eve").isEmpty && kept().count == 2)
        try journal.note(seen(7, 1), of: "c")
        #expect(kept("eve") == ["c": seen(7, 1)] && kept()["c"] == seen(7, 4))
        try journal.close()
        #expect(ClientJournal.seen(by: "", inJournalAt: path + "x").isEmpty)
    }

    /// The sequences that a forgotten list has used are never used again: the server would take the next edit for one
    /// that it has decided.
    @Test func aForgottenListKeepsItsSequences() throws {
        var journal = try journal(1)
        func keep(_ sequence: SequenceNumber, log: UInt64, in list: String = "a") throws {
            try journal.checkpoint(
                Replica(confirmed: Hand(), revision: 0, logID: log, sequence: sequence), of: list)
        }
        for (sequence, expected) in [(9, 9), (4, 9), (12, 12)] as [(SequenceNumber, SequenceNumber)] {
            try keep(sequence, log: 5)
            try journal.forget("a")
            try journal.close()
            journal = try self.journal(1)
            #expect(journal.used[5] == expected && journal.used.count == 1)
        }
        // A list that is removed because another gets its name.
        try keep(3, log: 6)
        try keep(1, log: 7, in: "old")
        try journal.checkpoint(
            Replica(confirmed: Hand(), revision: 0, logID: 7, sequence: 1), of: "a", formerName: "old")
        try journal.close()
        journal = try self.journal(1)
        #expect(journal.used[6] == 3)
        try journal.close()
        let database = try SQLiteDatabase(folder.path + "/state/0.sqlite")
        let sql = """
            SELECT DISTINCT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) i WHERE i.name = 'list'
            """
        let tables = try database.read { try $0.all(sql) { try $0.text(0) } }
        #expect(tables.count >= 4)
        for table in tables {
            #expect(try database.read { try $0.integer("SELECT count(*) FROM \(table) WHERE list = 'old'") } == 0)
        }
        try database.close()
    }

    /// A long list takes several rows; a shorter one written after it leaves none of them.
    @Test func aShorterListLeavesNoOldRows() throws {
        let journal = try journal()
        for count in [40, 3] {
            let items = (0..<count).map {
                Item(id: ItemID(rawValue: UInt64($0)), content: .note(String(repeating: "x", count: 20_000)))
            }
            let hand = Hand(items)
            try journal.checkpoint(Replica(confirmed: hand, revision: 7, logID: 5, sequence: 0), of: "a")
            #expect(try journal.load("a")?.confirmed == hand)
        }
        try journal.close()
    }

    /// A list is renamed to a name under which edits of another list are kept: each of those lists waits under a name
    /// that no list has.
    @Test func editsUnderATakenNameAreSetAside() throws {
        let journal = try journal()
        func replica(of log: UInt64) -> Replica { Replica(confirmed: Hand(), revision: 0, logID: log, sequence: 0) }
        for (log, event) in [(5, 1), (6, 2), (7, 3)] as [(UInt64, UInt64)] {
            try journal.checkpoint(replica(of: log), of: "new")
            try journal.append([Self.insertion(event)], to: "new")
            try journal.checkpoint(replica(of: log + 10), of: "old")
            try journal.checkpoint(replica(of: log + 10), of: "new", formerName: "old")
        }
        #expect(try journal.lists() == ["new", "new~1", "new~2", "new~3"])
        #expect(try journal.load("new")?.logID == 17 && journal.load("new")?.hasPending == false)
        for (number, log) in [(1, 5), (2, 6), (3, 7)] as [(UInt64, UInt64)] {
            let aside = try #require(try journal.load("new~\(number)"))
            #expect(aside.logID == log && Self.ids(aside) == [number])
            #expect(try journal.eventCount(of: "new~\(number)") == 1 && journal.mayHavePending("new~\(number)"))
        }
        #expect(try journal.waitingPerson() == "")
        // A list without pending edits is only a copy, and is removed.
        try journal.checkpoint(replica(of: 20), of: "newer")
        try journal.checkpoint(replica(of: 20), of: "new", formerName: "newer")
        #expect(try journal.lists() == ["new", "new~1", "new~2", "new~3"])
        #expect(try journal.load("new")?.logID == 20)
        try journal.close()
    }

    /// A child process that is being started has copies of all descriptors for a moment. They do not keep a closed
    /// journal locked.
    @Test func aCopyOfTheLocksDescriptorDoesNotKeepTheLock() throws {
        let first = try journal()
        let lock = "\((folder.path as NSString).lastPathComponent)/state/0.sqlite.lock"
        let descriptor = try #require(
            (0..<4096 as Range<Int32>).first { descriptor in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)"))?
                    .hasSuffix(lock) == true
            })
        let copy = dup(descriptor)
        defer { close(copy) }
        try first.close()
        try journal().close()
    }

    /// The name under which edits were made is known until the server has answered all of them.
    @Test func theAuthorOfPendingEditsIsKnown() throws {
        let path = folder.path + "/state/0.sqlite"
        func open(_ person: String) throws -> ClientJournal {
            try ClientJournal(path: path, fresh: client, person: person)
        }
        var journal = try open("one")
        try journal.checkpoint(Replica(confirmed: Hand(), revision: 0, logID: 5, sequence: 0), of: "a")
        #expect(try journal.waitingPerson() == nil && ClientJournal.waitingPerson(inJournalAt: path) == nil)
        try journal.append([Self.insertion(1)], to: "a")
        try journal.close()
        journal = try open("two")
        try journal.append([.submitted], to: "a")
        #expect(try journal.waitingPerson() == "one" && ClientJournal.waitingPerson(inJournalAt: path) == "one")
        let replica = try #require(try journal.load("a"))
        try journal.checkpoint(replica, of: "a")
        #expect(try journal.waitingPerson() == "one")
        try journal.append([.rejected(sequence: 1, .notStored)], to: "a")
        #expect(ClientJournal.waitingPerson(inJournalAt: path) == "one")
        #expect(try journal.waitingPerson() == nil && ClientJournal.waitingPerson(inJournalAt: path) == nil)
        var pending = try #require(try journal.load("a"))
        try pending.edit(Delta.inserting(tasks(1), at: 0, .after))
        try journal.checkpoint(pending, of: "a")
        #expect(try journal.waitingPerson() == "two")
        try journal.close()
    }

    /// To the server, two programs with one secret would be one client.
    @Test func aJournalIsOpenOnlyOnce() throws {
        let journal = try journal()
        #expect(throws: StoreError.inUse(path: folder.path + "/state/0.sqlite")) { try self.journal() }
        try journal.close()
        try self.journal().close()
    }

    @Test func unknownJournalsAreLeftAlone() throws {
        try journal().close()
        let file = folder.path + "/state/0.sqlite"
        do { try SQLiteDatabase(file).write { try $0.runAll("PRAGMA user_version = 99") } }
        #expect {
            try journal()
        } throws: { error in
            if case StoreError.newer(file, found: 99, known: _) = error { true } else { false }
        }
        do { try SQLiteDatabase(file).write { try $0.runAll("PRAGMA application_id = 7") } }
        #expect(throws: StoreError.notAStore(path: file)) { try journal() }
    }

    /// Edits that were reported as kept survive a loss of power.
    @Test func keptEditsAreFlushed() throws {
        let journal = try journal()
        #expect(try journal.synchronousLevel() == 2)
        try journal.close()
    }
}
