import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A sequence is used once, whatever becomes of it; the first decision on a connection is in the history.
@Suite struct UsedOnceTests {
    private static func world(_ change: (inout Limits) -> Void = { _ in }) throws -> TestWorld {
        var limits = Limits()
        change(&limits)
        let world = TestWorld(limits: limits)
        _ = try world.store.create("list", rules: Rules(maximumCount: 1), logID: 9, deckSeed: nil)
        _ = try world.store.create("other", rules: Rules(maximumCount: 1), logID: 10, deckSeed: nil)
        return world
    }

    private func client(_ world: TestWorld, revision: Int = 0, logID: UInt64 = 0) -> TestStream {
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1, logID: logID, revision: revision)
        world.settle()
        return stream
    }

    private func rejections(_ stream: TestStream) -> [SequenceNumber] {
        stream.heard.compactMap { if case .rejected(_, let sequence, _) = $0 { sequence } else { nil } }
    }

    // MARK: The server

    @Test func theFirstRefusalIsACommitAndLaterOnesAreNot() throws {
        let world = try Self.world()
        let reader = world.connect(2)
        world.settle()
        reader.subscribe("list", request: 1)
        let stream = client(world)
        stream.submit(1, base: 0, "taken")
        stream.submit(2, base: 0, "too many")
        world.settle()
        #expect(stream.commits.map(\.refusal) == [nil] && rejections(stream) == [2])
        // On the next connection it is the first again.
        let again = client(world, revision: 1, logID: 9)
        again.submit(3, base: 1, "too many")
        world.settle()
        again.submit(4, base: 1, "too many")
        world.settle()
        #expect(again.commits.map(\.refusal) == [.violation(.listFull(maximum: 1))] && rejections(again) == [4])
        #expect(reader.commits.map(\.revision) == [1, 2] && world.machine.brokenInvariant() == nil)
        #expect(world.machine.figures.rejections["listFull"] == 3)
        // If it is sent again, the server recognizes it.
        let third = client(world, revision: 2, logID: 9)
        #expect(third.lastStart?.lastSequence == 3 && third.lastStart?.isLastRefused == true)
        third.submit(3, base: 2, "too many")
        world.settle()
        #expect(third.heard.last == .rejected(list: 1, sequence: 3, .reasonForgotten))
    }

    /// Each followed list has its own first submission, also if many are waiting.
    @Test func eachListHasAFirstSubmission() throws {
        let world = try Self.world { $0.pendingSubmissions = 1 }
        let stream = client(world)
        stream.subscribe("other", request: 2)
        world.settle()
        stream.submit(1, base: 0, "taken")
        stream.submit(1, base: 0, "taken", list: 2)
        stream.submit(2, base: 0, "one too many waits", list: 2)
        world.settle()
        #expect(stream.commits.count == 2 && rejections(stream) == [2])
    }

    /// After a submission without a decision, the next one is still the first.
    @Test func staleIsNotADecision() throws {
        let world = try Self.world { $0.windowBytes = 0 }
        let others = world.connect(2)
        world.settle()
        others.subscribe("list", request: 1)
        world.settle()
        let stream = client(world)
        for sequence in 1...40 {
            let delta = Delta.inserting([Item(id: ItemID(rawValue: 5), content: .note("n"))], at: 0, .after)
            let one = sequence % 2 == 1 ? delta : .deleting(0..<1)
            others.say(.submit(Submission(list: 1, base: sequence - 1, sequence: SequenceNumber(sequence), delta: one)))
            world.settle()
        }
        stream.say(.submit(Submission(list: 1, base: 0, sequence: 1, delta: .identity)))
        stream.say(.submit(Submission(list: 1, base: 0, sequence: 1, isExact: true, delta: .identity)))
        world.settle()
        #expect(stream.heard.contains { if case .stale = $0 { true } else { false } })
        #expect(stream.commits.last?.refusal == .revisionMoved(now: 40))
    }

    // MARK: The client

    private func replica() throws -> Replica {
        var replica = Replica(confirmed: Hand(tasks(2)), revision: 4, logID: 9, sequence: 6)
        replica.author = 1
        try replica.edit(Delta.inserting(tasks(1, first: 50), at: 0, .after))
        _ = replica.takeSubmission(list: 1)
        try replica.edit(Delta.inserting(tasks(1, first: 60), at: 1, .after))
        return replica
    }

    private func refusal(by author: AuthorID = 1, sequence: SequenceNumber = 7, of replica: Replica) -> Commit {
        Commit(
            revision: replica.revision + 1, author: author, sequence: sequence, base: replica.revision, time: 0,
            count: replica.confirmed.count, digest: replica.confirmed.digest, delta: .identity,
            refusal: .violation(.listFull(maximum: 2)))
    }

    @Test func aRefusalUndoesTheEdit() throws {
        var replica = try replica()
        let before = replica
        let update = try replica.receive(refusal(of: replica))
        let made = Delta.inserting(tasks(1, first: 50), at: 0, .after)
        #expect(update.notices == [.rejected(.violation(.listFull(maximum: 2)), made, on: before.confirmed)])
        #expect(try before.view.applying(update.delta) == replica.view)
        #expect(replica.view.map(\.id.rawValue) == [60, 1, 2] && replica.revision == 5 && !replica.hasDiverged)
        // The sequence is used up.
        #expect(replica.takeSubmission(list: 1)?.sequence == 8 && replica.brokenInvariant() == nil)
    }

    /// Somebody else's refusal, and a refusal of an earlier submission, change nothing.
    @Test func othersRefusalsChangeNothing() throws {
        for (author, sequence) in [(AuthorID(2), UInt64(7)), (1, 6)] {
            var replica = try replica()
            let view = replica.view
            let update = try replica.receive(refusal(by: author, sequence: SequenceNumber(sequence), of: replica))
            #expect(update.notices.isEmpty && update.delta.isIdentity && replica.view == view)
            #expect(replica.inFlight?.sequence == 7 && replica.revision == 5)
        }
    }

    /// A sequence that the server does not know stays: the submission may still arrive over the lost connection.
    @Test func aSubmissionInFlightKeepsItsSequence() throws {
        var replica = try replica()
        for last: UInt64 in [3, 6] {
            let isNews = replica.caughtUp(lastSequence: SequenceNumber(last))
            #expect(!isNews)
        }
        #expect(replica.inFlight?.sequence == 7 && replica.sequence == 7)
        // Another program has used it.
        replica.caughtUp(lastSequence: 9)
        #expect(replica.inFlight?.sequence == 10 && replica.sequence == 10)
        _ = replica.rejected(sequence: 10, .notStored)
        #expect(replica.takeSubmission(list: 1)?.sequence == 11)
    }

    @Test(arguments: [false, true]) func aSnapshotSaysWhetherItWasRefused(isRefused: Bool) throws {
        var replica = try replica()
        let before = replica.confirmed
        let there = isRefused ? tasks(2) : tasks(1, first: 50) + tasks(2)
        let update = replica.reset(
            to: Hand(there), revision: 9, logID: 9, lastSequence: 7, isLastRefused: isRefused)
        let made = Delta.inserting(tasks(1, first: 50), at: 0, .after)
        #expect(
            update.notices == [
                isRefused ? .rejected(.reasonForgotten, made, on: before) : .acknowledged(sequence: 7, revision: 9)
            ])
        #expect(replica.view.map(\.id.rawValue) == (isRefused ? [60, 1, 2] : [50, 60, 1, 2]))
        #expect(replica.takeSubmission(list: 1)?.sequence == 8)
    }

    /// A later sequence was used before the outcome of the one in flight was known: no uncommitted edit is lost.
    @Test(arguments: [false, true]) func itemsRevealTheOutcomeOfAnEarlierSequence(isMade: Bool) throws {
        var replica = try replica()
        let there = Hand(isMade ? tasks(1, first: 50) + tasks(2) : tasks(2))
        let update = replica.reset(to: there, revision: 9, logID: 9, lastSequence: 8)
        #expect(update.notices == (isMade ? [.acknowledged(sequence: 7, revision: 9)] : []))
        #expect(replica.view.map(\.id.rawValue).sorted() == [1, 2, 50, 60])
        #expect(replica.inFlight?.sequence == (isMade ? nil : 9))
        #expect(
            isMade ? replica.takeSubmission(list: 1)?.sequence == 9 : replica.inFlight?.delta.insertedItems.count == 1)
    }
}
