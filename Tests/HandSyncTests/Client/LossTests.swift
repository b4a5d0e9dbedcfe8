import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Lost edits, as values that need no list.
@Suite struct LossTests {
    private static let list = Hand([
        Item(id: ItemID(rawValue: 1), content: .task("milk", done: false)),
        Item(id: ItemID(rawValue: 2), content: .note("bread")), Item(id: ItemID(rawValue: 3), content: .note("eggs")),
    ])

    private static func insertion(_ number: UInt64, _ content: Content = .task("new", done: false)) -> Delta {
        .inserting([Item(id: ItemID(rawValue: number), content: content)], at: 3, .after)
    }

    /// A person's edits of each kind, joined.
    private static let afternoon = [
        insertion(50), insertion(51, .note("a long text")), .deleting(2..<3), .moving([1..<2], to: 0, .after),
        .editing(at: 1, Change(text: "milk", to: "oat milk")),
    ]

    private func replica(_ edits: Delta...) throws -> Replica { try replica(edits) }

    private func replica(_ edits: [Delta]) throws -> Replica {
        var replica = Replica(confirmed: Self.list, revision: 4, logID: 9, sequence: 0)
        replica.author = 1
        for edit in edits { try replica.edit(edit) }
        _ = replica.takeSubmission(list: 1)
        return replica
    }

    /// Which parts of the afternoon stay for each reason, by the ids in the view; the rest is kept as lost.
    @Test(arguments: [
        (Rejection.violation(.listFull(maximum: 3)), [2, 1, 51], ["new"]),
        (.violation(.listFull(maximum: 2)), [2, 1], ["new", "a long text"]),
        (.violation(.itemTooLarge(size: 11, maximum: 9)), [2, 1, 50], ["a long text"]),
        (.violation(.kindNotAllowed(.note)), [2, 1, 50], ["a long text"]),
        (.duplicateItem(ItemID(rawValue: 50)), [2, 1, 51], ["new"]),
        (.notAllowed, [1, 2, 3, 50, 51], ["oat milk"]),
        (.notStored, [1, 2, 3], ["oat milk", "new", "a long text"]),
    ])
    func aRefusalTakesOutOnlyWhatItIsAbout(reason: Rejection, left: [UInt64], lost: [String]) throws {
        var replica = try replica(Self.afternoon)
        let update = replica.rejected(sequence: 1, reason)
        #expect(Set(replica.view.map(\.id.rawValue)) == Set(left), "\(reason)")
        let losses = update.notices.compactMap(Loss.init)
        #expect(losses.flatMap(\.texts).sorted() == lost.sorted(), "\(reason)")
        #expect(replica.hasPending == (reason != .notStored))
        #expect(replica.brokenInvariant() == nil)
        // What stays is submitted under the next sequence, and fits the list.
        guard let next = replica.takeSubmission(list: 1) else { return }
        #expect(try next.sequence == 2 && Self.list.applying(next.delta) == replica.view)
    }

    /// What a user did to an item is forgotten when the user deletes it: the item may come back with another text.
    @Test func workOnAnItemEndsWithTheItem() throws {
        let id = ItemID(rawValue: 1)
        var replica = Replica(
            confirmed: Hand([Item(id: id, content: .note("a long text about milk"))]), revision: 0, logID: 9,
            sequence: 0)
        replica.author = 1
        func commit(_ delta: Delta, by author: AuthorID, base: Int? = nil) throws -> [Replica.Notice] {
            if author == 1 {
                try replica.edit(delta)
                _ = replica.takeSubmission(list: 1)
            }
            let after = try replica.confirmed.applying(delta)
            return try replica.receive(
                Commit(
                    revision: replica.revision + 1, author: author, sequence: author == 1 ? replica.sequence : 1,
                    base: base ?? replica.revision, time: 0, count: after.count, digest: after.digest, delta: delta)
            ).notices
        }
        _ = try commit(
            .editing(at: 0, Change(text: "a long text about milk", to: "two long texts about milk")), by: 1)
        _ = try commit(.deleting(0..<1), by: 1)
        _ = try commit(.inserting([Item(id: id, content: .note("tea"))], at: 0, .after), by: 2)
        _ = try commit(.editing(at: 0, Change(text: "tea", to: "tea, hot")), by: 1)
        let notices = try commit(.editing(at: 0, Change(text: "tea, hot", to: "x")), by: 2, base: 0)
        let losses = notices.compactMap(Loss.init)
        #expect(losses.count == 1 && "\(losses)".contains("hot") && !"\(losses)".contains("two"), "\(losses)")
        #expect(replica.brokenInvariant() == nil)
    }

    /// An item that is moved and then changed stays in its new place, without the change.
    @Test func aRefusedChangeOfAMovedItemLeavesTheMove() throws {
        let change = Change(text: "milk", to: "milk with much more text")
        var replica = try replica(.moving([0..<1], to: 3, .after), .editing(at: 2, change))
        _ = replica.rejected(sequence: 1, .violation(.itemTooLarge(size: 24, maximum: 9)))
        #expect(replica.view.map(\.content.text) == ["bread", "eggs", "milk"] && replica.hasPending)
        #expect(replica.brokenInvariant() == nil)
    }

    /// What was one edit is taken or refused as a whole, since a half of a tree makes no sense; what was several edits
    /// stays several on disk.
    @Test(arguments: [1, 2], [false, true]) func onlyEditsThatWereJoinedAreDivided(count: Int, isRestored: Bool) throws
    {
        let items = (50..<53).map { Item(id: ItemID(rawValue: $0), content: .note("\($0)")) }
        let edits: [Delta] =
            count == 1
            ? [.inserting(items, at: 3, .after)]
            : [.inserting([items[0]], at: 3, .after), .inserting(Array(items[1...]), at: 4, .after)]
        var replica = Replica(confirmed: Self.list, revision: 0, logID: 9, sequence: 0)
        for edit in edits { try replica.edit(edit) }
        func restored() throws -> Replica {
            let bytes = replica.checkpoint.bytes
            return try Replica(bytes.withUnsafeBytes { try Replica.Checkpoint($0) }, confirmed: Self.list)
        }
        if isRestored { replica = try restored() }
        _ = replica.takeSubmission(list: 1)
        if isRestored { replica = try restored() }
        #expect(replica.unconfirmedCount == count)
        _ = replica.rejected(sequence: 1, .violation(.listFull(maximum: 4)))
        #expect(replica.view.count == (count == 1 ? 3 : 4) && replica.hasPending == (count > 1))
        #expect(replica.brokenInvariant() == nil)
        if isRestored { replica = try restored() }
        // Somebody else has taken the place meanwhile: what is left was still several edits.
        _ = replica.takeSubmission(list: 1)
        _ = replica.rejected(sequence: 2, .violation(.listFull(maximum: 3)))
        #expect(replica.view == Self.list && !replica.hasPending)
    }

    @Test func aRefusalOfEverythingTakesOutEverything() throws {
        var replica = try replica(Self.insertion(50))
        let update = replica.rejected(sequence: 1, .violation(.listFull(maximum: 9)))
        #expect(!replica.hasPending && replica.view == Self.list && update.notices.count == 1)
    }

    /// On the list that it was lost on, a lost edit makes what its person wanted; its bytes are the same value.
    @Test func aLostEditIsMadeAgain() throws {
        let delta = Self.afternoon.reduce(Delta.identity) { $0.composed(with: $1) }
        let loss = try #require(Loss(.rejected(.notStored, delta, on: Self.list)))
        #expect(try loss.bytes.withUnsafeBytes { try Loss($0) } == loss && loss.isRefused)
        var next: UInt64 = 50
        let again = try #require(
            loss.delta(on: Self.list) {
                defer { next += 1 }
                return ItemID(rawValue: next)
            })
        let (wanted, made) = (try Self.list.applying(delta), try Self.list.applying(again))
        #expect(made.map(\.content) == wanted.map(\.content))
        // Where its items are gone, the changed text is a new item.
        let late = try #require(loss.delta(on: Hand()) { ItemID(rawValue: 99) })
        #expect(try Hand().applying(late).map(\.content.text).contains("oat milk"))
    }

    @Test func overriddenEditsAreMadeAgain() throws {
        let (milk, override) = (Self.list[0], Loss.Override(author: 2, revision: 7, behind: Self.list[1].id))
        let ticked = Item(id: milk.id, content: .task("milk", done: true))
        let gone = Loss.Override(author: 2, revision: 7, deletesItem: true, behind: Self.list[1].id)
        let words = TextChange.Loss(at: 0, original: "milk", lost: "oat milk", present: "soy milk")
        let soy = Item(id: milk.id, content: .task("soy milk", done: false))
        let cases: [(Loss, [String])] = [
            (.overridden(milk, .move, by: override), ["bread", "[ ] milk", "eggs"]),
            (.overridden(ticked, .edit(.done), by: override), ["[x] milk", "bread", "eggs"]),
            (
                .overridden(Item(id: ItemID(rawValue: 9), content: .note("tea")), .edit(.text), by: gone),
                ["[ ] milk", "bread", "tea", "eggs"]
            ),
        ]
        for (loss, expected) in cases {
            #expect(try loss.bytes.withUnsafeBytes { try Loss($0) } == loss && !loss.isRefused)
            let delta = try #require(loss.delta(on: Self.list) { ItemID(rawValue: 77) })
            #expect(try Self.list.applying(delta).map { Self.line($0) } == expected)
        }
        let loss = Loss.overridden(soy, .words(words, in: .text), by: override)
        #expect(try loss.bytes.withUnsafeBytes { try Loss($0) } == loss && loss.texts == ["oat milk"])
        let list = Hand([soy])
        #expect(try list.applying(#require(loss.delta(on: list) { milk.id }))[0].content.text == "oat milk")
    }

    /// An edit whose outcome was not known may have been made: its item comes once.
    @Test func aNewItemIsMadeOnce() throws {
        let tea = Item(id: ItemID(rawValue: 9), content: .note("tea"))
        let loss = Loss.refused(.reasonForgotten, [.insert(tea, behind: nil)])
        func again(on list: Hand) throws -> Hand {
            try list.applying(#require(loss.delta(on: list) { ItemID(rawValue: 77) }))
        }
        let once = try again(on: Self.list)
        #expect(once.count == Self.list.count + 1 && once.index(of: tea.id) != nil)
        #expect(try again(on: once) == once)
        // Another item has the id.
        let other = Hand([Item(id: tea.id, content: .note("coffee"))])
        #expect(try Set(again(on: other).map(\.content.text)) == ["tea", "coffee"])
    }

    /// Somebody deletes an item on which several edits are lost: it comes back once, with all of them. If it is there
    /// again, with what others have made of it, only the lost edits are made.
    @Test func editsOfADeletedItemAreMadeOnOneItem() throws {
        let milk = Self.list[0]
        let gone = Loss.Override(author: 2, revision: 7, deletesItem: true, behind: Self.list[2].id)
        let losses: [Loss] = [
            .overridden(Item(id: milk.id, content: .task("oat milk", done: false)), .edit(.text), by: gone),
            .overridden(Item(id: milk.id, content: .task("oat milk", done: true)), .edit(.done), by: gone),
            .overridden(Item(id: milk.id, content: .task("oat milk", done: true)), .move, by: gone),
        ]
        func after(_ list: Hand) throws -> [String] {
            var list = list
            for loss in losses + losses {
                let delta = try #require(loss.delta(on: list) { ItemID(rawValue: 77) })
                list = try list.applying(delta)
            }
            return list.map { Self.line($0) }
        }
        #expect(try after(Hand(Array(Self.list.dropFirst()))) == ["bread", "eggs", "[x] oat milk"])
        #expect(try after(Self.list) == ["bread", "eggs", "[x] oat milk"])
    }

    private static func line(_ item: Item) -> String {
        if case .task(let text, let done) = item.content { return (done ? "[x] " : "[ ] ") + text }
        return item.content.text
    }

    // MARK: Work that others override later

    private static func commit(
        _ revision: Int, by author: AuthorID, base: Int? = nil, _ delta: Delta, on list: inout Hand
    ) throws -> Commit {
        try list.apply(delta)
        return Commit(
            revision: revision, author: author, sequence: 1, base: base ?? revision - 1, time: 0, count: list.count,
            digest: list.digest, delta: delta)
    }

    /// Commits of two people, of which the client knows only the items that it has edited, give the same losses as a
    /// replica that has followed everything.
    @Test(arguments: 0..<20) func keptWorkFindsWhatAReplicaFinds(round: Int) throws {
        var chaos = Chaos(seed: testSeed(81) &+ UInt64(round))
        var list = Hand(chaos.items(12))
        var work = KeptWork(on: list.excerpt([], logID: 9, revision: 0))
        var (losses, expected) = ([Loss](), [Loss]())
        var replica = Replica(confirmed: list, revision: 0, logID: 9, sequence: 0)
        replica.identify(as: 1, persons: [1])
        for revision in 1...30 {
            let isOwn = chaos.random.next(below: 3) == 0
            let delta = chaos.edit(on: list).fitting(list)
            let excerpt = list.excerpt(delta.selections, logID: 9, revision: revision - 1)
            let base = isOwn ? revision - 1 : max(0, revision - 1 - chaos.random.next(below: 6))
            let commit = try Self.commit(revision, by: isOwn ? 1 : 2, base: base, delta, on: &list)
            if isOwn { work.add(excerpt) }
            losses += try work.pass([commit]) { $0 == 1 }
            work = try work.bytes.withUnsafeBytes { try KeptWork($0) }
            expected += try replica.receive(commit).notices.compactMap(Loss.init)
        }
        #expect(losses.map(Self.summary) == expected.map(Self.summary))
        #expect(work.revision == 30)
    }

    /// A loss without the place of the item, which only a replica knows.
    private static func summary(_ loss: Loss) -> String {
        guard case .overridden(let item, let what, let override) = loss else { return "\(loss)" }
        return "\(item) \(what) \(override.author) \(override.revision) \(override.deletesItem)"
    }

    // MARK: Undo across runs

    /// The undo history of a journal read again undoes and redoes the same as the first one.
    @Test(arguments: 0..<20) func theUndoHistoryIsKept(round: Int) throws {
        var chaos = Chaos(seed: testSeed(82) &+ UInt64(round))
        var replica = Replica(confirmed: Hand(chaos.items(6)), revision: 0, logID: 9, sequence: 0)
        replica.identify(as: 1, persons: [1, 3])
        var events: [JournalEvent] = []
        var kept = (checkpoint: replica.checkpoint, confirmed: replica.confirmed)
        for step in 0..<40 {
            switch chaos.random.next(below: 5) {
            case 0, 1:
                let delta = chaos.edit(on: replica.view).fitting(replica.view)
                if (try? replica.edit(delta)) != nil { events.append(.edit(delta, isExact: false)) }
            case 2: if let made = try replica.take(.undo) { events.append(.step(.undo, made.delta)) }
            case 3: if let made = try replica.take(.redo) { events.append(.step(.redo, made.delta)) }
            default:
                var list = replica.confirmed
                let isOwn = chaos.random.next(below: 2) == 0
                let delta = chaos.edit(on: list).fitting(list)
                let commit = try Self.commit(replica.revision + 1, by: isOwn ? 3 : 2, delta, on: &list)
                _ = try replica.receive(commit)
                events.append(.commit(commit))
            }
            if step == 15 { (kept, events) = ((replica.checkpoint, replica.confirmed), []) }
        }
        let bytes = kept.checkpoint.bytes
        var again = try Replica(try bytes.withUnsafeBytes { try Replica.Checkpoint($0) }, confirmed: kept.confirmed)
        for event in events { try again.replay(event.bytes.withUnsafeBytes { try JournalEvent($0) }) }
        #expect(again.view == replica.view && again.checkpoint == replica.checkpoint)
        for step in [UndoStep.undo, .undo, .redo, .undo, .undo, .undo, .redo] {
            #expect(try again.take(step) == replica.take(step))
        }
        #expect(again.view == replica.view)
    }
}
