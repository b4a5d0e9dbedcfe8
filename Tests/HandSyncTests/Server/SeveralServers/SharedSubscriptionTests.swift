import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Bugs that the simulator found with several servers on one store.
@Suite struct SharedSubscriptionTests {
    private let store: SimulatedStore
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        (store, one, two) = TestWorld.pair()
        _ = try store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
    }

    /// A batch is due for another attempt while something else is being written: nothing must be due before that ends.
    @Test func nothingIsDueDuringAWrite() throws {
        let ada = one.follower(1)
        // Presence is exchanged.
        one.pass(100)
        one.settle()
        store.fates = [.lost]
        ada.insert(10, 1)
        one.settle()
        #expect(one.machine.deadline == one.now + 200)
        ada.say(.create(request: 5, name: "other", rules: Rules()))
        one.turn()
        #expect(one.waiting == 1)
        one.now += 200
        #expect(one.machine.deadline > one.now)
        one.settle()
        one.timeout()
        one.settle()
        #expect(ada.commits.count == 1 && store.fates.isEmpty)
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
        #expect(late.errors == [.internalError] && late.isShutDown && one.machine.brokenInvariant() == nil)
        // What the system says of the store is for the log.
        #expect(!late.heard.contains { "\($0)".contains("it is gone") })
    }

    /// A submission under a former name arrives at another server. Its client could not distinguish that commit from
    /// somebody else's.
    @Test func aCommitUnderAFormerNameComesInASnapshot() throws {
        let ada = one.follower(1, person: "Ada")
        ada.insert(10, 1)
        let bea = two.follower(1, person: "Bea", logID: 9)
        bea.insert(10, 1)
        one.settle()
        two.settle()
        two.pass(1_000)
        two.settle()
        let digest = try #require(ada.commits.first).digest
        #expect(bea.commits.isEmpty && bea.lastStart?.lastSequence == 1)
        #expect(bea.lastStart?.start == .snapshot(revision: 1, count: 1, digest: digest))
        #expect(try store.load(1).revision == 1 && two.machine.brokenInvariant() == nil)
    }

    /// Commits that were being read when a client subscribed may be older than what it has seen elsewhere.
    @Test func aSubscriptionDuringAReadWaitsForNewerCommits() throws {
        let (ada, _) = (one.follower(1), two.follower(2))
        let (first, second) = (two.connect(3), two.connect(4))
        two.settle()
        first.subscribe("list", request: 1)
        let looked = two.look(0)
        ada.insert(10, 1)
        one.settle()
        second.subscribe("list", request: 1)
        looked()
        two.settle()
        let digest = try #require(ada.commits.first).digest
        #expect(second.lastStart?.start == .snapshot(revision: 1, count: 1, digest: digest))
        #expect(first.lastStart != nil && two.machine.brokenInvariant() == nil)
    }
}
