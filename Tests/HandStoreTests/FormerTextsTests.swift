import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import SQLite
import Testing

/// Stores whose commits set texts are converted: each list is the same at each revision, and its commits change texts.
@Suite struct FormerTextsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    private func edit(_ body: (SQLiteConnection) throws -> Void) throws {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write(body)
        try database.close()
    }

    private func open() throws -> SQLiteStore { try SQLiteStore(folder: folder.path, durability: .os) }

    @Test func theConversionReportsItsProgress() throws {
        try edit { try $0.runAll(FormerStore.sixthFormat) }
        var told: [Schema.Conversion] = []
        try SQLiteStore(folder: folder.path, durability: .os) { told.append($0) }.close()
        let first = try #require(told.first)
        #expect(first.from == 6 && first.done == 0 && first.count > 25)
        #expect(told.last?.done == first.count && told.allSatisfy { $0.count == first.count })
        #expect(told.count > 4 && zip(told, told.dropFirst()).allSatisfy { $0.done < $1.done })
        // Converting once is enough.
        told = []
        try SQLiteStore(folder: folder.path, durability: .os) { told.append($0) }.close()
        #expect(told.isEmpty)
    }

    /// As the last program of that format left it.
    @Test func aStoreIsConverted() throws {
        try edit { try $0.runAll(FormerStore.sixthFormat) }
        var store = try open()
        let groceries = try #require(try store.list(named: "groceries"))
        let commits = try store.frames(of: groceries.number, after: 0, about: .max).map { try $0.commit() }
        #expect(commits.map(\.revision) == Array(1...10))
        #expect(commits[2].delta == .editing(at: 0, Change(text: "oat milk, 2 l", to: "oat milk, 3 l")))
        #expect(commits[3].delta == .editing(at: 2, Change(text: "12 eggs", to: "")))
        #expect(
            commits[6].delta.itemChanges == [
                Content.link("docs", url: "https://example.org/a")
                    .rewording("the docs", url: "https://example.org/b")
            ])
        #expect(
            try store.state(of: groceries.number, at: 5).map(\.content.text) == [
                "oat milk, 3 l", "oat flakes", "13 eggs, 買牛奶", "bread",
            ])
        #expect(
            try store.load(groceries.number).hand.map(\.content.text) == [
                "oat milk, 2 l", "oat flakes", "12 eggs", "bread",
            ])
        // Commits that had been written together are still in one row.
        let many = try #require(try store.list(named: "many"))
        #expect(try store.load(many.number).revision == 25)
        let deleted = try #require(try store.deletedLists(before: .max, limit: 9).first)
        try store.undelete(deleted.deletion, as: "back")
        #expect(try store.load(3).hand.map(\.content.text) == ["y z"])
        try store.close()
        let report = try StoreVerifier(path: folder.path).verify()
        #expect(report.isSound && report.lists.map(\.revision).sorted() == [2, 8, 10, 25])
        store = try open()
        #expect(try store.frames(of: groceries.number, after: 0, about: .max).map { try $0.commit() } == commits)
        try store.close()
    }

    // MARK: Random histories

    /// Makes a store with one list of that many commits, written in batches, with snapshots at some revisions. Returns
    /// the commits.
    private func make(_ count: Int, seed: UInt64, snapshots: [Int]) throws -> [Commit] {
        let store = try open()
        let list = try store.create("a", rules: Rules(maximumCount: 1_000), logID: 7, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 2), person: "ada")
        var chaos = Chaos(seed: seed)
        let commits = history(on: try store.load(list.number), count, author: author, chaos: &chaos)
        var rest = commits[...]
        while let first = rest.first {
            let batch = Array(rest.prefix(1 + chaos.random.next(below: 6)))
            try store.append([CommitBatch(list: list.number, expected: first.revision - 1, commits: batch)])
            rest = rest.dropFirst(batch.count)
        }
        for revision in snapshots {
            try store.saveSnapshot(
                of: list.number, try store.state(of: list.number, at: revision), revision: revision, deck: nil)
        }
        try store.close()
        return commits
    }

    /// Rewrites the commits in the sixth format. `states` are the lists before each of them.
    private func makeFormer(_ states: [Hand]) throws {
        try edit { database in
            let rows = try database.all("SELECT revision, frames FROM commits") { row in
                (try row.integer(0), try row.bytes(1))
            }
            for (last, bytes) in rows {
                var frames: [UInt8] = []
                for place in try bytes.withUnsafeBytes({ try Frame.places(in: $0) }) {
                    let commit = try StoredFrame(revision: last, bytes: [UInt8](bytes[place])).commit()
                    frames += try FormerWriter.frame(commit, in: 1, on: states[commit.revision - 1])
                }
                try database.run("UPDATE commits SET frames = ? WHERE revision = ?", [.bytes(frames), .init(last)])
            }
            try CheckedTable.commits.writeChecksums(database)
            try database.runAll(
                "PRAGMA user_version = 6; DROP TABLE clock; ALTER TABLE deleted_lists DROP COLUMN start")
        }
    }

    private func states(_ commits: [Commit]) throws -> [Hand] {
        try commits.reduce(into: [Hand(rules: Rules(maximumCount: 1_000))]) { states, commit in
            states.append(try states[states.count - 1].applying(commit.delta))
        }
    }

    @Test(arguments: 0..<12) func randomStoresAreConverted(round: Int) throws {
        let commits = try make(40, seed: testSeed(61) &+ UInt64(round), snapshots: round % 2 == 0 ? [] : [13, 31])
        let states = try states(commits)
        if round % 3 == 2 {
            let store = try open()
            let trimmed = try store.trim(1, keeping: Retention(commits: 17), now: 0)
            #expect(trimmed.floor == 23)
            try store.close()
        }
        let floor = round % 3 == 2 ? 23 : 0
        try makeFormer(states)
        let store = try open()
        let read = try store.frames(of: 1, after: floor, about: .max).map { try $0.commit() }
        #expect(read == Array(commits[floor...]))
        for revision in floor...40 { #expect(try store.state(of: 1, at: revision) == states[revision]) }
        try store.close()
        #expect(try StoreVerifier(path: folder.path).verify().isSound)
    }

    /// Earlier damage stays damage, and does not spread: after it, the history continues from the next snapshot.
    @Test func damageIsNeitherHiddenNorSpread() throws {
        let commits = try make(40, seed: testSeed(62), snapshots: [20])
        let states = try states(commits)
        try makeFormer(states)
        let hit = try StoredRow.containing(10, in: folder.path)
        try edit { try $0.run("UPDATE commits SET checksum = 1 WHERE revision = ?", [.init(hit.last)]) }
        let store = try open()
        #expect(try store.load(1).hand == states[40])
        #expect(try store.state(of: 1, at: hit.first - 1) == states[hit.first - 1])
        for revision in [hit.first, hit.last, 19] {
            #expect(throws: StoreError.self) { try store.state(of: 1, at: revision) }
        }
        for revision in 20...40 { #expect(try store.state(of: 1, at: revision) == states[revision]) }
        try store.close()
        #expect(try !StoreVerifier(path: folder.path).verify().isSound)
    }

    /// The row that contains a revision.
    private struct StoredRow {
        let first: Int
        let last: Int

        static func containing(_ revision: Int, in folder: String) throws -> StoredRow {
            let database = try SQLiteDatabase(folder + "/hand.sqlite")
            defer { try? database.close() }
            let last = try database.read {
                try $0.integer("SELECT min(revision) FROM commits WHERE revision >= \(revision)")
            }
            let before = try database.read {
                try $0.integer("SELECT max(revision) FROM commits WHERE revision < \(revision)")
            }
            return StoredRow(first: (before ?? 0) + 1, last: last ?? 0)
        }
    }
}
