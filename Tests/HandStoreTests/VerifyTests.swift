import Disk
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A store is read from beginning to end, and its faults are named.
@Suite struct VerifyTests {
    @Test func aSoundStoreHasNoFaults() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        let report = try folder.verify()
        #expect(report.isSound)
        #expect(report.lists.map(\.revision) == [40])
        #expect(report.lists.map(\.snapshots) == [4])
        #expect(report.commits == 40)
    }

    /// Possible damage of a store, with the first wrong revision, or nil if no single revision is concerned.
    private static let damage: [(sql: String, revision: Int?)] = [
        ("DELETE FROM commits WHERE last = 17", 17),
        ("UPDATE commits SET frames = (SELECT frames FROM commits WHERE last = 3) WHERE last = 23", 23),
        (
            "UPDATE snapshots AS a SET items = b.items FROM snapshots AS b "
                + "WHERE a.revision = 20 AND b.revision = 10 AND a.part = 1 AND b.part = 1", 20
        ),
        (
            "UPDATE snapshots AS a SET items = b.items FROM snapshots AS b "
                + "WHERE a.revision = 20 AND b.revision = 10 AND a.part = b.part", 20
        ),
        ("DELETE FROM authors", 1),
        ("DELETE FROM snapshots WHERE revision = 30 AND part = 1", 30),
        ("DELETE FROM commits WHERE last > 37", 38),
    ]

    @Test(arguments: damage, [false, true])
    func damageIsFound(_ damage: (sql: String, revision: Int?), hidden: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        try folder.change(damage.sql, hidden: hidden)
        let problem = try #require(try folder.verify().lists[0].problem)
        #expect(problem.revision == damage.revision, "\(problem.text)")
    }

    /// Damage that a checksum reveals at once is also found without it.
    @Test(
        arguments: [
            ("UPDATE commits SET last = 99 WHERE last = 40", 40),
            ("INSERT INTO snapshots SELECT list, 99, part, items FROM snapshots WHERE revision = 20", 41),
        ] as [(String, Int?)])
    func damageIsFoundWithoutChecksums(sql: String, revision: Int?) throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        try folder.change(sql)
        #expect(try !folder.verify().isSound)
        try folder.change("SELECT 1", hidden: true)
        let problem = try #require(try folder.verify().lists[0].problem)
        #expect(problem.revision == revision, "\(problem.text)")
    }

    /// Rows that nothing refers to, and that nothing would ever remove.
    @Test(
        arguments: [
            (
                "INSERT INTO commits (list, last, frames) VALUES (7, 1, x'00')",
                "1 rows of commits belong to no list"
            ),
            (
                "INSERT INTO snapshots SELECT list, 13, part, items FROM snapshots WHERE revision = 20 AND part > 0",
                "no snapshot"
            ),
            (
                "INSERT INTO snapshots SELECT list, 4, part, items FROM snapshots WHERE revision = 30",
                "2 rows of snapshots are older than the history of their list"
            ),
        ] as [(String, String)])
    func orphansAreFound(sql: String, complaint: String) throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        while try store.trim(1, keeping: Retention(commits: 25), now: 0).hasMore {}
        try store.close()
        #expect(try folder.verify().isSound)
        try folder.change(sql, hidden: true)
        #expect(try folder.verify().problems.contains { $0.text.hasSuffix(complaint) })
    }

    /// A deleted list is removed in several steps. Those of its rows that are left are no damage.
    @Test func aHalfRemovedListIsSound() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        try store.delete("things", by: "Ada", at: 5)
        try store.close()
        try folder.change("DELETE FROM lists; DELETE FROM snapshots WHERE part = 0")
        #expect(try folder.verify() == StoreReport())
    }

    /// The same cards in another order are another deck.
    @Test func anotherDeckIsFound() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let list = try store.create("things", rules: .fiveCards, logID: 9, deckSeed: 11)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 2), person: "Ada")
        var chaos = Chaos(seed: 5)
        let start = try store.load(list.number)
        let commits = history(on: start, 20, author: author, chaos: &chaos)
        try store.append([CommitBatch(list: list.number, expected: 0, commits: commits)])
        let end = try store.load(list.number)
        let codes = try #require(end.deck).codes
        let wrong = [Deck(codes: codes.reversed()), Deck(codes: codes.dropLast()), Deck(seed: 11), nil]
        for deck in [end.deck] + wrong {
            try store.saveSnapshot(of: list.number, end.hand, revision: 20, deck: deck)
            #expect(try folder.verify().lists[0].problem?.revision == (deck == end.deck ? nil : 20))
        }
        try store.close()
    }

    /// A snapshot of the same items with others' sequences: a client could commit a submission twice.
    @Test func otherSequencesAreFound() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try folder.makeStore(40)
        try other.makeStore(40, by: 3)
        let theirs = try SQLiteDatabase(other.path + "/hand.sqlite").read { database in
            try #require(try database.first("SELECT items FROM snapshots WHERE revision = 20 AND part = 0")).bytes(0)
        }
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { database in
            _ = try database.run("UPDATE snapshots SET items = ? WHERE revision = 20 AND part = 0", [.bytes(theirs)])
        }
        try database.close()
        #expect(try folder.verify().lists[0].problem?.revision == 20)
    }

    /// The first commit after the floor repeats a sequence that the snapshot at the floor has: it was made twice.
    @Test func aSequenceRepeatedAfterTheFloorIsFound() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        while try store.trim(1, keeping: Retention(commits: 25), now: 0).hasMore {}
        var commit = try #require(try store.frames(of: 1, after: 15, about: 1).first).commit()
        try store.close()
        #expect(commit.sequence == 16)
        for (sequence, wrong) in [(16, nil), (15, 16)] as [(SequenceNumber, Int?)] {
            commit.sequence = sequence
            let frame = DownMessage.commit(list: 1, commit).frame
            let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
            try database.write { database in
                _ = try database.run("UPDATE commits SET frames = ? WHERE last = 16", [.bytes(frame)])
                try CheckedTable.commits.renewChecksums(database)
            }
            try database.close()
            #expect(try folder.verify().lists[0].problem?.revision == wrong)
        }
    }

    /// An unreadable list does not hide faults of the next one.
    @Test func everyListIsExamined() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        try folder.change(
            """
            INSERT INTO lists (name, log_id, rules) VALUES ('a list', 1, x'00');
            DELETE FROM commits WHERE last = 17
            """)
        let report = try folder.verify()
        #expect(
            report.problems.map(\.text) == [
                "the store is damaged: list 2 has another checksum. Restore it from a backup; nothing was changed."
            ])
        #expect(report.lists.map(\.problem?.revision) == [17])
    }
}
