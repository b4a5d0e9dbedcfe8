import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two servers on one store: each accepts edits of each list, and receives the other's commits.
@Suite struct SharedStoreTests {
    private let store = SimulatedStore(isShared: true)
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        one = TestWorld(store: store, serverID: 1)
        two = TestWorld(store: store, serverID: 2)
        _ = try store.create("list", rules: Rules(maximumCount: 3), logID: 9, deckSeed: nil)
    }

    /// Returns a client that follows a list at a server.
    private func client(
        _ number: UInt64, at world: TestWorld, _ list: String = "list", revision: Int = 0, logID: UInt64 = 0
    ) -> TestStream {
        let stream = world.connect(number)
        world.settle()
        stream.subscribe(list, request: 1, logID: logID, revision: revision)
        world.settle()
        return stream
    }

    private func commits(_ stream: TestStream) -> [Commit] {
        stream.heard.compactMap { if case .commit(_, let commit) = $0 { commit } else { nil } }
    }

    private func insert(_ id: UInt64, _ stream: TestStream, _ sequence: UInt64, base: Int = 0, isExact: Bool = false) {
        let delta = Delta.inserting([Item(id: ItemID(rawValue: id), content: .note("\(id)"))], at: 0, .after)
        stream.say(.submit(Submission(list: 1, base: base, sequence: sequence, isExact: isExact, delta: delta)))
    }

    /// Both servers read the store, and must have the same list.
    private func settle(_ list: String = "list") throws {
        for _ in 0..<4 {
            for world in [one, two] {
                world.pass(1_000)
                world.settle()
            }
        }
        let (first, second) = (try #require(one.service.durable(list)), try #require(two.service.durable(list)))
        #expect(first.revision == second.revision && first.hand == second.hand)
        #expect(try first.hand == store.load(1).hand)
        #expect(one.service.brokenInvariant() == nil && two.service.brokenInvariant() == nil)
    }

    /// A client that has moved leaves nothing behind, and a copy of it is told that there are two.
    @Test func aClientAtAnotherServerLeavesTheFirst() {
        let (stranger, old) = (client(1, at: one), client(2, at: one))
        let new = client(2, at: two)
        #expect(one.hints.count == 2 && two.hints == [one.hints[1]])
        for hint in two.hints { one.service.heard(hint) }
        one.settle()
        old.end()
        #expect(old.errors == [.replaced] && new.errors.isEmpty)
        #expect(stranger.errors.isEmpty && one.service.connectionCount == 1)
        // The hint arrives once more, and one about a client that is not here.
        for hint in two.hints + [.client(StoreHint.Key(bits: 1))] { one.service.heard(hint) }
        #expect(stranger.errors.isEmpty && one.service.connectionCount == 1)
    }

    /// The second server's edit is decided again after the first one's, and everybody sees the same.
    @Test func aServerThatMissedCommitsDecidesAgain() throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        insert(10, ada, 1)
        insert(20, ben, 1)
        one.settle()
        #expect(commits(ada).count == 1 && commits(ben).isEmpty)
        two.settle()
        #expect(commits(ben).map(\.author) == commits(ada).map(\.author) + [2])
        // The later commit is on top.
        #expect(two.service.durable("list")?.hand.map(\.id.rawValue) == [20, 10])
        try settle()
        #expect(commits(ada) == commits(ben))
    }

    /// Nobody is told anything while the answer is lost, whether or not the edit was committed; in the end it is there
    /// once.
    @Test(arguments: [SimulatedStore.Fate.lost, .executed], [false, true])
    func aLostAnswerIsResolvedOnce(fate: SimulatedStore.Fate, isCrossed: Bool) throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        store.fates = [fate]
        insert(10, ada, 1)
        one.settle()
        let heard = ada.heard.count
        insert(11, ada, 2)
        if isCrossed { insert(20, ben, 1) }
        two.settle()
        one.settle()
        #expect(ada.heard.count == heard)
        try settle()
        let ids = Set(try store.load(1).hand.map(\.id.rawValue))
        #expect(ids == (isCrossed ? [10, 11, 20] : [10, 11]))
        #expect(commits(ada) == commits(ben) && commits(ada).count == ids.count)
    }

    /// The list fills up on the other server: the first submission on a connection is refused by a commit, later ones
    /// are rejected.
    @Test(arguments: [true, false]) func aRepeatedDecisionMayRefuse(isFirst: Bool) throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        if !isFirst {
            insert(20, ben, 1)
            two.settle()
            ben.say(.submit(Submission(list: 1, base: 1, sequence: 2, delta: .deleting(0..<1))))
            two.settle()
            one.pass(1_000)
            one.settle()
        }
        let base = isFirst ? 0 : 2
        for number: UInt64 in 1...3 { insert(10 + number, ada, number, base: base) }
        insert(30, ben, 3, base: base)
        one.settle()
        two.settle()
        let refusals = commits(ben).compactMap(\.refusal)
        let rejections = ben.heard.filter {
            if case .rejected(1, 3, .violation(.listFull)) = $0 { true } else { false }
        }
        #expect(refusals.count == (isFirst ? 1 : 0) && rejections.count == (isFirst ? 0 : 1))
        try settle()
        #expect(try store.load(1).hand.count == 3)
    }

    /// An exact edit that is preceded by others' commits is refused.
    @Test func anExactEditBehindOthersCommitsIsRefused() throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        insert(10, ada, 1)
        insert(20, ben, 1, isExact: true)
        one.settle()
        two.settle()
        #expect(commits(ben).map(\.refusal) == [nil, .revisionMoved(now: 1)])
        try settle()
    }

    /// A submission to a server whose answer is lost is found by the next server.
    @Test(arguments: [SimulatedStore.Fate.lost, .executed]) func aMovedClientsSubmissionIsFound(
        fate: SimulatedStore.Fate
    ) throws {
        _ = client(2, at: two)
        let ada = client(1, at: one)
        store.fates = [fate]
        insert(10, ada, 1)
        one.settle()
        let moved = client(1, at: two, logID: 9)
        let isThere = fate == .executed
        #expect(
            moved.lastStart?.lastSequence == (isThere ? 1 : 0)
                && moved.lastStart?.start == .resumed(head: isThere ? 1 : 0))
        insert(10, moved, 1)
        two.settle()
        try settle()
        #expect(try store.load(1).revision == 1 && store.load(1).hand.map(\.id.rawValue) == [10])
        #expect(commits(moved).count == 1 && commits(ada).count == 1)
    }

    /// A client that subscribes, or requests the list, gets the commits that another server has already sent.
    @Test func subscriptionsGetTheNewestCommits() throws {
        let (ada, _) = (client(1, at: one), client(2, at: two))
        insert(10, ada, 1)
        one.settle()
        let late = client(3, at: two)
        #expect(late.lastStart?.start == .snapshot(revision: 1, count: 1, digest: commits(ada)[0].digest))
        insert(11, ada, 2, base: 1)
        one.settle()
        late.say(.fetch(request: 5, name: "list", revision: nil))
        two.settle()
        guard case .state(5, 2, 2, _, _)? = late.heard.last(where: { if case .state = $0 { true } else { false } })
        else {
            Issue.record("\(late.heard)")
            return
        }
        #expect(commits(late).map(\.revision) == [2])
    }

    /// The store is also read while an edit at that server is being written.
    @Test func aSubscriptionDuringAWriteReadsTheStore() throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        insert(10, ada, 1)
        one.settle()
        let late = two.connect(3)
        two.settle()
        insert(20, ben, 1)
        late.subscribe("list", request: 1)
        two.settle()
        #expect(late.lastStart?.start == .snapshot(revision: 1, count: 1, digest: commits(ada)[0].digest))
        #expect(commits(late).map(\.revision) == [2] && commits(ben).map(\.revision) == [1, 2])
        try settle()
    }

    /// The read finds a commit whose answer is still under way: the server waits for the answer.
    @Test func aReadDuringAWriteWaitsForTheAnswer() throws {
        let ben = client(2, at: two)
        let late = two.connect(3)
        two.settle()
        insert(20, ben, 1)
        let taken = two.look(0)
        late.subscribe("list", request: 1)
        two.settle()
        #expect(late.lastStart == nil && commits(ben).isEmpty)
        taken()
        two.settle()
        #expect(late.lastStart?.start == .snapshot(revision: 1, count: 1, digest: commits(ben)[0].digest))
        #expect(commits(ben).count == 1 && two.service.brokenInvariant() == nil)
    }

    /// Another server has refused a submission that waits here. Only its commit reports that, with the reason.
    @Test func aRefusalElsewhereIsReportedByItsCommit() throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        for number: UInt64 in 1...3 { insert(20 + number, ben, number) }
        two.settle()
        insert(10, ada, 1)
        let moved = client(1, at: two, revision: 3, logID: 9)
        insert(10, moved, 1, base: 3)
        two.settle()
        one.settle()
        try settle()
        for stream in [ada, moved] {
            #expect(!stream.heard.contains { if case .rejected = $0 { true } else { false } })
            #expect(commits(stream).last?.refusal == .violation(.listFull(maximum: 3)))
        }
        #expect(try store.load(1).revision == 4)
    }

    /// The store fails in the middle of it: the pending commits are handed over once more.
    @Test func aFailedAuthorLookupIsRepeated() throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        insert(10, ada, 1)
        one.settle()
        insert(20, ben, 1)
        two.answer(0)
        two.failure = .unreachable("test", why: "it is gone")
        two.answer(0)
        two.failure = nil
        two.settle()
        #expect(commits(ben).map(\.revision) == [1, 2] && two.service.brokenInvariant() == nil)
        try settle()
    }

    /// A large edit is made on another thread; others' commits that arrive in the meantime are not lost.
    @Test func aLargeEditKeepsOthersCommits() throws {
        _ = try store.create("open", rules: Rules(), logID: 11, deckSeed: nil)
        let (ada, ben) = (client(1, at: one, "open"), client(2, at: two, "open"))
        let items = (1...20_000).map { Item(id: ItemID(rawValue: UInt64($0)), content: .note("n")) }
        ben.say(.submit(Submission(list: 2, base: 0, sequence: 1, delta: .inserting(items, at: 0, .after))))
        // First it is read, then it is made.
        two.answer(0)
        #expect(two.computations == 2)
        let made = two.look(0)
        let item = Item(id: ItemID(rawValue: 50_000), content: .note("n"))
        ada.say(.submit(Submission(list: 2, base: 0, sequence: 1, delta: .inserting([item], at: 0, .after))))
        one.settle()
        two.service.heard(.commits(list: 2, revision: 1))
        two.settle()
        #expect(commits(ben).map(\.revision) == [1])
        made()
        #expect(two.service.brokenInvariant() == nil && two.service.durable("open")?.revision == 1)
        two.settle()
        #expect(commits(ben).map(\.revision) == [1, 2] && two.service.durable("open")?.hand.count == 20_001)
        #expect(two.service.brokenInvariant() == nil && ben.errors.isEmpty)
    }

    /// Cards are dealt from the deck as others have left it.
    @Test func cardsAreDealtFromTheSharedDeck() throws {
        _ = try store.create("cards", rules: Rules(hasDeck: true), logID: 10, deckSeed: 4)
        let streams = [client(1, at: one, "cards"), client(2, at: two, "cards")]
        for sequence: UInt64 in 1...5 {
            for (index, stream) in streams.enumerated() {
                let item = Item(id: ItemID(rawValue: sequence * 2 + UInt64(index)), content: .card(.faceDown))
                stream.say(
                    .submit(Submission(list: 2, base: 0, sequence: sequence, delta: .inserting([item], at: 0, .after))))
            }
            for world in [one, two] { world.settle() }
        }
        for _ in 0..<3 {
            for world in [one, two] {
                world.pass(1_000)
                world.settle()
            }
        }
        #expect(commits(streams[0]) == commits(streams[1]) && commits(streams[0]).count == 10)
        #expect(Set(try store.load(2).hand.map { "\($0.content)" }).count == 10)
        #expect(one.service.brokenInvariant() == nil && two.service.brokenInvariant() == nil)
    }

    /// A list that the other server has deleted.
    @Test func aListDeletedElsewhereIsGone() throws {
        let (ada, ben) = (client(1, at: one), client(2, at: two))
        ada.say(.delete(request: 3, name: "list"))
        one.settle()
        insert(20, ben, 1)
        two.settle()
        #expect(ben.errors == [.listDeleted] && two.service.durable("list") == nil)
        #expect(two.service.brokenInvariant() == nil && commits(ben).isEmpty)
        // A client that only reads is notified when the server reads the store.
        let other = try SharedStoreTests()
        let reader = other.client(2, at: other.two)
        let owner = other.client(1, at: other.one)
        owner.say(.delete(request: 3, name: "list"))
        other.one.settle()
        other.two.pass(1_000)
        other.two.settle()
        #expect(reader.errors == [.listDeleted])
    }

    /// The store went back, as when a standby took over that lacked some commits: all clients are disconnected, and the
    /// former commits are not mistaken for the present ones.
    @Test(arguments: [false, true]) func aHistoryThatWentBackDisconnectsItsFollowers(isWriting: Bool) throws {
        let ben = client(2, at: two)
        insert(20, ben, 1)
        two.settle()
        let former = SimulatedStore(isShared: true)
        _ = try former.create("list", rules: Rules(maximumCount: 3), logID: 9, deckSeed: nil)
        two.store = former
        if isWriting { insert(21, ben, 2, base: 1) }
        two.pass(1_000)
        two.settle()
        #expect(ben.errors == [.internalError] && ben.isShutDown)
        #expect(two.service.durable("list") == nil && two.service.brokenInvariant() == nil)
        let again = client(3, at: two)
        #expect(again.lastStart?.start == .snapshot(revision: 0, count: 0, digest: 0))
    }

    /// As above, but the history has also gone forward again, with others' commits. An edit is lost whose author no
    /// longer follows the list; it no longer counts among the connection's waiting edits.
    @Test func aHistoryThatContinuedDifferentlyIsReloaded() throws {
        let ben = client(2, at: two)
        insert(20, ben, 1)
        two.settle()
        let former = SimulatedStore(isShared: true)
        _ = try former.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        var authority = Authority(try former.load(1), limits: Limits())
        for number: UInt64 in 1...2 {
            let delta = Delta.inserting([Item(id: ItemID(rawValue: number), content: .note("n"))], at: 0, .after)
            let submission = Submission(list: 1, base: Int(number) - 1, sequence: number, delta: delta)
            _ = authority.submit(submission, author: Author(9), now: 1)
            #expect(try former.append([authority.takeBatch()], by: []) == [.taken])
            _ = authority.wrote()
        }
        insert(21, ben, 2, base: 1)
        ben.say(.unsubscribe(list: 1))
        two.store = former
        two.pass(1_000)
        two.settle()
        #expect(two.service.durable("list") == nil && two.service.brokenInvariant() == nil)
        #expect(ben.errors.isEmpty)
    }

    /// Found by the simulator: the outcome of a batch arrived after its list had been loaded again, and was applied to
    /// the new one.
    @Test func anAnswerForAReloadedListIsIgnored() throws {
        let (ben, kim) = (client(2, at: two), two.connect(3))
        insert(20, ben, 1)
        two.settle()
        let former = SimulatedStore(isShared: true)
        _ = try former.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        two.store = former
        insert(21, ben, 2, base: 1)
        two.turn()
        #expect(two.waiting == 1)
        // After the batch, the store is asked for news; and, as the list went back, for all of it.
        for request: UInt64 in [1, 2] {
            kim.subscribe("list", request: request)
            while two.waiting > 1 { two.answer(1) }
        }
        #expect(ben.errors == [.internalError] && kim.lastStart?.request == 2)
        try former.delete("list", by: "somebody", at: 1)
        two.answer()
        #expect(two.service.brokenInvariant() == nil)
        two.pass(1_000)
        two.settle()
        #expect(two.service.durable("list") == nil && kim.errors.last == .listDeleted)
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
            #expect(throws: StoreError.self) { try mine.learn([commit], now: 1) { $0 } }
        }
        var mine = try authority()
        #expect(try mine.learn([made], now: 1) { $0 }.isEmpty && mine.revision == 1 && mine.brokenInvariant() == nil)
        #expect(mine.frames(after: 0, about: 100).revision == 1 && mine.hand(at: 0)?.isEmpty == true)
    }

    /// Many edits at both servers, with answers lost in all ways: each edit is there once, in one order.
    @Test(arguments: 0..<20) func manyEditsAtBothServersAreMadeOnce(round: Int) throws {
        _ = try store.create("open", rules: Rules(), logID: 11, deckSeed: nil)
        var random = SplitMix64(seed: testSeed(91) &+ UInt64(round))
        let streams = (UInt64(1)...4).map { client($0, at: $0 % 2 == 0 ? one : two, "open") }
        var sent: [UInt64: [UInt64]] = [:]
        for step in 0..<60 {
            let index = random.next(below: streams.count)
            let stream = streams[index]
            let revision = commits(stream).last?.revision ?? 0
            let id = UInt64(step + 1)
            let item = Item(id: ItemID(rawValue: id), content: .note("\(id)"))
            let delta = Delta.inserting([item], at: 0, .after)
            sent[UInt64(index), default: []].append(id)
            let sequence = UInt64(sent[UInt64(index)]?.count ?? 0)
            stream.say(.submit(Submission(list: 2, base: revision, sequence: sequence, delta: delta)))
            if random.next(below: 4) == 0 { store.fates = [[.lost, .executed, .answered][random.next(below: 3)]] }
            let world = random.next(below: 2) == 0 ? one : two
            if random.next(below: 3) == 0 { world.pass(200) }
            if world.waiting > 0, random.next(below: 2) == 0 { world.answer(random.next(below: world.waiting)) }
        }
        store.fates = []
        for _ in 0..<6 {
            for world in [one, two] {
                world.pass(1_000)
                world.settle()
            }
        }
        let made = try store.load(2)
        #expect(made.revision == 60 && Set(made.hand.map(\.id.rawValue)) == Set(1...60))
        for stream in streams { #expect(commits(stream) == commits(streams[0])) }
        #expect(commits(streams[0]).map(\.revision) == Array(1...60))
        // Each client's edits are in the order in which it sent them.
        for ids in sent.values {
            let own = commits(streams[0]).flatMap { $0.delta.insertedItems.map(\.id.rawValue) }
            #expect(own.filter(ids.contains) == ids)
        }
        #expect(one.service.brokenInvariant() == nil && two.service.brokenInvariant() == nil)
    }
}
