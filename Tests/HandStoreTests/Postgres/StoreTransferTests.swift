import Disk
import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Testing

/// A complete store is copied into a database, and from there into a file, and nothing of it changes.
@Suite(needsPostgres) struct StoreTransferTests {
    private let folder: TemporaryFolder
    private let ada = ClientID(high: 5, low: 6)
    private let ben = ClientID(high: 7, low: 8)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var data: String { folder.path + "/data" }

    private func report(_ path: String) throws -> StoreReport { try StoreVerifier(path: path).verify() }

    private func take(_ path: String, into store: PostgresStore, rules: [UInt8]? = nil) throws -> StoreReport {
        try store.take(path, rules: rules) { _, _, _ in }
    }

    private func verify(_ store: PostgresStore) throws -> StoreReport { try store.verify { _, _, _ in } }

    /// Makes lists with everything that a store can contain: a deck, several authors of one client, refusals, forgotten
    /// commits and snapshots, deletions, owners.
    private func fill(_ store: some CommitStore, seed: UInt64) throws {
        var chaos = Chaos(seed: seed)
        let people = try [(ada, "ada"), (ada, "ada, too"), (ben, "ben")].map {
            try store.knownAuthor(for: $0.0, person: $0.1)
        }
        let early = try store.knownAuthor(for: ClientID(high: 9, low: 10), person: "early")
        for (number, name) in ["b", "a", "gone", "empty", "long", "none"].enumerated() {
            let list = try store.create(
                name, rules: name == "a" ? .fiveCards : Rules(maximumCount: 300),
                logID: UInt64(1) << 40 | UInt64(number),
                deckSeed: name == "a" ? 11 : nil, owner: name == "b" ? "ada" : nil)
            if name == "empty" { continue }
            for turn in 0..<(name == "long" ? 40 : 12) {
                let author = turn == 0 ? early : people[turn % people.count]
                let start = try store.load(list.number)
                var commits = history(on: start, 7, author: author, chaos: &chaos)
                if turn % 5 == 4, let last = commits.popLast() {
                    commits.append(
                        Commit(
                            revision: last.revision, author: last.author, sequence: last.sequence, base: last.base,
                            time: last.time, count: commits.last?.count ?? start.hand.count,
                            digest: commits.last?.digest ?? start.hand.digest, delta: try Delta([]),
                            refusal: .violation(.listFull(maximum: 300))))
                }
                try store.append([CommitBatch(list: list.number, expected: start.revision, commits: commits)])
                let end = try store.load(list.number)
                if turn % 4 == 3 {
                    try store.saveSnapshot(of: list.number, end.hand, revision: end.revision, deck: end.deck)
                }
            }
            // The last forgotten commit is the last one of an author, or is not.
            if let kept = ["a": 77, "long": 30][name] {
                while try store.trim(list.number, keeping: Retention(commits: kept), now: 0).hasMore {}
            }
            if name == "gone" || name == "none" { try store.delete(name, by: "ben", at: 9) }
        }
        // Numbers that were given and must not be given again.
        _ = try store.create("swept", rules: Rules(), logID: 1 << 40 | 77, deckSeed: nil, owner: "nobody")
        try store.delete("swept", by: "ben", at: 9)
        while try store.purgeOldest(of: "nobody") != nil {}
        while try store.sweep(keeping: Retention.week).hasMore {}
        _ = try store.knownAuthor(for: ClientID(high: 9, low: 9), person: "who has not edited")
    }

    /// Checks that both stores give the same answers.
    private func expectSame(_ one: some CommitStore, _ other: some CommitStore) throws {
        let lists = try one.lists(after: "", limit: 99)
        #expect(try lists == other.lists(after: "", limit: 99) && lists.count == 4)
        let deleted = try one.deletedLists(before: .max, limit: 99)
        #expect(try deleted == other.deletedLists(before: .max, limit: 99) && deleted.count == 2)
        for list in lists + deleted.map(\.list) {
            let (start, same) = (try one.load(list.number), try other.load(list.number))
            #expect(start.hand == same.hand && start.revision == same.revision && start.deck == same.deck)
            #expect(start.sequences == same.sequences && start.snapshotRevision == same.snapshotRevision)
            #expect(start.logID == same.logID)
            let frames = try one.frames(of: list.number, after: list.floor, about: .max)
            #expect(try frames == other.frames(of: list.number, after: list.floor, about: .max))
            for revision in list.floor...list.revision {
                #expect(try one.state(of: list.number, at: revision) == other.state(of: list.number, at: revision))
            }
        }
        #expect(try one.people((1...9).map(AuthorID.init)) == other.people((1...9).map(AuthorID.init)))
        #expect(try one.clients(of: (1...9).map(AuthorID.init)) == other.clients(of: (1...9).map(AuthorID.init)))
        for owner in ["ada", nil] { #expect(try one.listCount(of: owner) == other.listCount(of: owner)) }
        #expect(try one.author(for: ben, person: "ben").author == other.author(for: ben, person: "ben").author)
    }

    @Test func copyingThereAndBackChangesNothing() throws {
        var store = try SQLiteStore(folder: data, durability: .os)
        try fill(store, seed: testSeed(3))
        try store.close()
        let expected = try report(data)
        #expect(expected.isSound && expected.lists.contains { $0.floor > 0 && $0.snapshots > 1 })

        let shared = try PostgresStore.shared(folder)
        #expect(try take(data, into: shared, rules: [1, 2, 3]) == expected)
        #expect(try verify(shared) == expected)
        #expect(try shared.setting("access", after: 0)?.value == [1, 2, 3])
        store = try SQLiteStore(folder: data, durability: .os)
        try expectSame(store, shared)

        let file = folder.path + "/file"
        try shared.backUp(to: file) { _, _, _ in }
        #expect(try report(file) == expected && SQLiteStore.accessRules(in: file) == [1, 2, 3])
        let back = folder.path + "/back"
        var random = SystemRandomNumberGenerator()
        _ = try StoreBackup.restore(
            file, to: back, replaces: false, renews: false, stamp: 0, accessFile: back + "/access.json", random: &random
        )
        let copy = try SQLiteStore(folder: back, durability: .os)
        try expectSame(store, copy)

        // It continues as the first store would: with numbers that nobody had before, and deletions can be restored.
        func continueAfterCopy(_ store: some CommitStore) throws -> StoredList {
            let list = try store.create("new", rules: Rules(), logID: 99, deckSeed: nil)
            let deleted = try #require(try store.deletedLists(before: .max, limit: 1).first)
            try store.undelete(deleted.deletion, as: "back")
            try store.delete("new", by: "ada", at: 10)
            #expect(try store.deletedLists(before: .max, limit: 1).first?.deletion == deleted.deletion + 2)
            let stranger = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "stranger")
            #expect(
                try store.people([stranger.number]).first?.name == "stranger"
                    && stranger.number.rawValue > SQLiteStore.numbersAtOnce)
            return list
        }
        let next = try continueAfterCopy(store)
        #expect(try continueAfterCopy(shared) == next && continueAfterCopy(copy) == next)
        try store.close()
        try copy.close()
        #expect(try report(back).isSound && verify(shared).isSound)
    }

    /// The histories are new, so nobody continues where they were.
    @Test func aBackupIsCopied() throws {
        let store = try SQLiteStore(folder: data, durability: .os)
        try fill(store, seed: 4)
        try store.close()
        let file = folder.path + "/file"
        try StoreBackup.write(data, to: file)
        let shared = try PostgresStore.shared(folder)
        _ = try shared.take(file, rules: nil, logID: { $0 + 1 }, progress: { _, _, _ in })
        #expect(try shared.list(named: "b")?.logID == (1 << 40) + 1)
        #expect(try shared.setting("access", after: 0) == nil)
        #expect(try verify(shared).isSound)
    }

    /// Existing data stay as they are.
    @Test func aTargetThatIsNotEmptyIsRefused() throws {
        let store = try SQLiteStore(folder: data, durability: .os)
        try fill(store, seed: 5)
        try store.close()
        let shared = try PostgresStore.shared(folder)
        func refusal() throws -> String {
            do { _ = try take(data, into: shared) } catch StoreError.failed(let text) { return text }
            return "none"
        }
        try shared.change("access") { _ in [9] }
        #expect(try refusal().contains("is not empty: there are settings in it"))
        let other = try PostgresStore.shared(try TemporaryFolder())
        _ = try take(data, into: other)
        let before = try verify(other)
        #expect(throws: StoreError.self) { try take(data, into: other) }
        #expect(try verify(other) == before)
    }

    /// The program that has the folder open would continue writing to it.
    @Test func aFolderInUseIsRefused() throws {
        let store = try SQLiteStore(folder: data, durability: .os)
        let shared = try PostgresStore.shared(folder)
        #expect(throws: StoreError.inUse(path: data)) { try take(data, into: shared) }
        try store.close()
        #expect(throws: StoreError.noStore(path: folder.path + "/nothing")) {
            try take(folder.path + "/nothing", into: shared)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/nothing"))
    }

    /// If the database is lost halfway, or a list is damaged, nothing is stored.
    @Test(arguments: ["lost", "damaged", "bent"]) func allOrNothing(what: String) throws {
        let store = try SQLiteStore(folder: data, durability: .os)
        try fill(store, seed: 6)
        try store.close()
        let shared = try PostgresStore.shared(folder)
        let server = try PostgresServer.shared.get()
        switch what {
        case "damaged":
            let database = try SQLiteDatabase(data + "/hand.sqlite")
            let second = "SELECT last FROM commits WHERE list = 5 ORDER BY last LIMIT 1 OFFSET 1"
            try database.write { try $0.runAll("DELETE FROM commits WHERE list = 5 AND last = (\(second))") }
            try database.close()
        case "bent":
            // The database does not store what it is given.
            try server.query(
                """
                SET search_path = \(folder.schema);
                CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER loses BEFORE INSERT ON snapshots FOR EACH ROW WHEN (NEW.revision % 7 = 0)
                    EXECUTE FUNCTION lose();
                """)
        default: break
        }
        var hasBeenLost = false
        #expect(throws: StoreError.self) {
            try shared.take(data, rules: nil) { name, _, _ in
                guard what == "lost", name == "long", !hasBeenLost else { return }
                hasBeenLost = true
                _ = try? server.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_locks
                    WHERE mode = 'AccessExclusiveLock' AND relation = '\(folder.schema).lists'::regclass
                    """)
            }
        }
        #expect(hasBeenLost == (what == "lost"))
        #expect(try verify(shared).lists.isEmpty && verify(shared).isSound)
        #expect(try shared.people((1...9).map(AuthorID.init)).isEmpty)
    }

    /// A name without a list, a nonexistent deletion, and rows without a list.
    @Test(arguments: [
        ("INSERT INTO names VALUES ('x', 77)", "a name refers to list 77, which does not exist"),
        ("UPDATE lists SET is_deleted = true WHERE number = 1", "list 1 is deleted"),
        ("DELETE FROM deleted_lists WHERE list = 3", "list 3 is deleted, and nothing says when"),
        (
            "INSERT INTO snapshots SELECT list, 2, part, items FROM snapshots WHERE revision = (SELECT max(floor) FROM lists)",
            "rows of snapshots are older than the history of their list"
        ),
        ("DELETE FROM lists WHERE number = 1", "12 rows of commits belong to no list"),
        (
            "UPDATE lists SET revision = 80, count = 0 WHERE number = 1",
            "list 1 at revision 80 does not match its commits"
        ),
        (
            "UPDATE snapshots SET items = (SELECT items FROM snapshots WHERE list = 1 AND revision = 28 AND part = 1) "
                + "WHERE list = 1 AND revision = 56 AND part = 1", "revision 56 has another digest"
        ),
        (
            "UPDATE snapshots AS a SET items = b.items FROM snapshots AS b WHERE a.list = 1 AND a.revision = 56 "
                + "AND b.list = 1 AND b.revision = 28 AND a.part = b.part",
            "the snapshot at revision 56 does not match the commits"
        ),
    ])
    func damageIsFound(change: String, expected: String) throws {
        let shared = try PostgresStore.shared(folder)
        try fill(shared, seed: 8)
        #expect(try verify(shared).isSound)
        try PostgresServer.shared.get().query("SET search_path = \(folder.schema); \(change)")
        var texts: [String] = []
        do {
            let report = try verify(shared)
            #expect(!report.isSound)
            texts = report.problems.map(\.text) + report.lists.compactMap { $0.problem?.text }
        } catch let error as StoreError { texts = ["\(error)"] }
        #expect(texts.contains { $0.contains(expected) }, "\(texts)")
        #expect(throws: StoreError.self) { try shared.backUp(to: folder.path + "/file") { _, _, _ in } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
