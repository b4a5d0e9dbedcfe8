import Disk
import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Changes behind the store's back are noticed wherever they are read.
@Suite struct ChecksumTests {
    private let folder: TemporaryFolder
    private let client = ClientID(high: 5, low: 6)

    /// Makes a list with 20 commits, a history from revision 8 on, and a snapshot at 12; and two clients.
    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let list = try store.create("a", rules: Rules(maximumCount: 100), logID: 7, deckSeed: 3)
        let author = try store.knownAuthor(for: client, person: "ada")
        _ = try store.knownAuthor(for: ClientID(high: 7, low: 8), person: "bob")
        var chaos = Chaos(seed: 81)
        let commits = history(on: try store.load(list.number), 20, author: author, chaos: &chaos)
        try store.append(oneByOne: commits[..<12], to: list.number)
        let start = try store.load(list.number)
        try store.saveSnapshot(of: list.number, start.hand, revision: 12, deck: start.deck)
        try store.append(oneByOne: commits[12...], to: list.number)
        #expect(try store.trim(list.number, keeping: Retention(commits: 12), now: 0).floor == 8)
        try store.close()
    }

    private func execute(_ sql: String) throws {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { try $0.runAll(sql) }
        try database.close()
    }

    /// Asks the store for everything. Returns its complaint.
    private func complaint() throws -> String? {
        do {
            let store = try SQLiteStore(folder: folder.path, durability: .os)
            defer { try? store.close() }
            _ = try store.people([1, 2])
            _ = try store.knownAuthor(for: client, person: "ada")
            for list in try store.lists(after: "", limit: 9) {
                _ = try store.load(list.number)
                _ = try store.frames(of: list.number, after: 0, about: .max)
                for revision in list.floor...list.revision { _ = try store.state(of: list.number, at: revision) }
            }
            return nil
        } catch StoreError.damaged(let what) {
            return what
        }
    }

    @Test(arguments: [
        ("UPDATE lists SET name = 'b'", "list 1 has another checksum"),
        ("UPDATE lists SET log_id = 6", "list 1 has another checksum"),
        ("UPDATE lists SET rules = x'00'", "list 1 has another checksum"),
        ("UPDATE lists SET deck_seed = NULL", "list 1 has another checksum"),
        ("UPDATE lists SET revision = 19", "list 1 has another checksum"),
        ("UPDATE lists SET count = count + 1", "list 1 has another checksum"),
        ("UPDATE lists SET floor = 0", "list 1 has another checksum"),
        ("UPDATE lists SET authors = 2", "list 1 has another checksum"),
        ("UPDATE commits SET revision = 99 WHERE revision = 20", "revision 99 of list 1 has another checksum"),
        ("UPDATE commits SET frames = frames || x'00' WHERE revision = 9", "revision 9 of list 1 has another checksum"),
        ("DELETE FROM commits WHERE revision = 9", "revision 9 of list 1 is missing"),
        ("DELETE FROM commits WHERE revision = 10", "revision 10 of list 1 is missing"),
        ("DELETE FROM commits WHERE revision = 20", "revision 20 of list 1 is missing"),
        ("UPDATE sequences SET author = 2", "the sequence of author 2 in list 1 has another checksum"),
        ("UPDATE sequences SET sequence = 1", "the sequence of author 1 in list 1 has another checksum"),
        ("DELETE FROM sequences", "list 1 has the sequences of 0 authors, not of 1"),
        (
            "UPDATE snapshot_heads SET deck = x'01' WHERE revision = 12",
            "the snapshot of list 1 at revision 12 has another checksum"
        ),
        ("DELETE FROM snapshot_heads WHERE revision = 8", "list 1 has no snapshot at revision 8"),
        ("UPDATE authors SET person = 'eve' WHERE number = 1", "author 1 has another checksum"),
        ("UPDATE authors SET client = 2 WHERE number = 1", "author 1 has another checksum"),
        ("DELETE FROM authors WHERE number = 1", "author 1, who has edited a list, is unknown"),
        ("UPDATE authors SET client_low = 4 WHERE number = 1", "author 1 has another checksum"),
        ("UPDATE authors SET number = 9 WHERE number = 1", "author 9 has another checksum"),
    ])
    func everyColumnIsChecked(change: String, expected: String) throws {
        #expect(try complaint() == nil)
        try execute(change)
        #expect(try complaint() == expected)
    }

    /// An older version of a page is consistent in itself.
    @Test func aListThatWentBackIsNoticed() throws {
        let file = folder.path + "/hand.sqlite"
        let former = try SQLiteDatabase(file).read { database in
            try database.all("SELECT * FROM lists") { row in (0..<row.count).map { (row.name($0), row.value($0)) } }[0]
        }
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        var chaos = Chaos(seed: 82)
        let next = history(
            on: try store.load(1), 1, author: try store.knownAuthor(for: client, person: "ada"), chaos: &chaos)
        try store.append([CommitBatch(list: 1, expected: 20, commits: next)])
        try store.close()
        let columns = former.map { "\($0.0) = ?" }.joined(separator: ", ")
        let database = try SQLiteDatabase(file)
        try database.write {
            _ = try $0.run("UPDATE lists SET \(columns)", former.map(\.1))
        }
        try database.close()
        #expect(try complaint() == "list 1 should be at revision 20, but its commits continue")
    }
}
