import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

func item(_ n: UInt64) -> Item { Item(id: ItemID(rawValue: n), content: .note("n")) }

@Suite struct ClientEdgeCasesTests {
    @Test(arguments: [true, false]) func aHugeReachIsRejected(isDelete: Bool) {
        var a = Authority(
            .init(list: 1, logID: 1, hand: Hand(), revision: 0, deck: nil, sequences: [:]), limits: Limits())
        for n in 1...5 as ClosedRange<UInt64> {
            _ = a.submit(
                Submission(
                    list: 1, base: Int(n - 1), sequence: SequenceNumber(n),
                    delta: Delta.inserting([item(n)], at: 0, .after)),
                author: 1, now: 0)
            _ = a.takeBatch()
            a.wrote()
        }
        let far = Int(Int32.max) - 2
        let op: Delta = isDelete ? .deleting(far..<far + 1) : .inserting([item(99)], at: far, .before)
        let outcome = a.submit(Submission(list: 1, base: 0, sequence: 1, delta: op), author: 2, now: 0)
        guard case .rejected(.doesNotFit) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    /// A request that no server can read is answered at once; the connection stays.
    @Test func aRequestThatNoServerReadsIsNotSent() throws {
        var client = DrivenClient()
        client.connect()
        let number = try #require(
            client.perform { $0.ask { .undelete(request: $0, name: "a", deletion: .max, newName: "b") } })
        guard case .error(.malformedMessage, let reason)? = client.answers[number] else {
            Issue.record("\(client.answers)")
            return
        }
        #expect(reason.hasPrefix("deletion: expected a number of at most 2^53 - 1"))
        let next = try #require(client.perform { $0.ask { .delete(request: $0, name: "a") } })
        #expect(client.answers[next] == nil && client.machine.state == .ready)
    }

    /// The list was deleted and created again while an edit was in flight.
    @Test func aRecreatedListIsAnotherHistory() throws {
        var replica = Replica(confirmed: Hand([item(1)]), revision: 8, logID: 5, sequence: 8)
        replica.author = 1
        try replica.edit(Delta.inserting([item(2)], at: 1, .before))
        #expect(replica.takeSubmission(list: 1)?.sequence == 9)
        _ = replica.reset(to: Hand(), revision: 0, logID: 6, lastSequence: 0)
        #expect(replica.takeSubmission(list: 1)?.sequence == 9)
    }

    /// A lagging client with an edit in the buffer gets a snapshot unasked; the buffer must be sent afterwards.
    @Test func aSnapshotForALaggingClientSendsItsBuffer() throws {
        var client = DrivenClient()
        client.connect()
        client.perform { $0.open("a") }
        client.begin(1)
        for id in 1...2 as ClosedRange<UInt64> {
            try client.perform { try $0.edit("a", Delta.inserting([item(id)], at: Int(id) - 1, .before)) }
        }
        client.begin(1, Hand([item(1), item(7)]), revision: 50, lastSequence: 1)
        #expect(client.submissions.map(\.sequence) == [1, 2])
    }

    /// Presence got lost with the connection, and when it was set before the server had answered.
    @Test(arguments: [false, true]) func presenceIsSentWithEachSubscription(isEditing: Bool) throws {
        let focus = Focus(ItemID(rawValue: 7), isEditing: isEditing)
        var client = DrivenClient()
        client.perform { $0.open("a") }
        client.perform { $0.setPresence("a", focus) }
        for round in UInt64(1)...2 {
            let now = round * 100_000
            client.perform { if round == 1 { $0.start() } else { $0.timer(now: now) } }
            client.perform { $0.connected(now: now) }
            client.welcome(now: now)
            client.enter(RequestNumber(round), list: 4, .resumed(at: 0), now: now)
            client.hear(.pong(now), now: now + 3)
            client.perform { $0.disconnected(reason: "gone", now: now) }
        }
        let told = client.said.filter { if case .presence = $0 { true } else { false } }
        #expect(told == [UpMessage](repeating: .presence(list: 4, focus), count: 2))
        let latencies = client.effects.compactMap { if case .latency(let time) = $0 { time } else { nil as UInt64? } }
        #expect(latencies == [3, 3])
    }

    /// Two people edit the same text while both are disconnected. The first to return is told that the other overrode
    /// it, although the other's edit was carried over the first one before it was sent.
    @Test func anAuthorOverriddenByAnOfflineEditIsNotified() throws {
        let start = Hand([Item(id: ItemID(rawValue: 1), content: .note("eggs"))])
        func replica(_ author: AuthorID) -> Replica {
            var replica = Replica(confirmed: start, revision: 8, logID: 5, sequence: 0)
            replica.author = author
            return replica
        }
        func commit(_ submission: Submission, by author: AuthorID, on hand: Hand, _ revision: Int) throws -> Commit {
            let after = try hand.applying(submission.delta)
            return Commit(
                revision: revision, author: author, sequence: submission.sequence,
                base: submission.base - submission.lag,
                time: 0, count: after.count, digest: after.digest, delta: submission.delta)
        }
        var (ada, bob) = (replica(1), replica(2))
        try ada.edit(ada.view.rewording(0, "six ducks"))
        try bob.edit(bob.view.rewording(0, "hens from Bob"))
        let adas = ada.takeSubmission(list: 1)
        let first = try commit(#require(adas), by: 1, on: start, 9)
        _ = try ada.receive(first)
        _ = try bob.receive(first)
        let bobs = bob.takeSubmission(list: 1)
        let carried = try #require(bobs)
        #expect(carried.base == 9 && carried.lag == 1)
        let second = try commit(carried, by: 2, on: ada.confirmed, 10)
        #expect(second.base == 8)
        let notices = try ada.receive(second).notices
        let loss = TextChange.Loss(at: 0, original: "eggs", lost: "six ducks", present: "hens from Bob")
        let after = Item(id: ItemID(rawValue: 1), content: .note("hens from Bob"))
        #expect(notices == [.superseded(after, .words(loss, in: .text), by: Loss.Override(author: 2, revision: 10))])
        // An edit of text that its author has seen overrides nobody.
        _ = try bob.receive(second)
        try bob.edit(bob.view.rewording(0, "seen"))
        let next = bob.takeSubmission(list: 1)
        let third = try commit(#require(next), by: 2, on: ada.confirmed, 11)
        let later = try ada.receive(third)
        #expect(later.notices.isEmpty)
    }

    @Test func impossibleRejectionDetailsAreRefused() {
        #expect(throws: WireError.self) { try Rejection(code: 4, first: 1, second: 0) }
        #expect(throws: WireError.self) { try Rejection(code: 5, first: 99, second: 0) }
    }

    /// A server may grant any idle deadline; the next deadline can still be computed.
    @Test func anyIdleDeadlineIsAccepted() throws {
        var client = DrivenClient()
        client.perform { $0.start() }
        client.perform { $0.connected(now: 1) }
        client.welcome(idleDeadline: .max, now: 1)
        #expect(try #require(client.machine.deadline) > 1)
    }
}

@Suite struct ExactEditTests {
    /// An exact edit that waits while others commit must be rejected, not carried over to the newer list.
    @Test func anExactEditKeepsItsBase() throws {
        var replica = Replica(confirmed: Hand([item(1), item(2)]), revision: 3, logID: 5, sequence: 0)
        replica.author = 1
        try replica.edit(Delta.deleting(1..<2), isExact: true)
        let delta = Delta.inserting([item(9)], at: 0, .after)
        let after = try Hand([item(1), item(2)]).applying(delta)
        _ = try replica.receive(
            Commit(
                revision: 4, author: 2, sequence: 1, base: 3, time: 0, count: 3, digest: after.digest, delta: delta))
        let taken = replica.takeSubmission(list: 1)
        let submission = try #require(taken)
        #expect(submission.base == 3 && submission.isExact)
    }

    /// The data on disk restore the same replica, including portions and exactness.
    @Test func aCheckpointRestoresTheSameReplica() throws {
        var replica = Replica(confirmed: Hand([item(1)]), revision: 3, logID: 5, sequence: 7)
        replica.author = 4
        try replica.edit(Delta.inserting([item(2)], at: 1, .before))
        _ = replica.takeSubmission(list: 1)
        try replica.edit(Delta.inserting([item(3)], at: 0, .after))
        try replica.edit(Delta.deleting(0..<1), isExact: true)
        let bytes = replica.checkpoint.bytes
        let read = try bytes.withUnsafeBytes { try Replica.Checkpoint($0) }
        let again = try Replica(read, confirmed: replica.confirmed)
        #expect(read == replica.checkpoint && again.view == replica.view && again.pending == replica.pending)
        #expect(again.checkpoint == read && again.state == .awaitingWithBuffer)
    }

    /// An undo that the rules currently forbid is not forgotten.
    @Test func aForbiddenUndoStaysAvailable() throws {
        var replica = Replica(
            confirmed: Hand([item(1)], rules: Rules(maximumCount: 1)), revision: 0, logID: 5, sequence: 0)
        try replica.edit(Delta.deleting(0..<1))
        let delta = Delta.inserting([item(9)], at: 0, .after)
        let list = try Hand([item(1)]).applying(delta)
        _ = try replica.receive(
            Commit(revision: 1, author: 2, sequence: 1, base: 0, time: 0, count: 2, digest: list.digest, delta: delta))
        #expect(throws: Replica.EditError.violation(.listFull(maximum: 1))) { try replica.take(.undo) }
        #expect(replica.canUndo)
    }
}
