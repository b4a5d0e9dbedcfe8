import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Edits of a list that the client does not have, and the presence on it: the client's machine, message by message.
@Suite struct EphemeralSubscriptionTests {
    private static let items = (1...4).map { Item(id: ItemID(rawValue: $0), content: .note("\($0)")) }
    /// An excerpt of a list with four items at revision 7; the third is known.
    fileprivate static let excerpt = Excerpt(
        logID: 5, revision: 7, count: 4, rules: Rules(), entries: [.init(position: 2, item: items[2])])
    fileprivate static let edit = Delta.editing(at: 2, Change(text: "3", to: "new"))

    private static let entering = entering(wantsPeople: false)
    private static func entering(wantsPeople: Bool) -> UpMessage {
        .subscribe(
            .init(request: 1, name: "list", logID: 0, revision: 0, wantsItems: false, wantsPeople: wantsPeople))
    }
    private static func submission(isExact: Bool = false) -> UpMessage {
        .submit(Submission(list: 2, base: 7, sequence: 4, isExact: isExact, delta: edit))
    }

    private static let left = Item(id: items[2].id, content: .note("new"))

    /// The notice that somebody deleted the edited item, which is as the user left it.
    private static func deletion(by author: AuthorID, in revision: Int) -> Replica.Notice {
        // The item before it is not known.
        .superseded(
            left, .edit(.text), by: Loss.Override(author: author, revision: revision, deletesItem: true, behind: nil))
    }

    private func committed(_ answer: ClientMachine.Answer?) -> (revision: Int, notices: [Replica.Notice])? {
        if case .committed(let revision, let notices, _) = answer { (revision, notices) } else { nil }
    }

    @Test(arguments: [false, true]) func anEditIsCommitted(isExact: Bool) throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit(isExact: isExact)!
        #expect(talk.said == [Self.entering])
        talk.enter(request)
        #expect(talk.said == [Self.entering, Self.submission(isExact: isExact)])
        // Neither somebody else's commit nor an earlier one of one's own is the answer.
        talk.commit(8, author: 2, sequence: 4, Delta.editing(at: 0, Change(text: "1", to: "other")))
        talk.commit(9, author: 1, sequence: 3, .identity)
        #expect(talk.answers.isEmpty)
        talk.commit(10, author: 1, sequence: 4, Self.edit)
        let answer = try #require(committed(talk.answers[request]))
        #expect(answer.revision == 10 && answer.notices.isEmpty)
        #expect(talk.said.last == .unsubscribe(list: 2))
        // Later messages about the list are ignored.
        let said = talk.said
        talk.commit(11, author: 1, sequence: 4, Self.edit)
        #expect(talk.said == said && talk.machine.isReady)
    }

    /// An edit that undoes a commit is recorded as such before it is sent, with its sequence.
    @Test func stepsAreWrittenBeforeTheyAreSent() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit(step: .redo)!
        talk.enter(request)
        #expect(talk.order == ["redo 4 of 5 is kept", "sent 4"])
        talk.lose()
        talk.comeBack()
        talk.enter(request, lastSequence: 4)
        #expect(talk.order.dropFirst(2) == ["redo 4 of 5 is kept", "sent 4"])
        var plain = DrivenClient.ofOneEdit()
        plain.enter(plain.edit()!)
        #expect(plain.order == ["4 of 5 is kept", "sent 4"])
    }

    /// What a run has sent without hearing of its outcome, the next one sends again under its sequence.
    @Test(arguments: [false, true]) func anEditWithoutAnAnswerIsSentAgain(isRefused: Bool) throws {
        var first = DrivenClient.ofOneEdit()
        #expect(!first.machine.isOutcomeUnknown)
        first.enter(first.edit()!)
        #expect(first.machine.isOutcomeUnknown)
        let kept = try #require(
            first.writes.compactMap { if case .submission(let kept, _) = $0 { kept } else { nil } }.last)
        #expect(try kept.edit.map { try $0.bytes.withUnsafeBytes { try ExcerptEdit($0) } } == kept.edit)

        var next = DrivenClient.ofOneEdit()
        let request = try #require(next.perform { $0.resume(kept) })
        // The list has another name now.
        next.hear(.error(code: .noSuchList, request: request, retryAfter: 0, message: "no such list"))
        next.enter(request, lastSequence: 4)
        #expect(next.said.last == Self.submission())
        if isRefused {
            next.hear(.rejected(list: 2, sequence: 4, .notAllowed))
        } else {
            next.hear(.acknowledged(list: 2, sequence: 4, revision: 8))
        }
        #expect((committed(next.answers[request])?.revision == 8) == !isRefused)
        next.perform { $0.flush() }
        #expect(next.order.last == "4 of 5 became \(isRefused ? "nothing" : "8")")
        let lost = next.writes.compactMap { if case .lost(let loss, "list", 5, _) = $0 { loss } else { nil } }
        #expect(lost.count == (isRefused ? 1 : 0) && lost.allSatisfy { $0.texts == [Self.left.content.text] })
        #expect(!next.machine.isOutcomeUnknown)
    }

    private static func unanswered() throws -> JournalSubmission {
        var first = DrivenClient.ofOneEdit()
        first.enter(first.edit()!)
        return try #require(
            first.writes.compactMap { if case .submission(let kept, _) = $0 { kept } else { nil } }.last)
    }

    /// A restore gives a list another history, which has the edit if it has the sequence.
    @Test(arguments: [3, 4]) func anEditIsFoundInARestoredList(last: SequenceNumber) throws {
        let kept = try Self.unanswered()
        var next = DrivenClient.ofOneEdit()
        let request = try #require(next.perform { $0.resume(kept) })
        next.enter(request, logID: 1 << 32 | 5, lastSequence: last)
        if last == 4 {
            #expect(next.said.last == Self.submission())
            next.hear(.acknowledged(list: 2, sequence: 4, revision: 8))
            #expect(committed(next.answers[request])?.revision == 8)
        } else {
            #expect({ if case .stale? = next.answers[request] { true } else { false } }())
        }
        next.perform { $0.flush() }
        #expect(next.order.last == "4 of 5 became \(last == 4 ? "8" : "nothing")")
        #expect(next.writes.contains { if case .lost = $0 { true } else { false } } == (last == 3))
    }

    /// Under another name, the client is another author. What it had sent before is its own all the same, if the server
    /// has the sequence; somebody's commit with the same sequence is not.
    @Test(arguments: [3, 4]) func whatWasSentUnderAnotherNameIsRecognized(last: SequenceNumber) throws {
        let kept = try Self.unanswered()
        var next = DrivenClient.ofOneEdit()
        let request = try #require(next.perform { $0.resume(kept) })
        next.enter(request, lastSequence: last, .resumed(head: 9, digest: 0))
        next.commit(8, author: 7, sequence: 4, Delta.editing(at: 0, Change(text: "1", to: "other")))
        next.commit(9, author: 8, sequence: 4, Self.edit)
        #expect((committed(next.answers[request])?.revision == 9) == (last == 4))
        if last == 4 { #expect(committed(next.answers[request])?.notices.isEmpty == true) }
    }

    /// Another list has the name now: the edit's own list is asked for by its log id.
    @Test func anEditWithoutAnAnswerFindsItsList() throws {
        let kept = try Self.unanswered()
        var next = DrivenClient.ofOneEdit()
        let request = try #require(next.perform { $0.resume(kept) })
        next.enter(request, logID: 99, lastSequence: 0)
        #expect(next.submissions.isEmpty && next.answers.isEmpty)
        guard case .subscribe(let asked)? = next.said.last else { return #expect(Bool(false)) }
        #expect(asked.name.isEmpty && asked.logID == 5)
        next.enter(request, lastSequence: 4)
        #expect(next.said.last == Self.submission())
        next.hear(.acknowledged(list: 2, sequence: 4, revision: 8))
        #expect(committed(next.answers[request])?.revision == 8)
    }

    /// The server's data is older than the edit, which can never be carried out: it is kept for its person.
    @Test func anEditOfARevisionThatIsGoneIsNotMade() throws {
        var first = DrivenClient.ofOneEdit()
        first.enter(first.edit()!)
        let kept = try #require(
            first.writes.compactMap { if case .submission(let kept, _) = $0 { kept } else { nil } }.last)
        var next = DrivenClient.ofOneEdit()
        let request = try #require(next.perform { $0.resume(kept) })
        next.enter(request, lastSequence: 3, .snapshot(revision: 6, count: 0, digest: 0))
        #expect(next.submissions.isEmpty)
        guard case .stale = next.answers[request] else { return #expect(Bool(false)) }
        next.perform { $0.flush() }
        #expect(next.order.last == "4 of 5 became nothing")
        let lost = next.writes.compactMap { if case .lost(let loss, "list", 5, _) = $0 { loss } else { nil } }
        #expect(lost.map(\.texts) == [[Self.left.content.text]])
    }

    /// With several servers, it continues at the next one.
    @Test func anEditMovesToTheNextServer() {
        var talk = DrivenClient.ofOneEdit(servers: ["a:1", "b:1"])
        let request = talk.edit()!
        talk.enter(request)
        talk.lose()
        #expect(talk.answers.isEmpty)
        talk.comeBack()
        talk.enter(request)
        #expect(talk.said == [Self.submission()])
    }

    /// The outcome of the first edit is unknown, and it may still be under way over the lost connection.
    @Test func theNextEditHasAnotherSequence() throws {
        var talk = DrivenClient.ofOneEdit()
        let first = talk.edit()!
        talk.enter(first)
        talk.hear(.error(code: .listDeleted, request: first, retryAfter: 0, message: "gone"))
        let second = talk.edit()!
        talk.enter(second)
        #expect(talk.order == ["4 of 5 is kept", "sent 4", "4 of 5 became nothing", "5 of 5 is kept", "sent 5"])
        // A subscription that follows the list from now on does not get it either.
        talk.commit(8, author: 1, sequence: 5, Self.edit)
        talk.perform { $0.open("list") }
        guard case .subscribe(let subscribe) = talk.said.last else { return #expect(Bool(false)) }
        talk.enter(subscribe.request, lastSequence: 3, .snapshot(revision: 8, count: 0, digest: 0))
        let item = Item(id: ItemID(rawValue: 9), content: .note("n"))
        talk.perform { try? $0.edit("list", Delta.inserting([item], at: 0, .after)) }
        #expect(talk.submissions.last?.sequence == 6)
    }

    /// The first refusal on a connection is a commit.
    @Test func aRefusalIsAnAnswer() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit()!
        talk.enter(request)
        talk.hear(
            .commit(
                list: 2,
                Commit(
                    revision: 8, author: 1, sequence: 4, base: 7, time: 0, count: 4, digest: 0, delta: .identity,
                    refusal: .notStored)))
        guard case .rejected(.notStored) = talk.answers[request] else { return #expect(Bool(false)) }
        #expect(!talk.machine.isShared)
    }

    /// Somebody deletes the item, after others have moved it, before the edit arrives.
    @Test func othersDeletionsAreReported() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit()!
        talk.enter(request)
        talk.commit(8, author: 2, Delta.moving(2..<3, to: 0, .after))
        talk.commit(9, author: 3, Delta.deleting(0..<1))
        talk.commit(10, author: 1, sequence: 4, .identity)
        let answer = try #require(committed(talk.answers[request]))
        #expect(
            answer.notices == [Self.deletion(by: 3, in: 9)])
    }

    @Test func anEditIsMadeOnceDespiteALostConnection() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit()!
        talk.enter(request)
        talk.commit(8, author: 2, Delta.deleting(2..<3))
        talk.lose()
        #expect(talk.answers.isEmpty)
        talk.comeBack()
        talk.said = []
        talk.lose()
        talk.comeBack()
        talk.enter(request, lastSequence: 4, .resumed(at: 9))
        #expect(talk.said == [Self.submission()])
        // The same commits arrive again; what they override is reported once.
        talk.commit(8, author: 2, Delta.deleting(2..<3))
        talk.hear(.acknowledged(list: 2, sequence: 4, revision: 12))
        let answer = try #require(committed(talk.answers[request]))
        #expect(answer.revision == 12)
        #expect(answer.notices == [Self.deletion(by: 2, in: 8)])
    }

    @Test func refusalsOfTheServerAreReported() throws {
        var rejected = DrivenClient.ofOneEdit()
        let first = rejected.edit()!
        rejected.enter(first)
        rejected.hear(.rejected(list: 2, sequence: 9, .notStored))
        #expect(rejected.answers.isEmpty)
        rejected.hear(.rejected(list: 2, sequence: 4, .notAllowed))
        guard case .rejected(.notAllowed) = rejected.answers[first] else {
            Issue.record("\(rejected.answers)")
            return
        }
        var stale = DrivenClient.ofOneEdit()
        let second = stale.edit()!
        stale.enter(second)
        stale.hear(.stale(list: 2, sequence: 4, head: 90))
        guard case .stale = stale.answers[second] else {
            Issue.record("\(stale.answers)")
            return
        }
        var refused = DrivenClient.ofOneEdit()
        let third = refused.edit()!
        refused.hear(.error(code: .noSuchList, request: third, retryAfter: 0, message: "gone"))
        guard case .error(.noSuchList, "gone") = refused.answers[third] else {
            Issue.record("\(refused.answers)")
            return
        }
    }

    /// An edit of a deleted list is not made on a new list with the same name.
    @Test func anotherListIsNotEdited() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit()!
        talk.enter(request, logID: 6, .snapshot(revision: 1, count: 0, digest: 0))
        #expect(talk.said == [Self.entering, .unsubscribe(list: 2)])
        guard case .stale = talk.answers[request] else {
            Issue.record("\(talk.answers)")
            return
        }
    }

    /// An excerpt that is older than the server's memory brings a snapshot, whose items are skipped.
    @Test func theItemsOfASnapshotAreSkipped() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit()!
        talk.enter(request, .snapshot(revision: 90, count: 4, digest: Hand(Self.items).digest))
        talk.hear(.chunk(request: request, items: Hand(Self.items)))
        #expect(talk.said == [Self.entering, Self.submission()])
        // Earlier commits are unknown, so overridden edits are not reported.
        talk.commit(91, author: 2, Delta.deleting(0..<3))
        talk.commit(92, author: 1, sequence: 4, .identity)
        #expect(try #require(committed(talk.answers[request])).notices.isEmpty)
    }

    /// What arrives between the subscription and the edit counts, unless the edit was made on a later revision.
    @Test(arguments: [6, 7, 8]) func commitsBeforeTheEditAreKnown(head: Int) throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.perform { $0.enter("list") }!
        talk.enter(request, .newest(head))
        for revision in head + 1..<10 {
            // In revision 7 the item was not there yet. The edit of an unknown item overrides nothing.
            let delta: Delta =
                revision == 7
                ? .deleting(2..<3)
                : revision == 9 ? .deleting(2..<3) : .editing(at: 0, Change(text: "1", to: "other"))
            talk.commit(revision, author: 2, delta)
        }
        #expect(talk.submit(request) == request && talk.submissions.map(\.base) == [7])
        talk.commit(10, author: 1, sequence: 4, .identity)
        // From revision 8 on, one of the commits since the excerpt is missing.
        let answer = try #require(committed(talk.answers[request]))
        #expect(answer.notices == (head == 8 ? [] : [Self.deletion(by: 2, in: 9)]))
    }

    /// Everything that needs no answer goes out with the hello, and again with the next one.
    @Test func theHelloIsNotWaitedFor() throws {
        var talk = DrivenClient()
        #expect(talk.perform { $0.enter("list") } == nil, "nobody connects")
        talk.perform { $0.start() }
        let request = talk.perform { $0.enter("list") }!
        let excerpt = talk.perform { $0.ask(waits: true) { .excerpt(.init(request: $0, name: "list", [])) } }
        let create = talk.perform { $0.ask(waits: true) { .create(request: $0, name: "new", rules: Rules()) } }
        #expect(talk.perform { $0.ask { .lists(request: $0, after: "") } } == nil)
        talk.perform { $0.connected(now: 0) }
        let names = ["hello", "subscribe", "excerpt"]
        #expect(talk.said.map(\.name) == names)
        talk.welcome()
        #expect(talk.said.map(\.name) == names + ["create"])
        // What changes lists may have been done; all else is asked again.
        talk.comeBack()
        talk.lose()
        guard case .disconnected(_, mayBeDone: true)? = create.flatMap({ talk.answers[$0] }) else {
            Issue.record("\(talk.answers)")
            return
        }
        talk.perform { $0.start() }
        talk.perform { $0.connected(now: 0) }
        #expect(talk.said.map(\.name) == names)
        talk.perform { $0.stop(reason: "closed") }
        #expect(Set(talk.answers.keys) == Set([request, excerpt, create].compactMap(\.self)))
    }

    /// A client that has never heard of a server learns at once that there is none.
    @Test func nobodyAnswers() throws {
        var talk = DrivenClient()
        talk.perform { $0.start() }
        let request = talk.perform { $0.enter("list") }!
        talk.lose()
        guard case .disconnected("test", mayBeDone: false)? = talk.answers[request] else {
            Issue.record("\(talk.answers)")
            return
        }
    }

    /// After a rename, what was asked for under the name may be about another list.
    @Test(arguments: [false, true]) func aRenamedListIsEnteredAnew(isSubmitted: Bool) throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.perform { $0.enter("list") }!
        talk.enter(request)
        if isSubmitted { _ = talk.submit(request) }
        talk.hear(.renamed(list: 2, name: "other"))
        #expect((talk.said.last == .unsubscribe(list: 2)) == !isSubmitted)
        if !isSubmitted { #expect(talk.submit(request) == nil) }
    }

    /// A subscription that is given up before the server has answered ends when it answers. The next one may be for
    /// another list, so it is sent again.
    @Test func aSubscriptionIsGivenUp() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.perform { $0.enter("list") }!
        talk.perform { $0.leave(request) }
        let next = talk.edit()!
        talk.enter(request)
        talk.enter(next)
        #expect(talk.said.map(\.name) == ["subscribe", "subscribe", "unsubscribe", "subscribe", "submit"])
    }

    @Test func presenceIsReported() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.perform { $0.enter("list", isForPeople: true) }!
        talk.enter(request)
        let me = DownMessage.Presence(author: 1, place: .here(person: "me", nil))
        let other = DownMessage.Presence(author: 2, place: .here(person: "other", Focus(ItemID(rawValue: 3))))
        talk.hear(.presence(list: 2, [other]))
        #expect(talk.answers.isEmpty)
        talk.hear(.presence(list: 2, [me, other]))
        guard case .people([me, other]) = talk.answers[request] else {
            Issue.record("\(talk.answers)")
            return
        }
        #expect(talk.said == [Self.entering(wantsPeople: true), .unsubscribe(list: 2)])
    }

    @Test func aCancelledSubscriptionIsAnswered() throws {
        var talk = DrivenClient.ofOneEdit()
        let request = talk.edit()!
        #expect(talk.edit() == nil, "one at a time")
        talk.perform { $0.stop(reason: "closed") }
        guard case .disconnected = talk.answers[request] else {
            Issue.record("\(talk.answers)")
            return
        }
    }

    @Test func aFollowedListHasNoEphemeralSubscription() {
        var talk = DrivenClient.ofOneEdit()
        talk.perform { $0.open("list") }
        #expect(talk.edit() == nil)
    }
}

extension DrivenClient {
    fileprivate static func ofOneEdit(servers: [String] = []) -> DrivenClient {
        var client = DrivenClient(servers: servers)
        client.comeBack()
        return client
    }

    fileprivate mutating func comeBack() {
        connect()
        said = []
    }

    fileprivate mutating func lose() {
        perform { $0.disconnected(reason: "test", now: 0) }
    }

    /// Subscribes, and edits on the excerpt.
    fileprivate mutating func edit(isExact: Bool = false, step: UndoStep? = nil) -> RequestNumber? {
        perform { $0.enter("list") }.flatMap { submit($0, isExact: isExact, step: step) }
    }

    fileprivate mutating func submit(_ request: RequestNumber, isExact: Bool = false, step: UndoStep? = nil)
        -> RequestNumber?
    {
        perform {
            $0.submit(
                EphemeralSubscriptionTests.edit, on: PartialList(EphemeralSubscriptionTests.excerpt), isExact: isExact,
                step: step, request)
        }
    }

    fileprivate mutating func enter(
        _ request: RequestNumber, logID: UInt64 = 5, lastSequence: SequenceNumber = 3,
        _ start: DownMessage.Subscribed.Start = .newest(7)
    ) {
        enter(request, list: 2, logID: logID, lastSequence: lastSequence, start)
    }

    fileprivate mutating func commit(_ revision: Int, author: AuthorID, sequence: SequenceNumber = 1, _ delta: Delta) {
        let commit = Commit(
            revision: revision, author: author, sequence: sequence, base: min(7, revision - 1), time: 0, count: 4,
            digest: 0, delta: delta)
        hear(.commit(list: 2, commit))
    }

    fileprivate var writes: [JournalWrite] {
        effects.flatMap { effect -> [JournalWrite] in if case .keep(let writes) = effect { writes } else { [] } }
    }

    /// The journal writes of sequences and steps, and the sent messages, in order.
    fileprivate var order: [String] {
        effects.flatMap { effect -> [String] in
            switch effect {
            case .keep(let writes): writes.compactMap(Self.order)
            case .send(let frame):
                Self.messages(in: frame).compactMap {
                    if case .submit(let one) = $0 { "sent \(one.sequence)" } else { nil }
                }
            default: []
            }
        }
    }

    private static func order(_ write: JournalWrite) -> String? {
        switch write {
        case .submission(let made, _):
            (made.step.map { "\($0) " } ?? "") + "\(made.sequence) of \(made.log)"
                + (made.edit == nil ? "" : " is kept")
        case .answered(let log, let sequence, let revision):
            "\(sequence) of \(log) became \(revision.map(String.init) ?? "nothing")"
        default: nil
        }
    }
}
