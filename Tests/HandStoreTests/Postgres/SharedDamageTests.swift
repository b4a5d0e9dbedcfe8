import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Testing

/// Changes that somebody made to the tables by hand are noticed by every reader, and nobody builds on them.
@Suite(needsPostgres) struct SharedDamageTests {
    private let folder: TemporaryFolder
    private let store: PostgresStore
    private let list: ListNumber

    /// Makes a list with 20 commits in 20 rows, a history from revision 8 on, and a snapshot at 12.
    init() throws {
        folder = try TemporaryFolder()
        store = try .shared(folder)
        list = try store.create("a", rules: Rules(maximumCount: 100), logID: 7, deckSeed: 3).number
        let author = try store.knownAuthor(for: ClientID(high: 5, low: 6), person: "ada")
        var chaos = Chaos(seed: 81)
        let commits = history(on: try store.load(list), 20, author: author, chaos: &chaos)
        try store.append(oneByOne: commits[..<12], to: list)
        let start = try store.load(list)
        try store.saveSnapshot(of: list, start.hand, revision: 12, deck: start.deck)
        try store.append(oneByOne: commits[12...], to: list)
        while try store.trim(list, keeping: Retention(commits: 12), now: 0).hasMore {}
    }

    /// Asks the store for everything. Returns its complaint.
    private func complaint() throws -> String? {
        do {
            _ = try store.load(list)
            _ = try store.frames(of: list, after: 0, about: .max)
            for revision in 8...20 { _ = try store.state(of: list, at: revision) }
            return nil
        } catch StoreError.damaged(let what) {
            return what
        }
    }

    @Test(arguments: [
        ("UPDATE lists SET revision = 19", "list 1 at revision 19 does not match its commits"),
        ("UPDATE lists SET revision = 21", "revision 21 of list 1 is missing"),
        ("UPDATE lists SET count = count + 1", "list 1 at revision 20 does not match its commits"),
        ("UPDATE lists SET digest = digest # 1", "list 1 at revision 20 does not match its commits"),
        (
            "UPDATE lists SET revision = 19, count = 0, digest = 0",
            "list 1 at revision 19 does not match its commits"
        ),
        ("UPDATE lists SET rules = '\\x00'", "the rules of a list cannot be read"),
        ("UPDATE lists SET floor = 0", "revision 1 of list 1 is missing"),
        ("UPDATE commits SET last = 99, first = 99 WHERE last = 20", "revision 20 of list 1 is missing"),
        ("UPDATE commits SET frames = frames || '\\x00' WHERE last = 15", "the commits up to revision 15 of list 1"),
        (
            "UPDATE commits SET frames = frames || frames WHERE last = 15",
            "list 1 has 2 commits in the place of those from 15 to 15"
        ),
        (
            "UPDATE commits SET frames = (SELECT frames FROM commits WHERE last = 14) WHERE last = 15",
            "revision 15 of list 1 is missing"
        ),
        ("DELETE FROM commits WHERE last = 9", "revision 9 of list 1 is missing"),
        ("DELETE FROM commits WHERE last = 15", "revision 15 of list 1 is missing"),
        ("DELETE FROM commits WHERE last = 20", "revision 20 of list 1 is missing"),
        ("DELETE FROM snapshots WHERE revision = 8 AND part = 0", "list 1 has no snapshot at revision 8"),
        (
            "UPDATE snapshots SET items = items || '\\x00' WHERE revision = 12 AND part = 0",
            "the snapshot of list 1 at revision 12 has another checksum"
        ),
        (
            "UPDATE snapshots SET items = '' WHERE revision = 12 AND part = 1",
            "the snapshot of list 1 at revision 12 has another digest"
        ),
        ("DELETE FROM authors", "author 1, who has edited a list, is unknown"),
        ("ALTER TABLE commits RENAME COLUMN frames TO bytes", "column \"frames\" does not exist"),
    ])
    func damageIsNoticed(change: String, expected: String) throws {
        #expect(try complaint() == nil)
        try PostgresServer.shared.get().query("SET search_path = \(folder.schema); \(change)")
        let found = try #require(try complaint())
        #expect(found.contains(expected), "\(found)")
        let report = try? store.verify { _, _, _ in }
        #expect(report?.isSound != true)
    }

    /// The other lists of the database are still served.
    @Test func otherListsAreStillServed() throws {
        let other = try store.newList("b", logID: 9)
        var writer = try SharedWriter(store, other, client: 9)
        try PostgresServer.shared.get().query("DELETE FROM \(folder.schema).commits WHERE last = 15")
        #expect(try complaint() != nil)
        try writer.append(3)
        #expect(try store.load(other).revision == 3)
    }
}
