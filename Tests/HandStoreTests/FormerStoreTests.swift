import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import SQLite
import Testing

/// Stores of older formats are converted with all their contents, and conversion does not hide earlier damage.
@Suite struct FormerStoreTests {
    private let folder: TemporaryFolder
    private let ada = ClientID(high: 5_456_822_404_960_365_774, low: UInt64(bitPattern: -275_562_410_931_045_347))
    private let bob = ClientID(high: UInt64(bitPattern: -975_246_959_210_235_223), low: 4_747_662_363_874_915_790)
    /// What the formats before the third, and before the second, did not have.
    private static let second =
        "PRAGMA user_version = 2; DROP INDEX lists_by_owner; ALTER TABLE lists DROP COLUMN owner;"
    private static let first =
        second + "PRAGMA user_version = 1; ALTER TABLE lists DROP COLUMN floor; ALTER TABLE lists DROP COLUMN authors;"
        + ["lists", "commits", "sequences", "snapshot_heads", "authors"].map {
            "ALTER TABLE \($0) DROP COLUMN checksum;"
        }.joined()

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        try execute(FormerStore.thirdFormat)
    }

    private func execute(_ sql: String) throws {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { try $0.runAll(sql) }
        try database.close()
    }

    /// The third format kept nothing of deleted lists. Their numbers are not given to others.
    @Test func newlyDeletedListsAreKept() throws {
        try execute("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'lists'")
        var store = try SQLiteStore(folder: folder.path, durability: .os)
        #expect(try store.create("next", rules: Rules(), logID: 8, deckSeed: nil).number == 10)
        try store.delete("groceries", by: "ben", at: 1)
        try store.close()
        #expect(try StoreVerifier(path: folder.path).verify().isSound)
        store = try SQLiteStore(folder: folder.path, durability: .os)
        let deleted = try #require(try store.deletedLists(before: .max, limit: 9).first)
        try store.undelete(deleted.deletion, as: "back")
        #expect(try store.load(1).hand.map(\.content.text) == ["milk", "bread"])
        try store.close()
    }

    /// Changes the store to another format than the third.
    private func change(to format: Int) throws {
        switch format {
        case 4, 5:
            try FileManager.default.removeItem(atPath: folder.path + "/hand.sqlite")
            try execute(format == 4 ? FormerStore.fourthFormat : FormerStore.fifthFormat)
        case 2: try execute(Self.second)
        case 1: try execute(Self.first)
        default: break
        }
    }

    @Test(arguments: [5, 4, 3, 2, 1])
    func everythingIsConverted(format: Int) throws {
        try change(to: format)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        #expect(try store.people([1, 2, 3]).map(\.name) == ["ada", "bob"])
        #expect(try store.knownAuthor(for: ada, person: "ada") == Author(1))
        #expect(try store.knownAuthor(for: bob, person: "bob") == Author(2))
        #expect(try store.knownAuthor(for: bob, person: "ada") == Author(number: 3, client: 2))
        let list = try store.load(1)
        #expect(list.hand.map(\.content.text) == ["milk", "bread"] && list.revision == 3)
        #expect(
            list.sequences == [
                1: SequenceMark(author: 1, sequence: 1, revision: 3),
                2: SequenceMark(author: 2, sequence: 2, revision: 2),
            ])
        #expect(try store.load(2).deck?.count == 50)
        var chaos = Chaos(seed: 1)
        let next = history(on: list, 2, author: Author(number: 3, client: 2), chaos: &chaos)
        #expect(next.map(\.sequence) == [3, 4])
        try store.append([CommitBatch(list: 1, expected: 3, commits: next)])
        _ = try store.create("b", rules: Rules(), logID: 1, deckSeed: nil, owner: "token ada")
        #expect(try store.listCount(of: "token ada") == 1 && store.listCount(of: nil) == 3)
        try store.close()
        let report = try StoreVerifier(path: folder.path).verify()
        #expect(report.isSound && report.lists.map(\.revision) == [0, 5, 1])
    }

    @Test(arguments: [
        (5, "UPDATE authors SET person = 'eve' WHERE number = 2"),
        (5, "UPDATE commits SET frame = (SELECT frame FROM commits WHERE revision = 1) WHERE revision = 3"),
        (4, "UPDATE authors SET person = 'eve' WHERE number = 2"),
        (4, "UPDATE authors SET client_low = 1 WHERE number = 1"),
        (3, "UPDATE authors SET person = 'eve' WHERE number = 2"),
        (3, "UPDATE authors SET client_low = 1 WHERE number = 1"),
        (2, "UPDATE authors SET number = 7 WHERE number = 1"),
        (3, "UPDATE lists SET revision = revision + 1 WHERE number = 1"),
        (2, "UPDATE lists SET revision = revision + 1 WHERE number = 1"),
        (3, "DELETE FROM authors WHERE number = 1"),
    ])
    func earlierDamageIsNoticed(format: Int, damage: String) throws {
        try change(to: format)
        try execute(damage)
        #expect(throws: StoreError.self) {
            let store = try SQLiteStore(folder: folder.path, durability: .os)
            defer { try? store.close() }
            _ = try store.load(1)
        }
    }

    /// A backup of an older format stays as it was written; recovering it converts it.
    @Test func aFormerBackupIsRecovered() throws {
        var random = SplitMix64(seed: 5)
        let backup = folder.path + "/hand.sqlite"
        #expect(try StoreVerifier(path: backup).verify().isSound)
        let target = try TemporaryFolder(isInMemory: true)
        _ = try StoreBackup.restore(
            backup, to: target.path, replaces: false, stamp: 5, accessFile: target.path + "/access.json",
            random: &random)
        #expect(try StoreVerifier(path: target.path).verify().isSound)
        let store = try SQLiteStore(folder: target.path, durability: .os)
        #expect(try store.load(1).revision == 3 && store.knownAuthor(for: bob, person: "bob") == Author(2))
        try store.close()
    }
}
