import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two servers on one store: each reads the other's commits from the store.
@Suite struct SharedReadingTests {
    private let store: SimulatedStore
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        (store, one, two) = TestWorld.pair()
        _ = try store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
    }

    /// A client that subscribes, or requests the list, gets the commits that another server has already sent.
    @Test func subscriptionsGetTheNewestCommits() throws {
        let (ada, _) = (one.follower(1), two.follower(2))
        ada.insert(10, 1)
        one.settle()
        let late = two.follower(3)
        #expect(late.lastStart?.start == .snapshot(revision: 1, count: 1, digest: ada.commits[0].digest))
        ada.insert(11, 2, base: 1)
        one.settle()
        late.say(.fetch(request: 5, name: "list", revision: nil))
        two.settle()
        guard case .state(5, 2, 2, _, _)? = late.heard.last(where: { if case .state = $0 { true } else { false } })
        else {
            Issue.record("\(late.heard)")
            return
        }
        #expect(late.commits.map(\.revision) == [2])
    }

    /// The store is also read while an edit at that server is being written.
    @Test func aSubscriptionDuringAWriteReadsTheStore() throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        ada.insert(10, 1)
        one.settle()
        let late = two.connect(3)
        two.settle()
        ben.insert(20, 1)
        late.subscribe("list", request: 1)
        two.settle()
        #expect(late.lastStart?.start == .snapshot(revision: 1, count: 1, digest: ada.commits[0].digest))
        #expect(late.commits.map(\.revision) == [2] && ben.commits.map(\.revision) == [1, 2])
        try TestWorld.settle(one, two)
    }

    /// The read finds a commit whose answer is still under way: the server waits for the answer.
    @Test func aReadDuringAWriteWaitsForTheAnswer() throws {
        let ben = two.follower(2)
        let late = two.connect(3)
        two.settle()
        ben.insert(20, 1)
        let taken = two.look(0)
        late.subscribe("list", request: 1)
        two.settle()
        #expect(late.lastStart == nil && ben.commits.isEmpty)
        taken()
        two.settle()
        #expect(late.lastStart?.start == .snapshot(revision: 1, count: 1, digest: ben.commits[0].digest))
        #expect(ben.commits.count == 1 && two.machine.brokenInvariant() == nil)
    }

    /// The store fails in the middle of it: the pending commits are handed over once more.
    @Test func aFailedAuthorLookupIsRepeated() throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        ada.insert(10, 1)
        one.settle()
        ben.insert(20, 1)
        two.answer(0)
        two.failure = .unreachable("test", why: "it is gone")
        two.answer(0)
        two.failure = nil
        two.settle()
        #expect(ben.commits.map(\.revision) == [1, 2] && two.machine.brokenInvariant() == nil)
        try TestWorld.settle(one, two)
    }

    /// A large edit is made on another thread; others' commits that arrive in the meantime come before it.
    @Test func aLargeEditKeepsOthersCommits() throws {
        _ = try store.create("open", rules: Rules(), logID: 11, deckSeed: nil)
        let (ada, ben) = (one.follower(1, of: "open"), two.follower(2, of: "open"))
        let items = (1...20_000).map { Item(id: ItemID(rawValue: UInt64($0)), content: .note("n")) }
        ben.say(.submit(Submission(list: 2, base: 0, sequence: 1, delta: .inserting(items, at: 0, .after))))
        // First it is read, then it is made.
        two.answer(0)
        #expect(two.computations == 2)
        let made = two.look(0)
        let item = Item(id: ItemID(rawValue: 50_000), content: .note("n"))
        ada.say(.submit(Submission(list: 2, base: 0, sequence: 1, delta: .inserting([item], at: 0, .after))))
        one.settle()
        two.machine.heard(.commits(list: 2, revision: 1), at: two.time)
        two.settle()
        #expect(ben.commits.isEmpty && two.machine.brokenInvariant() == nil)
        made()
        #expect(two.machine.brokenInvariant() == nil && two.machine.durable("open")?.revision == 0)
        two.settle()
        #expect(ben.commits.map(\.revision) == [1, 2] && two.machine.durable("open")?.hand.count == 20_001)
        #expect(two.machine.brokenInvariant() == nil && ben.errors.isEmpty)
    }

    /// Another server's commits are checked like those on a disk.
    @Test func othersCommitsThatDoNotFitAreRefused() throws {
        func authority() throws -> Authority { Authority(try store.load(1), limits: Limits()) }
        var other = try authority()
        let item = Item(id: ItemID(rawValue: 5), content: .note("n"))
        _ = other.submit(
            Submission(list: 1, base: 0, sequence: 1, delta: .inserting([item], at: 0, .after)), author: Author(1),
            now: 1)
        let made = other.takeBatch().commits[0]
        var (later, wrong, far) = (made, made, made)
        later.revision = 2
        wrong.digest = 7
        far.delta = .deleting(4..<5)
        for commit in [later, wrong, far] {
            var mine = try authority()
            #expect(throws: StoreError.self) { try mine.rebase(onto: [commit], now: 1) { $0 } }
        }
        var mine = try authority()
        #expect(
            try mine.rebase(onto: [made], now: 1) { $0 }.isEmpty && mine.revision == 1 && mine.brokenInvariant() == nil)
        #expect(mine.frames(after: 0, about: 100).revision == 1 && mine.hand(at: 0)?.isEmpty == true)
    }
}
