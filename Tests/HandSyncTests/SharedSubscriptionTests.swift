import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Bugs that the simulator found with several servers on one store.
@Suite struct SharedSubscriptionTests {
    private let store = SimulatedStore(isShared: true)
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        one = TestWorld(store: store, serverID: 1)
        two = TestWorld(store: store, serverID: 2)
        _ = try store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
    }

    private func client(
        _ number: UInt64, at world: TestWorld, person: String? = nil, logID: UInt64 = 0
    ) -> TestStream {
        let stream = world.connect(number, person: person)
        world.settle()
        stream.subscribe("list", request: 1, logID: logID)
        world.settle()
        return stream
    }

    private func commits(_ stream: TestStream) -> [Commit] {
        stream.heard.compactMap { if case .commit(_, let commit) = $0 { commit } else { nil } }
    }

    private func insert(_ id: UInt64, _ stream: TestStream, _ sequence: UInt64) {
        let delta = Delta.inserting([Item(id: ItemID(rawValue: id), content: .note("\(id)"))], at: 0, .after)
        stream.say(.submit(Submission(list: 1, base: 0, sequence: sequence, delta: delta)))
    }

    /// A batch is due for another attempt while something else is being written: nothing must be due before that ends.
    @Test func nothingIsDueDuringAWrite() throws {
        let ada = client(1, at: one)
        // Presence is exchanged.
        one.pass(100)
        one.settle()
        store.fates = [.lost]
        insert(10, ada, 1)
        one.settle()
        #expect(one.service.deadline == one.now + 200)
        ada.say(.create(request: 5, name: "other", rules: Rules()))
        one.turn()
        #expect(one.waiting == 1)
        one.now += 200
        #expect(one.service.deadline > one.now)
        one.settle()
        one.service.timeout()
        one.settle()
        #expect(commits(ada).count == 1 && store.fates.isEmpty)
    }

    private static let questions: [UpMessage] = [
        .subscribe(.init(request: 1, name: "list", logID: 0, revision: 0)),
        .subscribe(.init(request: 1, name: "", logID: 9, revision: 0)), .lists(request: 1, after: ""),
        .deletedLists(request: 1, before: nil), .history(request: 1, name: "list", from: 0, limit: 9),
        .fetch(request: 1, name: "list", revision: nil),
        .excerpt(.init(request: 1, name: "list", [.positions(start: 0, count: 9)])),
        .create(request: 1, name: "other", rules: Rules()), .delete(request: 1, name: "list"),
        .rename(request: 1, name: "list", newName: "other"),
        .undelete(request: 1, name: "gone", deletion: nil, newName: "gone"),
    ]

    /// The failure says nothing about the list, and is no reason to give it up.
    @Test(arguments: questions) func aRequestWithoutAStoreClosesTheConnection(question: UpMessage) {
        let late = one.connect(2)
        one.settle()
        late.say(question)
        one.failure = .unreachable("test", why: "it is gone")
        one.settle()
        #expect(late.errors == [.internalError] && late.isShutDown && one.service.brokenInvariant() == nil)
    }

    /// Returns another store in place of the first, in which the list has another history of the same length, or none.
    private func former(_ ids: [UInt64]) throws -> SimulatedStore {
        let former = SimulatedStore(isShared: true)
        _ = try former.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        let world = TestWorld(store: former)
        let eve = client(7, at: world)
        for (index, id) in ids.enumerated() { insert(id, eve, UInt64(index + 1)) }
        world.settle()
        return former
    }

    /// Followers are disconnected; a client that subscribes at that moment gets the list as it is now.
    @Test(arguments: [[], [99]] as [[UInt64]]) func aSubscriptionAfterAHistoryWentBackGetsTheList(ids: [UInt64]) throws
    {
        let ben = client(2, at: two)
        insert(20, ben, 1)
        two.settle()
        two.store = try former(ids)
        let late = client(3, at: two)
        #expect(ben.errors == [.internalError] && late.errors.isEmpty)
        #expect(two.service.durable("list")?.hand.map(\.id.rawValue) == ids && late.lastStart != nil)
    }

    /// The history went back, and forward again as far.
    @Test func anotherHistoryOfTheSameLengthIsNoticed() throws {
        let ben = client(2, at: two)
        insert(20, ben, 1)
        two.settle()
        two.store = try former([99])
        two.pass(1_000)
        two.settle()
        #expect(ben.errors == [.internalError] && two.service.durable("list") == nil)
    }

    /// The store no longer has the commits that this server has not seen: the list is loaded again, and not requested
    /// endlessly.
    @Test(arguments: [false, true]) func commitsForgottenBeforeTheyAreReadReloadTheList(isWriting: Bool) throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        for sequence: UInt64 in 1...3 { insert(10 + sequence, ada, sequence) }
        one.settle()
        while try store.trim(1, keeping: Retention(commits: 0), now: 1_000_000).hasMore {}
        if isWriting { insert(20, ben, 1) } else { two.pass(1_000) }
        two.settle()
        #expect(ben.errors == [.internalError] && two.service.durable("list") == nil)
        #expect(two.service.brokenInvariant() == nil)
        #expect(client(3, at: two).lastStart?.lastSequence == 0 && two.service.durable("list")?.revision == 3)
    }

    /// A submission under a former name arrives at another server. Its client could not distinguish that commit from
    /// somebody else's.
    @Test func aCommitUnderAFormerNameComesInASnapshot() throws {
        let ada = client(1, at: one, person: "Ada")
        insert(10, ada, 1)
        let bea = client(1, at: two, person: "Bea", logID: 9)
        insert(10, bea, 1)
        one.settle()
        two.settle()
        two.pass(1_000)
        two.settle()
        let digest = try #require(commits(ada).first).digest
        #expect(commits(bea).isEmpty && bea.lastStart?.lastSequence == 1)
        #expect(bea.lastStart?.start == .snapshot(revision: 1, count: 1, digest: digest))
        #expect(try store.load(1).revision == 1 && two.service.brokenInvariant() == nil)
    }

    /// Commits that were being read when a client subscribed may be older than what it has seen elsewhere.
    @Test func aSubscriptionDuringAReadWaitsForNewerCommits() throws {
        let (ada, _) = (client(1, at: one), client(2, at: two))
        let (first, second) = (two.connect(3), two.connect(4))
        two.settle()
        first.subscribe("list", request: 1)
        let looked = two.look(0)
        insert(10, ada, 1)
        one.settle()
        second.subscribe("list", request: 1)
        looked()
        two.settle()
        let digest = try #require(commits(ada).first).digest
        #expect(second.lastStart?.start == .snapshot(revision: 1, count: 1, digest: digest))
        #expect(first.lastStart != nil && two.service.brokenInvariant() == nil)
    }
}
