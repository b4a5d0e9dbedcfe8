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
        ("UPDATE lists SET floor = 0", "list 1 has another checksum"),
        ("UPDATE commits SET last = 99 WHERE last = 20", "revision 99 of list 1 has another checksum"),
        ("UPDATE commits SET frames = frames || x'00' WHERE last = 9", "revision 9 of list 1 has another checksum"),
        ("DELETE FROM commits WHERE last = 9", "revision 9 of list 1 is missing"),
        ("DELETE FROM commits WHERE last = 10", "revision 10 of list 1 is missing"),
        ("DELETE FROM commits WHERE last >= 11", "revision 11 of list 1 is missing"),
        (
            "UPDATE snapshots SET items = items || x'00' WHERE revision = 12 AND part = 0",
            "the snapshot of list 1 at revision 12 has another checksum"
        ),
        (
            "UPDATE snapshots SET items = x'00' WHERE revision = 12 AND part = 0",
            "the snapshot of list 1 at revision 12 cannot be read: checksum: the message ends inside it"
        ),
        ("DELETE FROM commits; DELETE FROM snapshots", "list 1 has no snapshot at revision 8"),
        ("DELETE FROM snapshots WHERE revision = 8", "list 1 has no snapshot at revision 8"),
        ("UPDATE authors SET person = 'eve' WHERE number = 1", "author 1 has another checksum"),
        ("UPDATE authors SET client = 2 WHERE number = 1", "author 1 has another checksum"),
        ("DELETE FROM authors WHERE number = 1", "author 1, who has edited a list, is unknown"),
        ("UPDATE authors SET client_low = 4 WHERE number = 1", "author 1 has another checksum"),
        ("UPDATE authors SET number = 9 WHERE number = 1", "author 9 has another checksum"),
    ])
    func everyColumnIsChecked(change: String, expected: String) throws {
        #expect(try complaint() == nil)
        try execute(change)
        let found = try complaint()
        #expect(found == expected)
    }
}
