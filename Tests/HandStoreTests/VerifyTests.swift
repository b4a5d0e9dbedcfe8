import Disk
import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A store is read from beginning to end, and its faults are named; copies are complete; history is forgotten.
@Suite struct VerifyTests {
    /// Makes a store with one list of that many commits, and closes it.
    private static func made(
        _ folder: TemporaryFolder, _ count: Int, rules: Rules = Rules(maximumCount: 500), by low: UInt64 = 2
    ) throws {
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let list = try store.create("things", rules: rules, logID: 9, deckSeed: nil)
        let author = try (2...low).map { try store.knownAuthor(for: ClientID(high: 1, low: $0), person: "Ada") }.last!
        var chaos = Chaos(seed: 5)
        let start = try store.load(list.number)
        for commit in history(on: start, count, author: author, chaos: &chaos) {
            try store.append(oneByOne: [commit], to: list.number)
            if commit.revision % 10 == 0 {
                let hand = try store.state(of: list.number, at: commit.revision)
                try store.saveSnapshot(of: list.number, hand, revision: commit.revision, deck: nil)
            }
        }
        try store.close()
    }

    /// - Parameter hidden: whether the checksums are adapted.
    private static func change(_ folder: TemporaryFolder, _ sql: String, hidden: Bool = false) throws {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { database in
            try database.runAll(sql)
            if hidden { for table in CheckedTable.allCases { try table.renewChecksums(database) } }
        }
        try database.close()
    }

    private static func verify(_ folder: TemporaryFolder) throws -> StoreReport {
        try StoreVerifier(path: folder.path).verify()
    }

    @Test func aSoundStoreHasNoFaults() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 40)
        let report = try Self.verify(folder)
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
        try Self.made(folder, 40)
        try Self.change(folder, damage.sql, hidden: hidden)
        let problem = try #require(try Self.verify(folder).lists[0].problem)
        #expect(problem.revision == damage.revision, "\(problem.text)")
    }

    /// What a damaged list has after a salvage: the first and the last revision; nil if all of it is kept.
    private static let salvaged: [(sql: String, kept: ClosedRange<Int>?)] = [
        // The newest items count more than the beginning.
        ("DELETE FROM commits WHERE last = 17", 20...40), ("DELETE FROM commits WHERE last > 37", 40...40),
        ("UPDATE commits SET frames = x'00' WHERE last IN (17, 33)", 40...40), ("DELETE FROM authors", 40...40),
        ("UPDATE authors SET person = 'Eve'", 40...40),
        // No snapshot comes after the fault.
        ("DELETE FROM commits WHERE last = 35; DELETE FROM snapshots WHERE revision = 40", 0...34),
        ("DELETE FROM commits WHERE last = 35; UPDATE snapshots SET items = x'00' WHERE revision = 40", 0...34),
        (
            "DELETE FROM commits WHERE last IN (5, 35); DELETE FROM snapshots WHERE revision = 40 AND part = 1", 10...34
        ),
        ("DELETE FROM commits WHERE last = 1; DELETE FROM snapshots", 0...0),
        // A snapshot follows from the commits.
        ("UPDATE snapshots SET items = x'00' WHERE revision = 20", nil), ("DELETE FROM snapshots WHERE part = 1", nil),
        ("INSERT INTO commits (list, last, frames) VALUES (7, 1, x'00')", nil),
    ]

    @Test(arguments: salvaged)
    func whatIsSoundIsSalvaged(_ damage: (sql: String, kept: ClosedRange<Int>?)) throws {
        let (folder, target) = (try TemporaryFolder(), try TemporaryFolder())
        try Self.made(folder, 40)
        let sound = try SQLiteStore(folder: folder.path, durability: .os)
        let kept = damage.kept ?? 0...40
        let states = try kept.map { try sound.state(of: 1, at: $0) }
        try sound.close()
        try Self.change(folder, damage.sql)
        #expect(try !Self.verify(folder).isSound)
        let losses = try Self.salvage(folder, into: target)
        #expect(losses.map(\.kept) == (damage.kept.map { [$0] } ?? []))
        #expect(losses.allSatisfy { $0.name == "things" })
        #expect(try Self.verify(target).isSound)
        let store = try SQLiteStore(folder: target.path, durability: .os)
        #expect(try kept.map { try store.state(of: 1, at: $0) } == states)
        #expect(try store.load(1).revision == kept.upperBound)
        try store.close()
    }

    /// Other lists are as they were; what is left of one that has nothing sound is removed.
    @Test(
        arguments: [
            "UPDATE lists SET rules = x'00' WHERE number = 1", "UPDATE lists SET floor = 41 WHERE number = 1",
        ], [false, true])
    func aLostListTakesNoOtherAlong(sql: String, hidden: Bool) throws {
        let (folder, target) = (try TemporaryFolder(), try TemporaryFolder())
        try Self.made(folder, 40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        _ = try store.create("other", rules: Rules(), logID: 8, deckSeed: nil)
        _ = try store.create("gone", rules: Rules(), logID: 7, deckSeed: nil)
        _ = try store.delete(try #require(try store.list(named: "gone")), by: "Ada", at: 1)
        try store.close()
        try Self.change(folder, sql, hidden: hidden)
        let losses = try Self.salvage(folder, into: target)
        #expect(losses.map(\.name) == ["things"] && losses.map(\.kept) == [nil])
        let report = try Self.verify(target)
        #expect(report.isSound && report.lists.map(\.name) == ["other", "gone"])
        // A deletion that cannot be read takes its list along, which nobody could bring back.
        try Self.change(target, "UPDATE deleted_lists SET name = 'x'")
        let again = try TemporaryFolder()
        _ = try Self.salvage(target, into: again)
        #expect(try Self.verify(again).isSound)
        #expect(try Self.verify(again).lists.map(\.name) == ["other"])
    }

    /// A file whose pages are damaged is refused, and nothing is left of the attempt.
    @Test func damagedPagesAreNotSalvaged() throws {
        let (folder, target) = (try TemporaryFolder(), try TemporaryFolder())
        try Self.made(folder, 40)
        let file = folder.path + "/hand.sqlite"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        for place in bytes.indices.dropFirst(4_096) where place % 4_096 < 16 { bytes[place] = 0xFF }
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(throws: StoreError.self) { try Self.salvage(folder, into: target) }
        #expect(throws: StoreError.self) { try Self.verify(target) }
    }

    /// A page that is lost takes only the rows on it along.
    @Test func aLostPageCostsOnlyWhatWasOnIt() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        try Self.made(folder, 200)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        _ = try store.create("other", rules: Rules(), logID: 8, deckSeed: nil)
        _ = try store.create("third", rules: Rules(), logID: 7, deckSeed: nil)
        try store.close()
        let file = folder.path + "/hand.sqlite"
        let sound = try Data(contentsOf: URL(fileURLWithPath: file))
        var (whole, refused) = (0, 0)
        for page in 1..<sound.count / 4_096 {
            var bytes = sound
            bytes.resetBytes(in: page * 4_096..<(page + 1) * 4_096)
            try bytes.write(to: URL(fileURLWithPath: file))
            let target = try TemporaryFolder(isInMemory: true)
            // Every other time, it is a store with a log, which may not be read as a whole.
            let log = file + "-wal"
            if page.isMultiple(of: 2) { try Data().write(to: URL(fileURLWithPath: log)) } else { unlink(log) }
            do {
                _ = try Self.salvage(folder, into: target)
                let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
                #expect(!names.contains { $0.contains("partial") }, "\(names)")
                let report = try Self.verify(target)
                #expect(report.isSound, "page \(page): \(report)")
                whole += report.lists.count == 3 ? 1 : 0
            } catch StoreError.damaged {
                refused += 1
            }
        }
        // One page has the lists.
        #expect(refused <= 1 && whole >= sound.count / 4_096 - 3, "\(refused) refused, \(whole) with all lists")
    }

    private static func salvage(_ folder: TemporaryFolder, into target: TemporaryFolder) throws -> [StoreSalvage.Loss] {
        var random = SplitMix64(seed: 1)
        return try StoreBackup.restore(
            folder.path + "/hand.sqlite", to: target.path, replaces: false, salvages: true, stamp: 5,
            accessFile: target.path + "/access.json", random: &random
        ).losses
    }

    /// Damage that a checksum reveals at once is also found without it.
    @Test(
        arguments: [
            ("UPDATE commits SET last = 99 WHERE last = 40", 40),
            ("INSERT INTO snapshots SELECT list, 99, part, items FROM snapshots WHERE revision = 20", 41),
        ] as [(String, Int?)])
    func damageIsFoundWithoutChecksums(sql: String, revision: Int?) throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 40)
        try Self.change(folder, sql)
        #expect(try !Self.verify(folder).isSound)
        try Self.change(folder, "SELECT 1", hidden: true)
        let problem = try #require(try Self.verify(folder).lists[0].problem)
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
        try Self.made(folder, 40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        while try store.trim(1, keeping: Retention(commits: 25), now: 0).hasMore {}
        try store.close()
        #expect(try Self.verify(folder).isSound)
        try Self.change(folder, sql, hidden: true)
        #expect(try Self.verify(folder).problems.contains { $0.text.hasSuffix(complaint) })
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
            #expect(try Self.verify(folder).lists[0].problem?.revision == (deck == end.deck ? nil : 20))
        }
        try store.close()
    }

    /// A snapshot of the same items with others' sequences: a client could commit a submission twice.
    @Test func otherSequencesAreFound() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        try Self.made(folder, 40)
        try Self.made(other, 40, by: 3)
        let theirs = try SQLiteDatabase(other.path + "/hand.sqlite").read { database in
            try #require(try database.first("SELECT items FROM snapshots WHERE revision = 20 AND part = 0")).bytes(0)
        }
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { database in
            _ = try database.run("UPDATE snapshots SET items = ? WHERE revision = 20 AND part = 0", [.bytes(theirs)])
        }
        try database.close()
        #expect(try Self.verify(folder).lists[0].problem?.revision == 20)
    }

    /// The first commit after the floor repeats a sequence that the snapshot at the floor has: it was made twice.
    @Test func aSequenceRepeatedAfterTheFloorIsFound() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 40)
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
            #expect(try Self.verify(folder).lists[0].problem?.revision == wrong)
        }
    }

    /// An unreadable list does not hide faults of the next one.
    @Test func everyListIsExamined() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 40)
        try Self.change(
            folder,
            """
            INSERT INTO lists (name, log_id, rules) VALUES ('a list', 1, x'00');
            DELETE FROM commits WHERE last = 17
            """)
        let report = try Self.verify(folder)
        #expect(
            report.problems.map(\.text) == [
                "the store is damaged: list 2 has another checksum. Restore it from a backup; nothing was changed."
            ])
        #expect(report.lists.map(\.problem?.revision) == [17])
    }

    @Test func aBackupOfAServedStoreIsComplete() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        #expect(try StoreVerifier(path: file).verify() == Self.verify(folder))
        #expect(throws: StoreError.self) { try StoreBackup.write(folder.path, to: file) }
        try store.close()
    }

    /// A restored backup has other histories, does not replace a store unasked, and moves it aside on request.
    @Test func aBackupCanBeRestored() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 40)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        try Self.change(folder, "DELETE FROM commits")
        var random = SplitMix64(seed: 1)
        #expect(throws: StoreError.self) {
            _ = try StoreBackup.restore(
                file, to: folder.path, replaces: false, stamp: 5, accessFile: folder.path + "/access.json",
                random: &random)
        }
        // However often, and at whatever time: stores that were moved aside stay.
        for stamp in 5...6 {
            let aside = try StoreBackup.restore(
                file, to: folder.path, replaces: true, stamp: 5, accessFile: folder.path + "/access.json",
                random: &random
            ).aside
            #expect(aside == folder.path + "/hand.sqlite.replaced-\(stamp)")
            #expect(try FileManager.default.fileExists(atPath: #require(aside)))
            #expect(try Self.verify(folder).isSound)
        }
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let list = try #require(try store.list(named: "things"))
        #expect(list.logID != 9 && list.logID != 0)
        try store.close()
    }

    /// A killed server leaves a log beside its store. It is moved aside, too: next to the backup, SQLite would read it
    /// into the backup.
    @Test func theLogOfAKilledServerIsMovedAsideToo() throws {
        let (folder, killed) = (try TemporaryFolder(), try TemporaryFolder())
        try Self.made(folder, 40)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        _ = try store.create("later", rules: Rules(), logID: 8, deckSeed: nil)
        for name in ["/hand.sqlite", "/hand.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + name, toPath: killed.path + name)
        }
        try store.close()
        var random = SplitMix64(seed: 1)
        let restored = try StoreBackup.restore(
            file, to: killed.path, replaces: true, stamp: 5, accessFile: killed.path + "/access.json", random: &random)
        let aside = try #require(restored.aside)
        #expect(FileManager.default.fileExists(atPath: aside + "-wal"))
        #expect(!FileManager.default.fileExists(atPath: killed.path + "/hand.sqlite-wal"))
        let report = try Self.verify(killed)
        #expect(report.isSound && report.lists.map(\.name) == ["things"])
        // The store that was moved aside is complete, log and all.
        let again = try TemporaryFolder()
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: aside + ending, toPath: again.path + "/hand.sqlite" + ending)
        }
        let lists = try StoreVerifier(path: again.path).verify().lists
        #expect(lists.map(\.name) == ["later", "things"])
    }

    /// A recovery moves the database aside, and then its log, which here has the only list. Nobody sees the one
    /// without the other.
    @Test func whoReadsDuringARecoverySeesAWholeStore() async throws {
        let (folder, killed) = (try TemporaryFolder(), try TemporaryFolder())
        try SQLiteStore(folder: folder.path, durability: .os).close()
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        defer { try? store.close() }
        _ = try store.create("things", rules: Rules(), logID: 8, deckSeed: nil)
        let reader = Task.detached {
            while !Task.isCancelled {
                do {
                    let report = try StoreVerifier(path: killed.path).verify()
                    #expect(report.lists.map(\.name) == ["things"])
                } catch StoreError.noStore {
                    // That is so between the old store and the next.
                }
            }
        }
        let parts = ["/hand.sqlite", "/hand.sqlite-wal"].map { killed.path + $0 }
        for round in 0..<2_000 {
            for part in parts.reversed() {
                let name = part.dropFirst(killed.path.count)
                try FileManager.default.copyItem(atPath: folder.path + name, toPath: killed.path + "/new")
                #expect(rename(killed.path + "/new", part) == 0)
            }
            // The reader is met at other points each time.
            usleep(UInt32(round % 500))
            let aside = parts.map { "\($0).replaced-\(round)" }
            let moved = rename(parts[0], aside[0]) + rename(parts[1], aside[1])
            #expect(moved == 0)
        }
        reader.cancel()
        try await reader.value
    }

    /// What was moved aside comes back with its log, as a killed server left it.
    @Test func aStoreWithALogCanBeRestored() throws {
        let (folder, killed) = (try TemporaryFolder(), try TemporaryFolder())
        try Self.made(folder, 40)
        let store = try SQLiteStore(folder: folder.path, durability: .fsync)
        _ = try store.create("late", rules: Rules(), logID: 9, deckSeed: nil)
        for name in ["hand.sqlite", "hand.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(killed.path)/\(name)")
        }
        try store.close()
        let (new, file) = (try TemporaryFolder(), killed.path + "/hand.sqlite")
        var random = SplitMix64(seed: 1)
        _ = try StoreBackup.restore(
            file, to: new.path, replaces: false, renews: false, stamp: 5, accessFile: new.path + "/access.json",
            random: &random)
        let (found, wanted) = (try Self.verify(new), try Self.verify(folder))
        #expect(found == wanted && found.lists.count == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: new.path)
        #expect(names.allSatisfy { !$0.contains("partial") }, "\(names)")
    }

    /// Of two backups to one file at a time, only one is written; what a killed one has left is begun anew.
    @Test func backupsToOneFileDoNotMix() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 10)
        let file = folder.path + "/copy"
        try Data("half".utf8).write(to: URL(fileURLWithPath: file + ".partial"))
        let other = open(file + ".partial", O_RDWR | O_CLOEXEC)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect {
            try StoreBackup.write(folder.path, to: file)
        } throws: { error in
            "\(error)".contains("is being written by another backup")
        }
        close(other)
        try StoreBackup.write(folder.path, to: file)
        #expect(try StoreVerifier(path: file).verify() == Self.verify(folder))
    }

    @Test func aServedStoreIsNotReplaced() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 10)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        defer { try? store.close() }
        var random = SplitMix64(seed: 1)
        #expect(throws: StoreError.inUse(path: folder.path)) {
            _ = try StoreBackup.restore(
                file, to: folder.path, replaces: true, stamp: 5, accessFile: folder.path + "/access.json",
                random: &random)
        }
    }

    // MARK: Forgetting

    @Test func oldCommitsAreForgottenButNotTheList() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 200)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let number = try #require(try store.list(named: "things")).number
        let (before, middle) = (try store.load(number), try store.state(of: number, at: 180))
        let trimmed = try store.trim(number, keeping: Retention(commits: 50), now: 0)
        #expect(trimmed == Trimmed(floor: 150, hasMore: false))
        #expect(try store.load(number).hand == before.hand)
        #expect(try store.load(number).sequences == before.sequences)
        #expect(try store.state(of: number, at: 180) == middle)
        #expect(try store.state(of: number, at: 150).count > 0)
        #expect(throws: StoreError.noSuchRevision(149, oldest: 150, newest: 200)) {
            try store.state(of: number, at: 149)
        }
        #expect(try store.frames(of: number, after: 0, about: 1).map(\.revision) == [151])
        #expect(try store.trim(number, keeping: Retention(commits: 0), now: 0).floor == 200)
        #expect(try store.load(number).hand == before.hand)
        try store.close()
        #expect(try Self.verify(folder).isSound)
    }

    /// The start of the history is kept, however many snapshots come after it.
    @Test func theBeginningOfTheHistoryIsKept() throws {
        let folder = try TemporaryFolder()
        try Self.made(folder, 60)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let number = try #require(try store.list(named: "things")).number
        #expect(try store.trim(number, keeping: Retention(commits: 45), now: 0).floor == 15)
        let (first, last) = try (store.state(of: number, at: 15), store.load(number).hand)
        for revision in 20...30 {
            let hand = try store.state(of: number, at: revision)
            try store.saveSnapshot(of: number, hand, revision: revision, deck: nil)
        }
        #expect(try store.load(number).hand == last)
        #expect(try store.state(of: number, at: 15) == first)
        try store.close()
        // The snapshots after it, the first one, and the newest four.
        #expect(try Self.verify(folder).lists.map(\.snapshots) == [5])
        #expect(try Self.verify(folder).isSound)
    }

    /// Found by the simulator, seed 51096: a snapshot that waited for its turn while the history was forgotten beyond
    /// it.
    @Test(arguments: StoreKind.allCases) func aSnapshotThatComesTooLateIsNotKept(kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        let store = try kind.store(in: folder)
        let list = try store.create("things", rules: Rules(), logID: 9, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 2), person: "Ada")
        var chaos = Chaos(seed: 6)
        let commits = history(on: try store.load(list.number), 12, author: author, chaos: &chaos)
        try store.append([CommitBatch(list: list.number, expected: 0, commits: commits)])
        let before = try (store.load(list.number).hand, store.state(of: list.number, at: 5))
        while try store.trim(list.number, keeping: Retention(commits: 2), now: 0).hasMore {}
        try store.saveSnapshot(of: list.number, before.1, revision: 5, deck: nil)
        #expect(try store.load(list.number).hand == before.0)
        #expect(try store.load(list.number).snapshotRevision == 10)
        try store.close()
        if kind == .os || kind == .fsync { #expect(try Self.verify(folder).lists.map(\.snapshots) == [1]) }
    }

    /// If one step is not enough, the next ones complete it, and forget no more.
    @Test func forgettingInStepsStopsAtHalf() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        try Self.made(folder, 12_000)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let number = try #require(try store.list(named: "things")).number
        var floors: [Int] = []
        var hasMore = true
        while hasMore {
            let trimmed = try store.trim(number, keeping: Retention(age: 1), now: .max)
            floors.append(trimmed.floor)
            hasMore = trimmed.hasMore
        }
        #expect(floors == [Int](repeating: 6_000, count: 12))
        try store.close()
        #expect(try Self.verify(folder).isSound)
    }

    /// Commits are kept as long as the limit of number or of age requires.
    @Test func retentionKeepsWhatEitherLimitRequires() {
        func cut(_ retention: Retention, now: UInt64 = 1_000) -> Int {
            retention.cut(floor: 10, revision: 100, now: now) { UInt64($0) * 10 }
        }
        #expect(cut(.everything) == 10)
        #expect(cut(Retention(commits: 20)) == 80)
        #expect(cut(Retention(commits: 1_000)) == 10)
        #expect(cut(Retention(age: 500)) == 49)
        #expect(cut(Retention(commits: 70, age: 500)) == 30)
        #expect(cut(Retention(commits: 20, age: 500)) == 49)
        #expect(cut(Retention(age: 5_000)) == 10)
        #expect(cut(Retention(commits: 0)) == 100)
        // If the clock is far ahead, everything is old; half of it is kept, and half of that the next time.
        #expect(cut(Retention(age: 500), now: 1_000_000) == 55)
        #expect(cut(Retention(commits: 70, age: 500), now: 1_000_000) == 30)
    }
}

extension CheckedTable {
    /// Gives every row the checksum of what it holds now, so that it hides damage.
    func renewChecksums(_ database: SQLiteConnection) throws {
        let columns = columns
        let rows = try database.all("SELECT \(columns.joined(separator: ", ")) FROM \(rawValue)") { row in
            columns.indices.map(row.value)
        }
        let condition = columns.map { "\($0) IS ?" }.joined(separator: " AND ")
        for row in rows {
            try database.run(
                "UPDATE \(rawValue) SET checksum = ? WHERE \(condition)", [.integer(checksum(row))] + row)
        }
    }
}
