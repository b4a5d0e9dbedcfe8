import Disk
import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Lists are renamed, deleted, restored as they were, and removed.
@Suite struct DeletingTests {
    /// Makes a list with a history, a snapshot and a floor, owned by somebody.
    private static func list(
        _ name: String, in store: some CommitStore, _ count: Int = 30, seed: UInt64 = 1, owner: String? = nil
    ) throws -> StoredList {
        var chaos = Chaos(seed: seed)
        let logID = LogID.new(using: &chaos.random)
        let list = try store.create(name, rules: Rules(), logID: logID, deckSeed: nil, owner: owner)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: seed), person: "ada")
        let commits = history(on: try store.load(list.number), count, author: author, chaos: &chaos)
        try store.append([CommitBatch(list: list.number, expected: 0, commits: commits)])
        let half = try store.state(of: list.number, at: count / 2)
        try store.saveSnapshot(of: list.number, half, revision: count / 2, deck: nil)
        while try store.trim(list.number, keeping: Retention(commits: count / 2 + 5), now: 0).hasMore {}
        return try #require(try store.list(named: name))
    }

    @Test(arguments: StoreKind.allCases) func aListCanBeRenamed(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let list = try Self.list("old", in: store)
        let before = try store.load(list.number)
        _ = try Self.list("taken", in: store, seed: 2)
        #expect(throws: StoreError.listExists("taken")) { try store.rename("old", to: "taken") }
        #expect(throws: StoreError.listExists("old")) { try store.rename("old", to: "old") }
        #expect(throws: StoreError.noSuchList("none")) { try store.rename("none", to: "new") }
        try store.rename("old", to: "new")
        #expect(try store.list(named: "old") == nil)
        let after = try #require(try store.list(named: "new"))
        #expect(after.number == list.number && after.logID == list.logID && after.revision == list.revision)
        #expect(try store.lists(after: "", limit: 9).map(\.name) == ["new", "taken"])
        let loaded = try store.load(list.number)
        #expect(loaded.hand == before.hand && loaded.sequences == before.sequences)
        // From now on the old name belongs to another list.
        #expect(try Self.list("old", in: store, seed: 3).number != list.number)
        try store.close()
        if kind == .os { #expect(try StoreVerifier(path: folder.path).verify().isSound) }
    }

    @Test(arguments: StoreKind.allCases) func aDeletedListIsRestoredAsItWas(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let list = try Self.list("things", in: store)
        let before = try (store.load(list.number), store.frames(of: list.number, after: 0, about: .max))
        try store.delete("things", by: "ada", at: 5)
        #expect(throws: StoreError.noSuchList("things")) { try store.delete("things", by: "ada", at: 6) }
        #expect(try store.list(named: "things") == nil && store.list(named: "") == nil)
        #expect(try store.lists(after: "", limit: 9).isEmpty && store.listCount(of: nil) == 1)
        let deleted = try #require(try store.deletedLists(before: .max, limit: 9).first)
        #expect(deleted.list == list && deleted.time == 5 && deleted.person == "ada")
        let other = try Self.list("things", in: store, 4, seed: 2)
        #expect(throws: StoreError.listExists("things")) { try store.undelete(deleted.deletion, as: "things") }
        #expect(throws: StoreError.notDeleted("things")) { try store.undelete(99, as: "things") }
        try store.undelete(deleted.deletion, as: "things-1")
        #expect(throws: StoreError.notDeleted("things-2")) { try store.undelete(deleted.deletion, as: "things-2") }
        let back = try #require(try store.list(named: "things-1"))
        #expect(back.number == list.number && back.logID == list.logID)
        let after = try (store.load(list.number), store.frames(of: list.number, after: 0, about: .max))
        #expect(after.0.hand == before.0.hand && after.0.hand.digest == before.0.hand.digest)
        #expect(after.0.sequences == before.0.sequences && after.1 == before.1)
        #expect(try store.deletedLists(before: .max, limit: 9).isEmpty)
        // It continues where it was.
        var chaos = Chaos(seed: 9)
        let next = history(on: after.0, 3, author: Author(number: 1, client: 1), chaos: &chaos)
        try store.append([CommitBatch(list: list.number, expected: list.revision, commits: next)])
        #expect(try store.list(named: "things")?.number == other.number)
        try store.close()
        if kind == .os { #expect(try StoreVerifier(path: folder.path).verify().isSound) }
    }

    /// Several lists may have had one name; pages are in the order of deletion, whatever the clock says.
    @Test(arguments: StoreKind.allCases) func theLastDeletedComesFirst(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        var numbers: [ListNumber] = []
        for seed in UInt64(1)...3 {
            numbers.append(try Self.list("x", in: store, 4, seed: seed).number)
            try store.delete("x", by: "p\(seed)", at: 100 - seed)
        }
        let first = try store.deletedLists(before: .max, limit: 2)
        #expect(first.map(\.list.number) == [numbers[2], numbers[1]] && first.map(\.person) == ["p3", "p2"])
        let second = try store.deletedLists(before: first[1].deletion, limit: 2)
        #expect(second.map(\.list.number) == [numbers[0]])
        // A deletion's number is not reused, even if the newest deletion is gone.
        try store.undelete(first[0].deletion, as: "x")
        try store.delete("x", by: "p4", at: 1)
        let again = try #require(try store.deletedLists(before: .max, limit: 1).first)
        #expect(again.deletion > first[0].deletion && again.list.number == numbers[2])
        try store.close()
    }

    @Test(arguments: StoreKind.allCases) func oldDeletionsAreRemoved(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let names = ["a", "b", "c"]
        for (index, name) in names.enumerated() {
            _ = try Self.list(name, in: store, seed: UInt64(index + 1), owner: index == 1 ? "token eve" : nil)
        }
        _ = try Self.list("kept", in: store, seed: 4)
        let kept = try store.load(try #require(try store.list(named: "kept")).number)
        let full = try store.size()
        func ages() throws -> [UInt64] { try store.deletedLists(before: .max, limit: 9).map(\.age) }
        // Without deletions, no time is counted. A shared store counts no more than its database has seen pass.
        _ = try store.sweep(keeping: 10, passed: 1 << 40)
        for name in names {
            try store.delete(name, by: "ada", at: 10)
            #expect(try ages().first == 0)
            for _ in 0..<10_000 where try ages().first == 0 {
                #expect(try store.sweep(keeping: 1 << 50, passed: 5) == Sweep())
            }
        }
        #expect(try store.size() >= full, "a list that can be restored takes room")
        let all = try ages()
        #expect(all == all.sorted() && Set(all).count == 3 && all[2] < 1 << 30)
        #expect(try store.sweep(keeping: all[2] + 1) == Sweep())
        #expect(try store.listCount(of: nil) == 4)
        // From the first step on, it is gone for everybody.
        let deletion = try #require(try store.deletedLists(before: .max, limit: 9).last).deletion
        #expect(try store.sweep(keeping: all[2]) == Sweep(names: ["a"], hasMore: true))
        #expect(try store.deletedLists(before: .max, limit: 9).map(\.list.name) == ["c", "b"])
        #expect(throws: StoreError.notDeleted("a")) { try store.undelete(deletion, as: "a") }
        while try store.sweep(keeping: all[2]).hasMore {}
        #expect(try store.purgeOldest(of: "token eve") == "b" && store.purgeOldest(of: "token eve") == nil)
        #expect(try store.deletedLists(before: .max, limit: 9).map(\.list.name) == ["c"])
        while try store.sweep(keeping: all[2]).hasMore {}
        #expect(try store.purgeOldest(of: nil) == "c" && store.purgeOldest(of: nil) == nil)
        while try store.sweep(keeping: all[2]).hasMore {}
        #expect(try store.listCount(of: nil) == 1 && store.size() < full)
        #expect(try store.load(try #require(try store.list(named: "kept")).number).hand == kept.hand)
        try store.close()
    }

    /// The list that was deleted first is given up first, whichever was made first.
    @Test(arguments: StoreKind.allCases) func theOldestDeletionIsGivenUpFirst(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        for (seed, name) in ["a", "b", "c", "d"].enumerated() {
            _ = try Self.list(name, in: store, 4, seed: UInt64(seed), owner: name == "c" ? "eve" : "ada")
        }
        for (time, name) in ["b", "c", "a", "d"].enumerated() { try store.delete(name, by: "ada", at: UInt64(time)) }
        func left() throws -> [String] { try store.deletedLists(before: .max, limit: 9).map(\.list.name) }
        let steps: [(String?, String, [String])] = [
            (nil, "b", ["d", "a", "c"]), ("ada", "a", ["d", "c"]), (nil, "c", ["d"]), (nil, "d", []),
        ]
        for (owner, name, expected) in steps {
            #expect(try store.purgeOldest(of: owner) == name && left() == expected)
            while try store.sweep(keeping: 1 << 50).hasMore {}
            #expect(try left() == expected && store.listCount(of: nil) == expected.count)
        }
        try store.close()
    }

    /// Trimming replaces what it forgets: nothing of the history before the floor is left in any table, however often
    /// a list is trimmed.
    @Test(arguments: StoreKind.inAFolder) func aTrimmedListLeavesNoOldRows(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let list = try Self.list("a", in: store, 40)
        for kept in [20, 9, 2] {
            for revision in [40 - kept - 1, 40 - kept / 2] {
                let state = try? store.state(of: list.number, at: revision)
                if let state { try store.saveSnapshot(of: list.number, state, revision: revision, deck: nil) }
            }
            while try store.trim(list.number, keeping: Retention(commits: kept), now: 0).hasMore {}
        }
        #expect(try store.list(named: "a")?.floor == 38)
        try store.close()
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        #expect(try database.read { try $0.integer("SELECT min(last) FROM commits") } ?? 0 > 38)
        #expect(try database.read { try $0.integer("SELECT min(revision) FROM snapshots") } == 38)
        try database.close()
        #expect(try StoreVerifier(path: folder.path).verify().isSound)
    }

    @Test(arguments: StoreKind.inAFolder) func aRemovedListLeavesNoRows(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        for (seed, name) in ["a", "b", "c", "kept"].enumerated() {
            _ = try Self.list(name, in: store, seed: UInt64(seed + 1))
        }
        for name in ["a", "b", "c"] { try store.delete(name, by: "ada", at: 10) }
        while try store.sweep(keeping: 0).hasMore {}
        try store.close()
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        for table in ["lists", "commits", "snapshots", "deleted_lists"] {
            let column = table == "lists" ? "number" : "list"
            let sql = "SELECT count(*) FROM \(table) WHERE \(column) != 4"
            #expect(try database.read { try $0.integer(sql) } == 0, "\(table)")
        }
        try database.close()
    }
}

/// Cases that only a store on disk has: the process ends halfway, or the file is damaged.
@Suite struct DeletedRowsTests {
    private let folder: TemporaryFolder

    /// Makes a store with a deleted list of many commits, and one that is not deleted.
    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        for name in ["gone", "here"] {
            let list = try store.create(name, rules: Rules(), logID: 7, deckSeed: nil, owner: "token ada")
            let author = try store.knownAuthor(for: ClientID(high: 1, low: 2), person: "ada")
            var chaos = Chaos(seed: 5)
            let commits = history(on: try store.load(list.number), 40, author: author, chaos: &chaos)
            try store.append(oneByOne: commits, to: list.number)
            let start = try store.load(list.number)
            try store.saveSnapshot(of: list.number, start.hand, revision: 40, deck: nil)
        }
        try store.delete("gone", by: "ada", at: 5)
        try store.close()
    }

    private func execute(_ sql: String) throws {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { try $0.runAll(sql) }
        try database.close()
    }

    private func verify() throws -> StoreReport { try StoreVerifier(path: folder.path).verify() }

    @Test func verifyReadsDeletedListsToo() throws {
        let report = try verify()
        #expect(report.isSound && report.lists.map(\.name) == ["here", "gone"])
        #expect(report.lists.map(\.isDeleted) == [false, true])
        try execute("DELETE FROM commits WHERE list = 1 AND last = 17")
        #expect(try verify().lists[1].problem?.revision == 17)
    }

    /// Each of these changes is noticed.
    @Test(arguments: [
        "DELETE FROM deleted_lists", "UPDATE deleted_lists SET person = 'eve'", "UPDATE deleted_lists SET time = 6",
        "UPDATE deleted_lists SET name = 'other'", "UPDATE lists SET name = 'gone' WHERE number = 1",
        "INSERT INTO deleted_lists (list, name, time, person) VALUES (2, 'here', 1, 'eve')",
        "UPDATE lists SET name = NULL WHERE number = 2",
    ])
    func damageIsFound(sql: String) throws {
        try execute(sql)
        #expect(try !verify().isSound)
    }

    /// Wherever the process ends while a list is removed, the rest is sound, belongs to nobody, and the next server
    /// continues the removal.
    @Test func aRemovalContinuesAfterTheProcessEnded() throws {
        for rows in [0, 1, 39, 40] {
            // As the first step leaves it, with some commits of the next step removed.
            try execute(
                "DELETE FROM lists WHERE name IS NULL; DELETE FROM commits WHERE list = 1 AND last <= \(rows)")
            #expect(try verify().isSound)
            let store = try SQLiteStore(folder: folder.path, durability: .os)
            #expect(try store.deletedLists(before: .max, limit: 9).isEmpty)
            #expect(throws: StoreError.notDeleted("gone")) { try store.undelete(1, as: "gone") }
            try store.close()
        }
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        while try store.sweep(keeping: 0).hasMore {}
        try store.close()
        let report = try verify()
        #expect(report.isSound && report.lists.map(\.name) == ["here"])
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        let left = try database.read { try $0.integer("SELECT count(*) FROM commits WHERE list = 1") }
        #expect(left == 0)
        try database.close()
    }

    /// Many commits take many steps, so that others can write in between.
    @Test func aLongListIsRemovedInParts() throws {
        try execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 41 UNION ALL SELECT i + 1 FROM n WHERE i < 12040)
            INSERT INTO commits (list, last, frames) SELECT 1, i, x'00' FROM n;
            """)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        var steps = 0
        while try store.sweep(keeping: 0).hasMore { steps += 1 }
        #expect(steps >= 4)
        try store.close()
        #expect(try verify().isSound)
    }

    @Test func aRestoredBackupHasDeletedLists() throws {
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        var random = SplitMix64(seed: 1)
        _ = try StoreBackup.restore(
            file, to: folder.path, replaces: true, stamp: 5, accessFile: folder.path + "/access.json", random: &random)
        #expect(try verify().isSound)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let deleted = try #require(try store.deletedLists(before: .max, limit: 9).first)
        #expect(deleted.list.logID != 7 && LogID.isSameList(deleted.list.logID, 7), "another history of the same list")
        try store.undelete(deleted.deletion, as: "gone")
        #expect(try store.load(1).revision == 40)
        try store.close()
    }
}
