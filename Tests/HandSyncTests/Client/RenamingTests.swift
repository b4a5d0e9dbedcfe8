import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Lists that are renamed or deleted while a client follows them, or was away.
@Suite struct RenamingTests {
    private struct Missing: Error {}

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
        #expect(talk.refusals.isEmpty && talk.waiting.isEmpty)
        if !isSent { #expect(talk.said.contains(.unsubscribe(list: 8))) }
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
        talk.enter(second.request, list: 8, .resumed(at: 0))
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
        talk.hear(.error(code: .notSubscribed, request: 0, list: 7, retryAfter: 0, message: ""))
        talk.hear(.renamed(list: 7, name: "new"))
        talk.begin(2, list: 8, logID: 6)
        let again = UpMessage.Subscribe(request: 4, name: "new", logID: 5, revision: 0)
        #expect(talk.said.suffix(2) == [.unsubscribe(list: 8), .subscribe(again)])
        #expect(talk.machine.subscriptions["new"]?.isLive == false)
        talk.enter(4, list: 7, .resumed(at: 0))
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
        let asked = talk.said.filter { if case .subscribe(let subscribe) = $0 { subscribe.name != "" } else { true } }
        #expect(asked.suffix(2) == [.unsubscribe(list: 7), .subscribe(again)])
        #expect(talk.machine.subscriptions.keys.sorted() == (isClosed ? ["list"] : ["list", "new"]))
    }

    /// Another list has the name. The edits belong to the list that they were made on, which is found by its log id.
    @Test(arguments: [false, true]) func pendingEditsFindTheirListUnderItsNewName(isThere: Bool) throws {
        var talk = DrivenClient.online()
        var waiting = Replica(confirmed: Hand(), revision: 9, logID: 6, sequence: 0)
        waiting.author = 1
        try waiting.edit(.inserting([Item(id: ItemID(rawValue: 1), content: .note("n"))], at: 0, .after))
        talk.perform { $0.open("list", from: waiting) }
        talk.begin(1, list: 7)
        let sought = talk.said.compactMap { if case .subscribe(let subscribe) = $0 { subscribe } else { nil } }.last
        let request = try #require(sought?.request)
        #expect(sought == UpMessage.Subscribe(request: request, name: "", logID: 6, revision: 9))
        #expect(talk.said.contains(.unsubscribe(list: 7)))
        if isThere {
            talk.enter(request, list: 8, logID: 6, .resumed(at: 9))
            // Until its name is known, it could be taken for the list that has the former name.
            #expect(talk.machine.subscriptions["list"]?.isLive == false && talk.submissions.isEmpty)
            talk.hear(.renamed(list: 8, name: "new"))
            #expect(talk.machine.subscriptions.keys.sorted() == ["new"])
            #expect(talk.submissions.map(\.list) == [8])
        } else {
            talk.hear(.error(code: .noSuchList, request: request, retryAfter: 0, message: "no"))
            #expect(talk.machine.subscriptions.isEmpty && talk.submissions.isEmpty)
            let ends = talk.effects.compactMap { if case .list(_, .editsWait(let text)) = $0 { text } else { nil } }
            #expect(ends.count == 1 && ends[0].hasPrefix("'list' is now another list; you have pending edits"))
        }
    }

    /// Seed 1003398: a list diverged, the connection was lost, and the list was renamed. It was looked for only by its
    /// former name, so its edits waited, although the list was there.
    @Test(arguments: [false, true]) func aDivergedListIsFoundUnderItsNewName(isNameTaken: Bool) throws {
        var talk = DrivenClient.online()
        var diverged = Replica(confirmed: Hand(), revision: 9, logID: 3 << 32 | 6, sequence: 0)
        diverged.author = 1
        try diverged.edit(.inserting([Item(id: ItemID(rawValue: 1), content: .note("n"))], at: 0, .after))
        let other = Commit(
            revision: 10, author: 2, sequence: 1, base: 9, time: 0, count: 0, digest: 99, delta: .identity)
        _ = try diverged.receive(other)
        #expect(diverged.hasDiverged)
        talk.perform { $0.open("list", from: diverged) }
        if isNameTaken {
            talk.begin(1, list: 7)
        } else {
            talk.hear(.error(code: .noSuchList, request: 1, retryAfter: 0, message: "no"))
        }
        let wanted = talk.said.compactMap { if case .subscribe(let subscribe) = $0 { subscribe } else { nil } }.last
        let request = try #require(wanted?.request)
        #expect(wanted == UpMessage.Subscribe(request: request, name: "", logID: 6, revision: 0))
        talk.enter(request, list: 8, logID: 3 << 32 | 6, .snapshot(revision: 10, count: 0, digest: 0))
        talk.hear(.renamed(list: 8, name: "new"))
        #expect(talk.machine.subscriptions.keys.sorted() == ["new"])
        #expect(talk.submissions.map(\.list) == [8])
    }
}
