import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Old commits are forgotten, as far as the retention allows; the list is not.
@Suite struct ForgettingTests {
    @Test func oldCommitsAreForgottenButNotTheList() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(200)
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
        #expect(try folder.verify().isSound)
    }

    /// The start of the history is kept, however many snapshots come after it.
    @Test func theBeginningOfTheHistoryIsKept() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(60)
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
        #expect(try folder.verify().lists.map(\.snapshots) == [5])
        #expect(try folder.verify().isSound)
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
        if kind == .os || kind == .fsync { #expect(try folder.verify().lists.map(\.snapshots) == [1]) }
    }

    /// If one step is not enough, the next ones complete it, and forget no more.
    @Test func forgettingInStepsStopsAtHalf() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        try folder.makeStore(12_000)
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
        #expect(try folder.verify().isSound)
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
