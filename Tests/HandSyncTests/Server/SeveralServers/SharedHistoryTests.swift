import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two servers on one store: a list is deleted, or its history is another than before.
@Suite struct SharedHistoryTests {
    private let store: SimulatedStore
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        (store, one, two) = TestWorld.pair()
        _ = try store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
    }

    /// Returns another store in place of the first, in which the list has another history of the same length, or none.
    private func former(_ ids: [UInt64]) throws -> SimulatedStore {
        let former = SimulatedStore(isShared: true)
        _ = try former.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        let world = TestWorld(store: former)
        let eve = world.follower(7)
        for (index, id) in ids.enumerated() { eve.insert(id, SequenceNumber(index + 1)) }
        world.settle()
        return former
    }

    /// A list that the other server has deleted.
    @Test func aListDeletedElsewhereIsGone() throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        ada.say(.delete(request: 3, name: "list"))
        one.settle()
        ben.insert(20, 1)
        two.settle()
        #expect(ben.errors == [.listDeleted] && two.machine.durable("list") == nil)
        #expect(two.machine.brokenInvariant() == nil && ben.commits.isEmpty)
        // A client that only reads is notified when the server reads the store.
        let other = try Self()
        let (reader, owner) = (other.two.follower(2), other.one.follower(1))
        owner.say(.delete(request: 3, name: "list"))
        other.one.settle()
        other.two.pass(1_000)
        other.two.settle()
        #expect(reader.errors == [.listDeleted])
    }

    /// The store went back, as when a standby took over that lacked some commits: all clients are disconnected, and the
    /// former commits are not mistaken for the present ones.
    @Test(arguments: [false, true]) func aHistoryThatWentBackDisconnectsItsFollowers(isWriting: Bool) throws {
        let ben = two.follower(2)
        ben.insert(20, 1)
        two.settle()
        two.store = try former([])
        if isWriting { ben.insert(21, 2, base: 1) }
        two.pass(1_000)
        two.settle()
        #expect(ben.errors == [.internalError] && ben.isShutDown)
        #expect(two.machine.durable("list") == nil && two.machine.brokenInvariant() == nil)
        let again = two.follower(3)
        #expect(again.lastStart?.start == .snapshot(revision: 0, count: 0, digest: 0))
    }

    /// As above, but the history has also gone forward again, with others' commits. An edit is lost whose author no
    /// longer follows the list; it no longer counts among the connection's waiting edits.
    @Test func aHistoryThatContinuedDifferentlyIsReloaded() throws {
        let ben = two.follower(2)
        ben.insert(20, 1)
        two.settle()
        let former = try former([])
        var authority = Authority(try former.load(1), limits: Limits())
        for number: UInt64 in 1...2 {
            let delta = Delta.inserting([Item(id: ItemID(rawValue: number), content: .note("n"))], at: 0, .after)
            let submission = Submission(list: 1, base: Int(number) - 1, sequence: SequenceNumber(number), delta: delta)
            _ = authority.submit(submission, author: Author(9), now: 1)
            #expect(try former.append([authority.takeBatch()], by: []) == [.taken])
            _ = authority.wrote()
        }
        ben.insert(21, 2, base: 1)
        ben.say(.unsubscribe(list: 1))
        two.store = former
        two.pass(1_000)
        two.settle()
        #expect(two.machine.durable("list") == nil && two.machine.brokenInvariant() == nil)
        #expect(ben.errors.isEmpty)
    }

    /// Found by the simulator: the outcome of a batch arrived after its list had been loaded again, and was applied to
    /// the new one.
    @Test func anAnswerForAReloadedListIsIgnored() throws {
        let (ben, kim) = (two.follower(2), two.connect(3))
        ben.insert(20, 1)
        two.settle()
        let former = try former([])
        two.store = former
        ben.insert(21, 2, base: 1)
        two.turn()
        #expect(two.waiting == 1)
        // After the batch, the store is asked for news; and, as the list went back, for all of it.
        for request: RequestNumber in [1, 2] {
            kim.subscribe("list", request: request)
            while two.waiting > 1 { two.answer(1) }
        }
        #expect(ben.errors == [.internalError] && kim.lastStart?.request == 2)
        try former.delete("list", by: "somebody", at: 1)
        two.answer()
        #expect(two.machine.brokenInvariant() == nil)
        two.pass(1_000)
        two.settle()
        #expect(two.machine.durable("list") == nil && kim.errors.last == .listDeleted)
    }

    /// Followers are disconnected; a client that subscribes at that moment gets the list as it is now.
    @Test(arguments: [[], [99]] as [[UInt64]]) func aSubscriptionAfterAHistoryWentBackGetsTheList(ids: [UInt64]) throws
    {
        let ben = two.follower(2)
        ben.insert(20, 1)
        two.settle()
        two.store = try former(ids)
        let late = two.follower(3)
        #expect(ben.errors == [.internalError] && late.errors.isEmpty)
        #expect(two.machine.durable("list")?.hand.map(\.id.rawValue) == ids && late.lastStart != nil)
    }

    /// The history went back, and forward again as far.
    @Test func anotherHistoryOfTheSameLengthIsNoticed() throws {
        let ben = two.follower(2)
        ben.insert(20, 1)
        two.settle()
        two.store = try former([99])
        two.pass(1_000)
        two.settle()
        #expect(ben.errors == [.internalError] && two.machine.durable("list") == nil)
    }

    /// The store no longer has the commits that this server has not seen: the list is loaded again, and not requested
    /// endlessly.
    @Test(arguments: [false, true]) func commitsForgottenBeforeTheyAreReadReloadTheList(isWriting: Bool) throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        for sequence in 1...3 as ClosedRange<UInt64> { ada.insert(10 + sequence, SequenceNumber(sequence)) }
        one.settle()
        while try store.trim(1, keeping: Retention(commits: 0), now: 1_000_000).hasMore {}
        if isWriting { ben.insert(20, 1) } else { two.pass(1_000) }
        two.settle()
        #expect(ben.errors == [.internalError] && two.machine.durable("list") == nil)
        #expect(two.machine.brokenInvariant() == nil)
        #expect(two.follower(3).lastStart?.lastSequence == 0 && two.machine.durable("list")?.revision == 3)
    }
}
