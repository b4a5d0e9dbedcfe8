import Disk
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Commits that were written together share a row; each is still found by its revision.
@Suite struct RowTests {
    private let folder: TemporaryFolder
    private let commits: [Commit]
    /// The numbers of commits in successive transactions.
    private static let batches = [1, 5, 1, 20, 3]
    private static let ends = [1, 6, 7, 27, 30]

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let list = try store.create("a", rules: Rules(maximumCount: 100), logID: 7, deckSeed: nil)
        let author = try store.knownAuthor(for: ClientID(high: 1, low: 2), person: "ada")
        var chaos = Chaos(seed: 3)
        commits = history(on: try store.load(list.number), 30, author: author, chaos: &chaos)
        var rest = commits[...]
        for count in Self.batches {
            let expected = commits.count - rest.count
            try store.append([
                CommitBatch(list: list.number, expected: expected, commits: Array(rest.prefix(count)))
            ])
            rest = rest.dropFirst(count)
        }
        try store.close()
    }

    private func open() throws -> SQLiteStore { try SQLiteStore(folder: folder.path, durability: .os) }

    private func execute(_ sql: String) throws {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        try database.write { try $0.runAll(sql) }
        try database.close()
    }

    private func ends() throws -> [Int] {
        let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
        defer { try? database.close() }
        return try database.read { try $0.all("SELECT last FROM commits ORDER BY last") { try $0.integer(0) } }
    }

    @Test func commitsOfOneTransactionShareARow() throws {
        #expect(try ends() == Self.ends)
    }

    /// From every revision, as many as requested.
    @Test func everyRevisionIsFound() throws {
        let store = try open()
        defer { try? store.close() }
        for revision in 0...30 {
            let all = try store.frames(of: 1, after: revision, about: .max)
            #expect(all.map(\.revision) == Array(revision + 1..<31))
            #expect(try all.map { try $0.commit() } == Array(commits[revision...]))
            let first = try store.frames(of: 1, after: revision, about: 1)
            #expect(first == Array(all.prefix(1)))
            #expect(try store.state(of: 1, at: revision).count >= 0)
        }
    }

    /// A full row is ended, so that reading one commit does not mean reading very many.
    @Test func aRowIsBounded() throws {
        let store = try open()
        let (start, author) = (try store.load(1), try store.knownAuthor(for: ClientID(high: 1, low: 2), person: "ada"))
        var authority = Authority(start, limits: Limits())
        var more: [Commit] = []
        for index in 0..<40 {
            let item = Item(
                id: ItemID(rawValue: UInt64(index) + 1), content: .note(String(repeating: "x", count: 9_000)))
            let delta = Delta.inserting([item], at: 0, .after)
            let submission = Submission(
                list: 1, base: 30 + index, sequence: authority.lastSequence(of: author) + 1, delta: delta)
            guard case .numbered = authority.submit(submission, author: author, now: 1), let commit = authority.newest
            else { break }
            _ = authority.takeBatch()
            authority.wrote()
            more.append(commit)
        }
        try #require(more.count == 40)
        try store.append([CommitBatch(list: 1, expected: 30, commits: more)])
        #expect(try store.frames(of: 1, after: 30, about: .max).map { try $0.commit() } == more)
        try store.close()
        #expect(try ends() == Self.ends + [37, 44, 51, 58, 65, 70])
        #expect(try StoreVerifier(path: folder.path).verify().isSound)
    }

    /// A row stays if only a part of it may be forgotten.
    @Test(arguments: [29, 24, 23, 20, 4, 3, 1]) func forgettingKeepsWholeRows(kept: Int) throws {
        var store = try open()
        _ = try store.trim(1, keeping: Retention(commits: kept), now: 0)
        try store.close()
        store = try open()
        let found = try #require(try store.list(named: "a")).floor
        for revision in [0, found / 2, found] {
            let frames = try store.frames(of: 1, after: revision, about: .max)
            #expect(try frames.map { try $0.commit() } == Array(commits[found...]), "after \(revision)")
        }
        for revision in found...30 { #expect(throws: Never.self) { try store.state(of: 1, at: revision) } }
        try store.close()
        #expect(try StoreVerifier(path: folder.path).verify().isSound)
        #expect(try ends() == Self.ends.filter { $0 > found })
    }

    /// Also one within a row.
    @Test func aSnapshotIsWrittenAtEveryRevision() throws {
        let store = try open()
        for revision in 1...30 {
            try store.saveSnapshot(of: 1, store.state(of: 1, at: revision), revision: revision, deck: nil)
        }
        let loaded = try store.load(1)
        #expect(loaded.snapshotRevision == 30 && loaded.hand.digest == commits[29].digest)
        #expect(loaded.sequences.values.map(\.revision) == [30])
        try store.close()
        #expect(try StoreVerifier(path: folder.path).verify().isSound)
    }

    /// A snapshot hides what is wrong before it, so a history with a gap gets none, and neither does another list.
    @Test func aSnapshotNeedsAWholeHistory() throws {
        let hand = try open().state(of: 1, at: 27)
        try execute("DELETE FROM commits WHERE last = 7")
        let store = try open()
        defer { try? store.close() }
        #expect(throws: StoreError.damaged("revision 7 of list 1 is missing")) {
            try store.saveSnapshot(of: 1, hand, revision: 27, deck: nil)
        }
        #expect(throws: StoreError.failed("a snapshot of list 1 did not match the list at revision 6")) {
            try store.saveSnapshot(of: 1, hand, revision: 6, deck: nil)
        }
    }

    /// Nothing in a damaged row is trusted; earlier rows are.
    @Test(
        arguments: [
            "UPDATE commits SET frames = frames || x'00' WHERE last = 27",
            "UPDATE commits SET frames = substr(frames, 2) WHERE last = 27",
            "DELETE FROM commits WHERE last = 27",
        ], [false, true])
    func aDamagedRowIsFound(damage: String, hidden: Bool) throws {
        try execute(damage)
        if hidden {
            let database = try SQLiteDatabase(folder.path + "/hand.sqlite")
            try database.write { try CheckedTable.commits.renewChecksums($0) }
            try database.close()
        }
        #expect(try StoreVerifier(path: folder.path).verify().lists[0].problem?.revision == 8)
        let store = try open()
        defer { try? store.close() }
        #expect(throws: StoreError.self) { try store.load(1) }
        #expect(try store.state(of: 1, at: 7).count >= 0)
    }
}
