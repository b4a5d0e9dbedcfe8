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
        talk.hear(.error(code: .notSubscribed, request: 8, retryAfter: 0, message: ""))
        #expect(talk.said.count == before)
        talk.hear(.error(code: .notSubscribed, request: 7, retryAfter: 0, message: ""))
        guard case .subscribe(let again) = talk.said.last else {
            Issue.record("\(talk.said)")
            return
        }
        #expect(again.name == "list" && again.logID == 5)
    }

    /// The connection is lost, "list" is edited, and the server admits the client again.
    private static func editedAway(_ talk: inout DrivenClient) {
        talk.perform { $0.disconnected(reason: "", now: 1) }
        let item = Item(id: ItemID(rawValue: 3), content: .note("mine"))
        talk.perform { try? $0.edit("list", Delta.inserting([item], at: 0, .after)) }
        talk.connect()
    }

    /// Edits are for the list that they were made on, not for one that has its name later. A list restored from a
    /// backup is the same list.
    @Test(arguments: [(6, false), (9 << 32 | 5, true)] as [(UInt64, Bool)])
    func pendingEditsStayWithTheirList(logID: UInt64, isSent: Bool) throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        Self.editedAway(&talk)
        guard case .subscribe(let again) = talk.said.last else {
            Issue.record("\(talk.said)")
            return
        }
        talk.hear(
            .subscribed(
                .init(
                    request: again.request, list: 8, logID: logID, rules: Rules(), lastSequence: 0,
                    start: .snapshot(revision: 0, count: 0, digest: 0))))
        let submissions = talk.said.filter { if case .submit = $0 { true } else { false } }
        #expect(submissions.count == (isSent ? 1 : 0))
        #expect((talk.machine.subscriptions["list"] != nil) == isSent)
        #expect(talk.refusals.isEmpty && talk.waiting == (isSent ? [] : ["list"]))
        if !isSent { #expect(talk.said.last == .unsubscribe(list: 8)) }
    }

    /// A followed list is renamed: everything known of it, including its journal, moves with it.
    @Test func aRenamedListKeepsItsStateAndJournal() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list", isJournaled: true) }
        talk.begin(1, list: 7)
        let item = Item(id: ItemID(rawValue: 3), content: .note("mine"))
        talk.perform { try? $0.edit("list", Delta.inserting([item], at: 0, .after)) }
        talk.hear(.renamed(list: 7, name: "new"))
        #expect(talk.names == ["list is kept as new", "list is new"] && talk.refusals == [])
        #expect(talk.machine.subscriptions["new"]?.replica.view.count == 1 && talk.machine.subscriptions.count == 1)
        let submissions = talk.said.filter { if case .submit = $0 { true } else { false } }
        talk.perform { $0.setPresence("new", Focus(item.id)) }
        #expect(submissions.count == 1 && talk.said.last == .presence(list: 7, Focus(item.id)))
    }

    /// A client that was away while a list was renamed finds it by its log id, with its pending edits.
    @Test func aListIsFoundByItsLogID() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        Self.editedAway(&talk)
        func asked() throws -> UpMessage.Subscribe {
            guard case .subscribe(let asked)? = talk.said.last else { throw Missing() }
            return asked
        }
        let first = try asked()
        talk.hear(.error(code: .noSuchList, request: first.request, retryAfter: 0, message: "there is no list"))
        let second = try asked()
        #expect(second.name == "" && second.logID == 5 && talk.refusals == [])
        talk.hear(
            .subscribed(
                .init(
                    request: second.request, list: 8, logID: 5, rules: Rules(), lastSequence: 0,
                    start: .resumed(head: 0))))
        talk.hear(.renamed(list: 8, name: "new"))
        #expect(talk.names == ["list is new"] && talk.machine.subscriptions["new"]?.isLive == true)
        // If the list no longer exists, the client says so once, and that edits wait.
        talk.perform { $0.disconnected(reason: "", now: 3) }
        talk.connect()
        for _ in 1...2 {
            talk.hear(.error(code: .noSuchList, request: try asked().request, retryAfter: 0, message: "no list"))
        }
        #expect(talk.waiting == ["new"] && talk.machine.subscriptions.isEmpty)
    }

    /// Of a list open under its old and its new name, what is pending continues under the new name, also in the journal.
    @Test func pendingEditsContinueUnderTheNewName() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list", isJournaled: true) }
        talk.begin(1, list: 7)
        let item = Item(id: ItemID(rawValue: 3), content: .note("mine"))
        talk.perform { try? $0.edit("list", Delta.inserting([item], at: 0, .after)) }
        talk.perform { $0.open("new", isJournaled: true) }
        talk.hear(.renamed(list: 7, name: "new"))
        #expect(talk.names.contains("list is kept as new") && talk.machine.subscriptions.keys.sorted() == ["new"])
        #expect(talk.machine.subscriptions["new"]?.replica.hasPending == true)
        #expect(talk.updates.last?.delta.insertedItems == [item])
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

    /// Found by the simulator: in a list open under its old and its new name, somebody left while it was being
    /// subscribed to again, and stayed present forever.
    @Test func somebodyWhoLeavesDuringAResubscriptionIsGone() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        talk.perform { $0.open("new") }
        talk.hear(.renamed(list: 7, name: "new"))
        let before = talk.said.count
        talk.hear(.presence(list: 7, [.init(author: 2, place: .gone)]))
        #expect(talk.left == ["new": [2]])
        // Other messages with that number are not for the list as it is here.
        talk.hear(.stale(list: 7, sequence: 1, head: 9))
        #expect(talk.said.count == before && talk.machine.subscriptions["new"]?.isLive == false)
    }

    /// Found by the simulator: of a list open under its old and its new name, one subscription continues. The person's
    /// presence under the other name was shown forever.
    @Test func presenceUnderTheRemainingNameCounts() throws {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        let focus = Focus(ItemID(rawValue: 3), isEditing: true)
        talk.perform { $0.setPresence("list", focus) }
        talk.perform { $0.open("new") }
        talk.hear(.renamed(list: 7, name: "new"))
        let told = talk.said.filter { if case .presence = $0 { true } else { false } }
        #expect(told == [.presence(list: 7, focus), .presence(list: 7, nil)])
    }

    /// Found by the simulator: a list was renamed while it was being subscribed to again, and another list that has its
    /// former name was mistaken for it.
    @Test func aListRenamedDuringAResubscriptionIsRequestedByItsNewName() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.begin(1, list: 7)
        talk.hear(.error(code: .notSubscribed, request: 7, retryAfter: 0, message: ""))
        talk.hear(.renamed(list: 7, name: "new"))
        talk.begin(2, list: 8, logID: 6)
        let again = UpMessage.Subscribe(request: 4, name: "new", logID: 5, revision: 0)
        #expect(talk.said.suffix(2) == [.unsubscribe(list: 8), .subscribe(again)])
        #expect(talk.machine.subscriptions["new"]?.isLive == false)
        talk.enter(4, list: 7, .resumed(head: 0))
        #expect(talk.machine.subscriptions["new"]?.isLive == true && talk.machine.subscriptions.count == 1)
    }

    /// Found by the simulator: a list was closed before the answer came, and opened under its new name. The end of one
    /// subscription ended both.
    @Test func aListOpenedByItsNewNameOutlivesTheOldOne() {
        var talk = DrivenClient.online()
        talk.perform { $0.open("list") }
        talk.perform { $0.close("list") }
        talk.perform { $0.open("new") }
        talk.begin(1, list: 7)
        let again = UpMessage.Subscribe(request: 3, name: "new", logID: 0, revision: 0)
        #expect(talk.said.suffix(2) == [.unsubscribe(list: 7), .subscribe(again)])
        talk.begin(2, list: 7)
        #expect(talk.machine.subscriptions["new"]?.isLive == false)
        talk.begin(3, list: 7)
        #expect(talk.machine.subscriptions["new"]?.isLive == true)
    }

    /// Found by the simulator: while a list was being requested, leaving another list that had its name before also
    /// ended the request.
    @Test(arguments: [false, true]) func aRequestedListOutlivesTheEndOfAnother(isClosed: Bool) throws {
        var talk = DrivenClient.online()
        var waiting = Replica(confirmed: Hand(), revision: 9, logID: 6, sequence: 0)
        waiting.author = 1
        if !isClosed {
            try waiting.edit(.inserting([Item(id: ItemID(rawValue: 1), content: .note("n"))], at: 0, .after))
        }
        talk.perform { $0.open("new", from: waiting) }
        if isClosed { talk.begin(1, list: 7) }
        talk.perform { $0.open("list") }
        if isClosed { talk.perform { $0.close("new") } } else { talk.begin(1, list: 7) }
        let again = UpMessage.Subscribe(request: 3, name: "list", logID: 0, revision: 0)
        #expect(talk.said.suffix(2) == [.unsubscribe(list: 7), .subscribe(again)])
        #expect(talk.machine.subscriptions.keys.sorted() == ["list"])
    }

    private struct Missing: Error {}

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
                update.notices.contains { if case .rejected(.revisionMoved, _) = $0 { true } else { false } })
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
        #expect(update.notices.contains { if case .rejected(.revisionMoved, _) = $0 { true } else { false } })
        #expect(replica.view == Hand([item]) && !replica.hasPending && replica.brokenInvariant() == nil)
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
        #expect(again.logID == 0 && again.revision == 0)
        // Until the snapshot has arrived, commits are ignored.
        talk.hear(.commit(list: 1, wrong))
        #expect(talk.notices.count == 1)
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
        let other = Commit(
            revision: 1, author: 2, sequence: 1, base: 0, time: 0, count: 0, digest: 99, delta: .identity)
        _ = try replica.receive(other)
        #expect(replica.hasDiverged)
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
        #expect(talk.notices.contains { if case .rejected(.notStored, _) = $0 { true } else { false } })
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

extension DrivenClient {
    fileprivate static func online() -> DrivenClient {
        var client = DrivenClient()
        client.connect()
        return client
    }

    fileprivate mutating func insert(_ id: UInt64, isExact: Bool = false) {
        let item = Item(id: ItemID(rawValue: id), content: .note("n"))
        perform { try? $0.edit("a", Delta.inserting([item], at: 0, .after), isExact: isExact) }
    }

    fileprivate var unsubscribed: [UInt64] {
        said.compactMap { if case .unsubscribe(let list) = $0 { list } else { nil } }
    }

    /// The lists that are refused because edits of former lists wait under their names.
    fileprivate var waiting: [String] {
        effects.compactMap { if case .list(let name, .editsWait) = $0 { name } else { nil } }
    }

    fileprivate var refusals: [ErrorCode] {
        effects.compactMap { if case .list(_, .refused(let code, _)) = $0 { code } else { nil } }
    }

    /// The lists that were renamed, and the names under which they are kept.
    fileprivate var names: [String] {
        effects.flatMap { effect -> [String] in
            switch effect {
            case .keep(let writes):
                writes.compactMap { write in
                    guard case .checkpoint(_, let name, let former?) = write else { return nil }
                    return "\(former) is kept as \(name)"
                }
            case .list(let list, .renamed(let name)): ["\(list) is \(name)"]
            default: []
            }
        }
    }

    /// The authors who were reported to have left, by list.
    fileprivate var left: [String: [UInt64]] {
        var left: [String: [UInt64]] = [:]
        for case .list(let list, .presence(let entries)) in effects { left[list, default: []] += entries.map(\.author) }
        return left
    }
}
