import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Bugs that the simulator found on the client's side, each in its shortest form.
@Suite struct ResubscriptionTests {
    /// A list is subscribed to again if the server does not consider it followed; a message that crossed the end of a
    /// subscription is ignored.
    @Test func aListThatTheServerDoesNotConsiderFollowedIsSubscribedAgain() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        let before = talk.said.count
        talk.hear(.error(code: .notSubscribed, request: 0, list: 8, retryAfter: 0, message: ""))
        #expect(talk.said.count == before)
        talk.hear(.error(code: .notSubscribed, request: 0, list: 7, retryAfter: 0, message: ""))
        guard case .subscribe(let again) = talk.said.last else {
            Issue.record("\(talk.said)")
            return
        }
        #expect(again.name == "list" && again.logID == 5)
    }

    /// A commit with the client's sequence is another edit: another program uses the client's id.
    @Test func anotherUserOfTheIDIsNoticed() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        func insert(_ id: UInt64) -> Delta {
            .inserting([Item(id: ItemID(rawValue: id), content: .note("n"))], at: 0, .after)
        }
        talk.perform { try? $0.edit("list", insert(3)) }
        let author = try #require(talk.machine.author)
        let theirs = try Hand().applying(insert(4))
        let commit = Commit(
            revision: 1, author: author, sequence: 1, base: 0, time: 0, count: 1, digest: theirs.digest,
            delta: insert(4))
        talk.hear(.commit(list: 7, commit))
        #expect(talk.machine.isShared && talk.submissions.map(\.sequence) == [1, 2])
    }

    /// When it was closed before the answer came, the list stayed subscribed on the server, and its person present.
    @Test func aListClosedBeforeTheAnswerIsUnsubscribed() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.perform { $0.close("a") }
        talk.begin(1)
        #expect(talk.unsubscribed == [1])
        // If it is opened again in time, it stays.
        talk.perform { $0.open("a") }
        talk.perform { $0.close("a") }
        talk.perform { $0.open("a") }
        talk.begin(2)
        #expect(talk.unsubscribed == [1])
        talk.begin(3)
        #expect(talk.machine.subscriptions["a"]?.isLive == true)
    }

    /// Of two rejections of one submission, sent twice on one connection, the second was taken for that of the next
    /// submission. A server does not remember rejections either.
    @Test func aSubmissionGoesOutOnceOnAConnection() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.begin(1)
        talk.insert(1)
        talk.insert(2)
        // The connection lagged, and the server sends a snapshot.
        talk.begin(1)
        #expect(talk.submissions.count == 1)
        talk.hear(.rejected(list: 1, sequence: 1, .violation(.listFull(maximum: 5))))
        #expect(talk.submissions.map(\.sequence) == [1, 2])
        #expect(talk.submissions[1].delta.insertedItems.map(\.id.rawValue) == [2])
    }

    /// A list was restored from a backup, with another history; the client waited forever for the answer to its old
    /// submission.
    @Test func aRestoredListGetsTheUnansweredSubmission() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.begin(1)
        talk.insert(1)
        talk.begin(1, list: 2, logID: 9 << 32 | 5)
        #expect(talk.submissions.map(\.list) == [1, 2])
    }

    /// The undo of a deletion brought the item back on a new list with the name of a deleted one.
    @Test(arguments: [(5, 9 << 32 | 5, true), (5, 6, false), (0, 6, true)]) func editsOfAnotherListAreNotUndone(
        former: UInt64, logID: UInt64, isSameList: Bool
    ) throws {
        let item = Item(id: ItemID(rawValue: 1), content: .note("n"))
        var replica = Replica(confirmed: Hand([item]), revision: 1, logID: former, sequence: 3)
        replica.author = 1
        try replica.edit(.deleting(0..<1))
        _ = replica.takeSubmission(list: 1)
        _ = replica.reset(to: Hand(), revision: 2, logID: former, lastSequence: 4)
        #expect(replica.canUndo)
        _ = replica.reset(to: Hand(), revision: 0, logID: logID, lastSequence: 0)
        #expect(replica.canUndo == isSameList)
    }

    /// An exact edit on a lost history was submitted with a base beyond the new one, which closed the connection.
    @Test func anExactEditOnALostHistoryIsUndone() throws {
        for inFlight in [true, false] {
            var replica = Replica(confirmed: Hand(), revision: 8, logID: 5, sequence: 3)
            let items = [1, 2, 3].map { Item(id: ItemID(rawValue: $0), content: .note("n")) }
            try replica.edit(Delta.inserting([items[0]], at: 0, .after))
            if inFlight { _ = replica.takeSubmission(list: 1) }
            try replica.edit(Delta.inserting([items[1]], at: 1, .after), isExact: true)
            try replica.edit(Delta.inserting([items[2]], at: 2, .after))
            let update = replica.reset(to: Hand(), revision: 2, logID: 6, lastSequence: 0)
            #expect(replica.view.map(\.id.rawValue) == [1, 3])
            #expect(
                update.notices.contains { if case .rejected(.revisionMoved, _, _) = $0 { true } else { false } })
            #expect(replica.brokenInvariant() == nil)
            while let submission = replica.takeSubmission(list: 1), replica.inFlight != nil {
                #expect(!submission.isExact && submission.base == 2)
                _ = replica.rejected(sequence: submission.sequence, .notStored)
            }
        }
    }

    /// It was undone on the list without the edit before it, although the snapshot contained that edit.
    @Test func anExactEditAfterACommittedOneIsUndone() throws {
        let item = Item(id: ItemID(rawValue: 1), content: .note("n"))
        var replica = Replica(confirmed: Hand(), revision: 8, logID: 5, sequence: 0)
        try replica.edit(Delta.inserting([item], at: 0, .after))
        _ = replica.takeSubmission(list: 1)
        try replica.edit(Delta.deleting(0..<1), isExact: true)
        let update = replica.reset(to: Hand([item]), revision: 2, logID: 5, lastSequence: 1)
        #expect(update.notices.contains { if case .rejected(.revisionMoved, _, _) = $0 { true } else { false } })
        #expect(replica.view == Hand([item]) && !replica.hasPending && replica.brokenInvariant() == nil)
    }

    /// A list that was restored from a backup has another history, and the same sequences: an edit whose outcome was not
    /// known is not made again if it is there.
    @Test func anEditInARestoredListIsCommitted() throws {
        let items = [1, 2].map { Item(id: ItemID(rawValue: $0), content: .note("n")) }
        for (last, isRefused) in [(1, false), (1, true), (0, false)] as [(SequenceNumber, Bool)] {
            var replica = Replica(confirmed: Hand([items[0]]), revision: 8, logID: 0x1_0000_0005, sequence: 0)
            try replica.edit(Delta.deleting(0..<1))
            _ = replica.takeSubmission(list: 1)
            let snapshot = last == 0 || isRefused ? Hand([items[0]]) : Hand()
            let update = replica.reset(
                to: snapshot, revision: 8, logID: 0x2_0000_0005, lastSequence: last, isLastRefused: isRefused)
            #expect(replica.hasPending == (last == 0))
            #expect(replica.view.isEmpty == !isRefused)
            #expect(
                update.notices.contains { if case .acknowledged = $0 { true } else { false } } == (snapshot.isEmpty))
        }
    }

    /// A commit that does not fit the client's list closed the connection, and again after each reconnect.
    @Test func aCommitThatDoesNotFitBringsASnapshot() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.begin(1)
        let wrong = Commit(
            revision: 1, author: 2, sequence: 1, base: 0, time: 0, count: 3, digest: 1,
            delta: Delta.deleting(0..<2))
        talk.hear(.commit(list: 1, wrong))
        #expect(talk.notices == [.diverged(revision: 1)])
        guard case .subscribe(let again)? = talk.said.last else {
            Issue.record("it does not subscribe again")
            return
        }
        // It names the list, and no history of it.
        #expect(again.logID == LogID.list(5) && again.revision == 0)
        // Until the snapshot has arrived, commits are ignored.
        talk.hear(.commit(list: 1, wrong))
        #expect(talk.notices.count == 1)
    }

    /// Seed 2106376: a list was deleted and restored while its client subscribed again because the list had diverged.
    /// The server knew of no earlier subscription, and somebody who had left stayed on the screen.
    @Test func whoWasThereIsForgottenWithANewAnswer() {
        func here(_ authors: [AuthorID]) -> [DownMessage.Presence] {
            authors.map { DownMessage.Presence(author: $0, place: .here(person: "p", nil)) }
        }
        let gone = [2, 3].map { DownMessage.Presence(author: $0, place: .gone) }
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.begin(1)
        talk.hear(.presence(list: 1, here([3, 2])))
        let wrong = Commit(
            revision: 1, author: 2, sequence: 1, base: 0, time: 0, count: 3, digest: 1,
            delta: Delta.deleting(0..<2))
        talk.hear(.commit(list: 1, wrong))
        talk.begin(2, revision: 1)
        // The server begins anew by itself: that says nothing about people.
        talk.hear(.presence(list: 1, here([2])))
        talk.begin(2, revision: 2)
        let told = talk.effects.compactMap { if case .list(_, .presence(let people)) = $0 { people } else { nil } }
        #expect(told == [here([3, 2]), gone, here([2])])
    }

    /// Seed 68736: when a diverged replica was told that its submission is stale, it submitted an edit of items that
    /// only it had. Now the edit waits for the snapshot.
    @Test func aDivergedListSubmitsNothing() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.begin(1)
        talk.insert(1)
        let wrong = Commit(
            revision: 1, author: 2, sequence: 1, base: 0, time: 0, count: 0, digest: 1,
            delta: Delta.inserting([Item(id: ItemID(rawValue: 9), content: .note("n"))], at: 0, .after))
        talk.hear(.commit(list: 1, wrong))
        talk.hear(.stale(list: 1, sequence: 1, head: 1))
        #expect(talk.submissions.map(\.base) == [0])
        talk.begin(2, revision: 1)
        #expect(talk.submissions.map(\.base) == [0, 1])
    }

    /// After a restart, a replica had forgotten that it had diverged, and what the author of an edit had seen.
    @Test func aCheckpointRemembersDivergence() throws {
        var replica = Replica(confirmed: Hand(), revision: 0, logID: 5, sequence: 0)
        let item = Item(id: ItemID(rawValue: 1), content: .note("n"))
        try replica.edit(Delta.inserting([item], at: 0, .after))
        for (revision, digest) in [(1, 0), (2, 99)] as [(Int, UInt64)] {
            _ = try replica.receive(
                Commit(
                    revision: revision, author: 2, sequence: SequenceNumber(revision), base: 0, time: 0, count: 0,
                    digest: digest,
                    delta: .identity))
        }
        #expect(replica.hasDiverged && replica.revision == 1)
        let bytes = replica.checkpoint.bytes
        let kept = try bytes.withUnsafeBytes { try Replica.Checkpoint($0) }
        #expect(kept == replica.checkpoint)
        var back = try Replica(kept, confirmed: replica.confirmed)
        #expect(back.hasDiverged)
        #expect(back.takeSubmission(list: 1)?.lag == 1)
    }

    /// A rejection of an edit that no longer fits a diverged list dropped the edit without a notice.
    @Test func aRejectionIsReportedEvenOnADivergedList() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("a") }
        talk.begin(1, Hand([Item(id: ItemID(rawValue: 7), content: .note("n"))]), revision: 1)
        talk.insert(1)
        let wrong = Commit(
            revision: 2, author: 2, sequence: 1, base: 1, time: 0, count: 9, digest: 1, delta: .identity)
        talk.hear(.commit(list: 1, wrong))
        talk.hear(.rejected(list: 1, sequence: 1, .notStored))
        #expect(talk.notices.contains { if case .rejected(.notStored, _, _) = $0 { true } else { false } })
    }

    /// Found by the soak: a hello that the client had given up reached the server after the next one, and the client,
    /// replaced by itself, stopped for good. A client that is replaced again and again reconnects once more, for
    /// another id, and stops if it cannot get one.
    @Test func aLateHelloOfOnesOwnIsNotAnotherProgram() {
        var machine = ClientMachine(client: ClientID(high: 0, low: 1), person: "", program: "", seed: 1)
        machine.start()
        /// Whether the client wants to reconnect after having been replaced at that time.
        func comesBack(after now: UInt64) -> Bool {
            machine.connected(now: now)
            var comesBack: Bool?
            let error = DownMessage.error(code: .replaced, request: 0, retryAfter: 0, message: "again").frame
            error.withUnsafeBytes { bytes in
                machine.received(bytes, now: now)
                while let effect = machine.nextEffect() {
                    if case .status(.offline(_, let wait)) = effect { comesBack = wait != nil }
                }
            }
            machine.start()
            return comesBack == true
        }
        #expect([0, 10_000, 20_000].map { comesBack(after: $0) } == [true, true, true])
        #expect(comesBack(after: 70_000), "two of them are long ago")
        #expect(comesBack(after: 75_000))
        #expect([80_000, 81_000].map { comesBack(after: $0) } == [true, true])
        #expect(machine.wantsNewID && !comesBack(after: 82_000))
    }
}
