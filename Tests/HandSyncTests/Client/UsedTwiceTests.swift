import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A commit with the author and the sequence of the submission in flight is one's own only if it equals what was
/// submitted: a copy of the journal may be in use, whose program counts from the same number.
@Suite struct UsedTwiceTests {
    private static func item(_ id: UInt64, _ content: Content = .note("n")) -> Item {
        Item(id: ItemID(rawValue: id), content: content)
    }

    private static func commit(_ delta: Delta, _ hand: Hand, revision: Int, sequence: SequenceNumber) throws -> Commit {
        let after = try hand.applying(delta)
        return Commit(
            revision: revision, author: 1, sequence: sequence, base: revision - 1, time: 0, count: after.count,
            digest: after.digest, delta: delta)
    }

    private static func replica(_ hand: Hand, _ delta: Delta) throws -> Replica {
        var replica = Replica(confirmed: hand, revision: 0, logID: 9, sequence: 0)
        replica.author = 1
        try replica.edit(delta)
        #expect(replica.takeSubmission(list: 1)?.sequence == 1)
        return replica
    }

    @Test func anotherProgramsCommitIsNotOnesOwn() throws {
        let hand = Hand(tasks(2))
        let mine = Delta.inserting([Self.item(50)], at: 1, .after)
        for other in [
            Delta.inserting([Self.item(51)], at: 1, .after),
            Delta.inserting([Self.item(50, .note("m"))], at: 1, .after),
            Delta.inserting([Self.item(50)], at: 1, .before),
            Delta.deleting(0..<1), .identity,
        ] {
            var replica = try Self.replica(hand, mine)
            let update = try replica.receive(try Self.commit(other, hand, revision: 1, sequence: 1))
            #expect(update.notices.contains(.usedTwice(revision: 1)))
            #expect(replica.hasPending && !replica.hasDiverged)
            #expect(replica.view.contains { $0.id.rawValue == 50 }, "the edit is kept")
        }
    }

    /// After a restart, the same commits lead to the same state.
    @Test func itIsSubmittedAgainUnderAnotherSequence() throws {
        let hand = Hand(tasks(2))
        var replica = try Self.replica(hand, Delta.inserting([Self.item(50)], at: 1, .after))
        var again = replica
        let theirs = try Self.commit(Delta.deleting(0..<1), hand, revision: 1, sequence: 1)
        _ = try replica.receive(theirs)
        replica.caughtUp(lastSequence: 1)
        for event in [JournalEvent.authors(own: 1, persons: [1]), .commit(theirs), .caughtUp(lastSequence: 1)] {
            try again.replay(event.bytes.withUnsafeBytes { try JournalEvent($0) })
        }
        for one in [replica, again] {
            var one = one
            let taken = one.takeSubmission(list: 1)
            let submission = try #require(taken)
            #expect(submission.sequence == 2 && submission.base == 1)
            let update = try one.receive(
                try Self.commit(submission.delta, one.confirmed, revision: 2, sequence: 2))
            #expect(update.notices == [.acknowledged(sequence: 2, revision: 2)])
            #expect(one.view.map(\.id.rawValue) == [50, 2] && !one.hasPending)
        }
    }

    /// A submission that was carried over a snapshot may still arrive over an earlier connection, unchanged: then the
    /// server carries it over the commits, and the result may differ. Another snapshot shows the outcome, also after a
    /// restart.
    @Test func anEditCarriedOverASnapshotMayBeCommittedDifferently() throws {
        let hand = Hand(tasks(2))
        var running = try Self.replica(hand, Delta.inserting([Self.item(50)], at: 1, .after))
        let others = try hand.applying(.inserting([Self.item(60)], at: 1, .after))
        _ = running.reset(to: others, revision: 3, logID: 9, lastSequence: 0)
        let kept = try running.checkpoint.bytes.withUnsafeBytes { try Replica.Checkpoint($0) }
        let mine = Delta.inserting([Self.item(50)], at: 2, .before)
        #expect(running.inFlight?.sequence == 1 && running.inFlight?.delta != mine)
        for var replica in [running, try Replica(kept, confirmed: others)] {
            let commit = try Self.commit(mine, others, revision: 4, sequence: 1)
            #expect(try replica.receive(commit).notices.isEmpty && replica.hasDiverged)
            let all = try others.applying(mine)
            let update = replica.reset(to: all, revision: 4, logID: 9, lastSequence: 1)
            #expect(update.notices == [.acknowledged(sequence: 1, revision: 4)])
            #expect(replica.view == all && !replica.hasPending && !replica.hasDiverged)
        }
        // In its present form, or as a refusal, it is recognized as always.
        for (delta, refusal) in [(running.inFlight?.delta, nil), (.identity, Rejection.notStored)]
            as [(Delta?, Rejection?)]
        {
            var (replica, commit) = (running, try Self.commit(try #require(delta), others, revision: 4, sequence: 1))
            commit.refusal = refusal
            _ = try replica.receive(commit)
            #expect(!replica.hasPending && !replica.hasDiverged)
        }
    }

    /// The server turns over the dealt cards of a submission, and changes nothing else.
    @Test func aCommitWithADealtCardIsOnesOwn() throws {
        let hand = Hand([], rules: Rules(allowedKinds: [.card], hasDeck: true))
        let (ace, king) = (Card(code: 1) ?? .faceDown, Card(code: 13) ?? .faceDown)
        let mine = Delta.inserting(
            [Self.item(1, .card(.faceDown)), Self.item(2, .card(ace))], at: 0, .after
        )
        func received(_ cards: [Item]) throws -> [Replica.Notice] {
            var replica = try Self.replica(hand, mine)
            let delta = Delta.inserting(cards, at: 0, .after)
            return try replica.receive(try Self.commit(delta, hand, revision: 1, sequence: 1)).notices
        }
        let dealt = try received([Self.item(1, .card(king)), Self.item(2, .card(ace))])
        #expect(dealt == [.acknowledged(sequence: 1, revision: 1)])
        for cards in [
            [Self.item(3, .card(king)), Self.item(2, .card(ace))],
            [Self.item(1, .card(ace)), Self.item(2, .card(king))],
            [Self.item(1, .card(king))], [Self.item(2, .card(ace)), Self.item(1, .card(king))],
        ] {
            #expect(try received(cards).contains(.usedTwice(revision: 1)))
        }
    }

    /// Altered bytes of a commit are for the digest to detect.
    @Test func aGarbledCommitIsNotAnotherPrograms() throws {
        let hand = Hand(tasks(2))
        let mine = Delta.inserting([Self.item(50)], at: 1, .after)
        var replica = try Self.replica(hand, mine)
        var commit = try Self.commit(mine, hand, revision: 1, sequence: 1)
        commit.delta = Delta.deleting(0..<1)
        #expect(try replica.receive(commit).notices == [.diverged(revision: 1)])
    }

    /// A snapshot does not say who made the commit that took the sequence: parts of one's edit that it lacks are
    /// reported.
    @Test func partsMissingInASnapshotAreReported() throws {
        let hand = Hand(tasks(3))
        let mine = Delta.inserting([Self.item(50)], at: 1, .after)
            .composed(with: Delta.deleting(0..<1))
            .composed(with: Delta.editing(at: 1, Change(text: "t2", to: "mine")))
        let made = try hand.applying(mine)
        func lost(_ snapshot: Hand) throws -> Set<UInt64> {
            var replica = try Self.replica(hand, mine)
            let update = replica.reset(to: snapshot, revision: 9, logID: 9, lastSequence: 1)
            #expect(!replica.hasPending && replica.view == snapshot)
            return Set(
                update.notices.compactMap {
                    guard case .superseded(let item, _, let override) = $0, override.author == 0 else { return nil }
                    return override.revision == 9 ? item.id.rawValue : nil
                })
        }
        #expect(try lost(made).isEmpty)
        let touched = Set(hand.map(\.id.rawValue)).subtracting([3]).union([50])
        #expect(try lost(hand) == touched)
        #expect(try lost(made.applying(Delta.deleting(0..<1))) == [50])
    }
}
