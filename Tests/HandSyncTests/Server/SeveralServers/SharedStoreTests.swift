import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Two servers on one store: each accepts edits of each list, and receives the other's commits.
@Suite struct SharedStoreTests {
    private let store: SimulatedStore
    private let one: TestWorld
    private let two: TestWorld

    init() throws {
        (store, one, two) = TestWorld.pair()
        _ = try store.create("list", rules: Rules(maximumCount: 3), logID: 9, deckSeed: nil)
    }

    /// A client that has moved leaves nothing behind, and a copy of it is told that there are two.
    @Test func aClientAtAnotherServerLeavesTheFirst() {
        let (stranger, old) = (one.follower(1), one.follower(2))
        let new = two.follower(2)
        #expect(one.hints.count == 2 && two.hints == [one.hints[1]])
        for hint in two.hints { one.machine.heard(hint, at: one.time) }
        one.settle()
        old.end()
        #expect(old.errors == [.replaced] && new.errors.isEmpty)
        #expect(stranger.errors.isEmpty && one.machine.connectionCount == 1)
        // The hint arrives once more, and one about a client that is not here.
        for hint in two.hints + [.client(StoreHint.Key(bits: 1))] { one.machine.heard(hint, at: one.time) }
        #expect(stranger.errors.isEmpty && one.machine.connectionCount == 1)
    }

    /// The second server's edit is decided again after the first one's, and everybody sees the same.
    @Test func aServerThatMissedCommitsDecidesAgain() throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        ada.insert(10, 1)
        ben.insert(20, 1)
        one.settle()
        #expect(ada.commits.count == 1 && ben.commits.isEmpty)
        two.settle()
        #expect(ben.commits.map(\.author) == ada.commits.map(\.author) + [2])
        // The later commit is on top.
        #expect(two.machine.durable("list")?.hand.map(\.id.rawValue) == [20, 10])
        try TestWorld.settle(one, two)
        #expect(ada.commits == ben.commits)
    }

    /// Nobody is told anything while the answer is lost, whether or not the edit was committed; in the end it is there
    /// once.
    @Test(arguments: [SimulatedStore.Fate.lost, .executed], [false, true])
    func aLostAnswerIsResolvedOnce(fate: SimulatedStore.Fate, isCrossed: Bool) throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        store.fates = [fate]
        ada.insert(10, 1)
        one.settle()
        let heard = ada.heard.count
        ada.insert(11, 2)
        if isCrossed { ben.insert(20, 1) }
        two.settle()
        one.settle()
        #expect(ada.heard.count == heard)
        try TestWorld.settle(one, two)
        let ids = Set(try store.load(1).hand.map(\.id.rawValue))
        #expect(ids == (isCrossed ? [10, 11, 20] : [10, 11]))
        #expect(ada.commits == ben.commits && ada.commits.count == ids.count)
    }

    /// A server that cannot reach its store can be stopped: what nobody was told may be lost here.
    @Test func aServerWithoutItsStoreStops() throws {
        let ada = one.follower(1)
        store.fates = Array(repeating: .lost, count: 1_000)
        ada.insert(10, 1)
        one.settle()
        one.machine.stop(at: one.time)
        one.pass(5_000)
        #expect(!one.machine.hasStopped, "the store may still answer")
        one.machine.cutOff(true, at: one.time)
        one.pass(5_000)
        #expect(one.machine.hasStopped && ada.commits.isEmpty)
    }

    /// A newcomer whose edit is refused after others' commits has no commits to be written.
    @Test(arguments: [false, true]) func aNewcomerIsForgotten(isRefused: Bool) throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        for number in 1...(isRefused ? 3 : 1) {
            ben.insert(UInt64(20 + number), SequenceNumber(UInt64(number)))
            two.settle()
        }
        ada.insert(10, 1)
        if !isRefused { ada.end() }
        one.settle()
        try TestWorld.settle(one, two)
        #expect(one.machine.brokenInvariant() == nil && two.machine.brokenInvariant() == nil)
        #expect(try store.load(1).hand.count == (isRefused ? 3 : 2))
    }

    /// A batch that is to be appended again takes its turn with other writes.
    @Test func otherWritesDoNotHoldUpARetry() throws {
        let ada = one.follower(1)
        let others = (2...9).map { one.follower(UInt64($0)) }
        store.fates = [.lost]
        ada.insert(10, 1)
        one.settle()
        one.now += 1_000
        for (number, other) in others.enumerated() {
            other.say(.create(request: 9, name: "list \(number)", rules: Rules()))
        }
        one.timeout()
        one.turn()
        let before = one.kinds["append"] ?? 0
        for _ in 0..<3 {
            one.answer()
            one.turn()
        }
        #expect((one.kinds["append"] ?? 0) > before)
    }

    /// A batch whose outcome is unknown is given up with its list, and others are handed over all the same.
    @Test func aDeletedListIsNotSettled() throws {
        let (ada, root) = (one.follower(1), one.follower(2))
        root.say(.create(request: 5, name: "other", rules: Rules()))
        one.settle()
        for stream in [ada, root] { stream.subscribe("other", request: 6) }
        one.settle()
        let other = try #require(ada.lastStart).list
        store.fates = [.lost]
        ada.insert(10, 1)
        one.settle()
        ada.insert(30, 2, list: other)
        root.say(.delete(request: 7, name: "list"))
        one.settle()
        #expect(ada.errors == [.listDeleted] && ada.commits.count == 1)
        let before = one.kinds["append"]
        one.pass(10_000)
        #expect(one.kinds["append"] == before && one.machine.load.pendingCommits == 0)
        #expect(one.machine.brokenInvariant() == nil)
    }

    /// The list fills up on the other server: the first submission on a connection is refused by a commit, later ones
    /// are rejected.
    @Test(arguments: [true, false]) func aRepeatedDecisionMayRefuse(isFirst: Bool) throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        if !isFirst {
            ben.insert(20, 1)
            two.settle()
            ben.say(.submit(Submission(list: 1, base: 1, sequence: 2, delta: .deleting(0..<1))))
            two.settle()
            one.pass(1_000)
            one.settle()
        }
        let base = isFirst ? 0 : 2
        for number: UInt64 in 1...3 { ada.insert(10 + number, SequenceNumber(number), base: base) }
        ben.insert(30, 3, base: base)
        one.settle()
        two.settle()
        let refusals = ben.commits.compactMap(\.refusal)
        let rejections = ben.heard.filter {
            if case .rejected(1, 3, .violation(.listFull)) = $0 { true } else { false }
        }
        #expect(refusals.count == (isFirst ? 1 : 0) && rejections.count == (isFirst ? 0 : 1))
        try TestWorld.settle(one, two)
        #expect(try store.load(1).hand.count == 3)
    }

    /// An exact edit that is preceded by others' commits is refused.
    @Test func anExactEditBehindOthersCommitsIsRefused() throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        ada.insert(10, 1)
        ben.insert(20, 1, isExact: true)
        one.settle()
        two.settle()
        #expect(ben.commits.map(\.refusal) == [nil, .revisionMoved(now: 1)])
        try TestWorld.settle(one, two)
    }

    /// A submission to a server whose answer is lost is found by the next server.
    @Test(arguments: [SimulatedStore.Fate.lost, .executed]) func aMovedClientsSubmissionIsFound(
        fate: SimulatedStore.Fate
    ) throws {
        _ = two.follower(2)
        let ada = one.follower(1)
        store.fates = [fate]
        ada.insert(10, 1)
        one.settle()
        let moved = two.follower(1, logID: 9)
        let isThere = fate == .executed
        #expect(
            moved.lastStart?.lastSequence == (isThere ? 1 : 0)
                && moved.lastStart?.start.resumedHead == (isThere ? 1 : 0))
        moved.insert(10, 1)
        two.settle()
        try TestWorld.settle(one, two)
        #expect(try store.load(1).revision == 1 && store.load(1).hand.map(\.id.rawValue) == [10])
        #expect(moved.commits.count == 1 && ada.commits.count == 1)
    }

    /// Another server has refused a submission that waits here. Only its commit reports that, with the reason.
    @Test func aRefusalElsewhereIsReportedByItsCommit() throws {
        let (ada, ben) = (one.follower(1), two.follower(2))
        for number: UInt64 in 1...3 { ben.insert(20 + number, SequenceNumber(number)) }
        two.settle()
        ada.insert(10, 1)
        let moved = two.follower(1, logID: 9, revision: 3)
        moved.insert(10, 1, base: 3)
        two.settle()
        one.settle()
        try TestWorld.settle(one, two)
        for stream in [ada, moved] {
            #expect(!stream.heard.contains { if case .rejected = $0 { true } else { false } })
            #expect(stream.commits.last?.refusal == .violation(.listFull(maximum: 3)))
        }
        #expect(try store.load(1).revision == 4)
    }

    /// Cards are dealt from the deck as others have left it.
    @Test func cardsAreDealtFromTheSharedDeck() throws {
        _ = try store.create("cards", rules: Rules(hasDeck: true), logID: 10, deckSeed: 4)
        let streams = [one.follower(1, of: "cards"), two.follower(2, of: "cards")]
        for sequence in (1...5).map(SequenceNumber.init) {
            for (index, stream) in streams.enumerated() {
                let item = Item(id: ItemID(rawValue: sequence.rawValue * 2 + UInt64(index)), content: .card(.faceDown))
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
        #expect(streams[0].commits == streams[1].commits && streams[0].commits.count == 10)
        #expect(Set(try store.load(2).hand.map { "\($0.content)" }).count == 10)
        #expect(one.machine.brokenInvariant() == nil && two.machine.brokenInvariant() == nil)
    }

    /// Many edits at both servers, with answers lost in all ways: each edit is there once, in one order.
    @Test(arguments: 0..<20) func manyEditsAtBothServersAreMadeOnce(round: Int) throws {
        _ = try store.create("open", rules: Rules(), logID: 11, deckSeed: nil)
        var random = SplitMix64(seed: testSeed(91) &+ UInt64(round))
        let streams = (UInt64(1)...4).map { ($0 % 2 == 0 ? one : two).follower($0, of: "open") }
        var sent: [UInt64: [UInt64]] = [:]
        for step in 0..<60 {
            let index = random.next(below: streams.count)
            let stream = streams[index]
            let revision = stream.commits.last?.revision ?? 0
            let id = UInt64(step + 1)
            let item = Item(id: ItemID(rawValue: id), content: .note("\(id)"))
            let delta = Delta.inserting([item], at: 0, .after)
            sent[UInt64(index), default: []].append(id)
            let sequence = UInt64(sent[UInt64(index)]?.count ?? 0)
            stream.say(.submit(Submission(list: 2, base: revision, sequence: SequenceNumber(sequence), delta: delta)))
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
        for stream in streams { #expect(stream.commits == streams[0].commits) }
        #expect(streams[0].commits.map(\.revision) == Array(1...60))
        // Each client's edits are in the order in which it sent them.
        for ids in sent.values {
            let own = streams[0].commits.flatMap { $0.delta.insertedItems.map(\.id.rawValue) }
            #expect(own.filter(ids.contains) == ids)
        }
        #expect(one.machine.brokenInvariant() == nil && two.machine.brokenInvariant() == nil)
    }
}
