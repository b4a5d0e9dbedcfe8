import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

@Suite struct ReplicaTests {
    private func task(_ id: UInt64) -> Item { Item(id: ItemID(rawValue: id), content: .task("t\(id)", done: false)) }

    /// What was seen of one history says nothing about another.
    @Test func inAnotherHistoryNothingWasSeen() throws {
        let list = Hand([Item(id: ItemID(rawValue: 1), content: .note("a"))])
        var replica = Replica(confirmed: list, revision: 5, logID: 7, sequence: 0)
        try replica.edit(replica.view.rewording(0, "b"))
        _ = replica.reset(to: list, revision: 9, logID: 8, lastSequence: 0)
        #expect(replica.takeSubmission(list: 1)?.lag == 9)
        try replica.edit(replica.view.rewording(0, "c"))
        _ = replica.reset(to: list, revision: 4, logID: 9, lastSequence: 0)
        #expect(replica.takeSubmission(list: 1)?.lag == 4)
    }

    /// Nor is an exact edit carried over that was made on an end that the history has lost.
    @Test func anExactEditOnALostEndIsRejected() throws {
        let list = Hand([Item(id: ItemID(rawValue: 1), content: .note("a"))])
        var replica = Replica(confirmed: list, revision: 5, logID: 7, sequence: 0)
        try replica.edit(replica.view.rewording(0, "b"), isExact: true)
        let delta = try #require(replica.pending.first)
        let update = replica.reset(to: list, revision: 3, logID: 7, lastSequence: 0)
        let rejection = Replica.Notice.rejected(.revisionMoved(now: 3), delta, on: list)
        #expect(update.notices == [rejection, .restored(gone: 0)] && !replica.hasPending)
        try replica.edit(replica.view.rewording(0, "c"))
        _ = replica.reset(to: list, revision: 2, logID: 7, lastSequence: 0)
        #expect(replica.takeSubmission(list: 1)?.lag == 2)
    }

    /// The user hears that the server has an earlier state: of the same history, or of another one of the same list. A
    /// client that asks for a snapshot without naming its history knows nothing of that.
    @Test func aRestoredListIsNoticed() throws {
        func notices(knowing history: UInt64, new: UInt64, at revision: Int) -> [Replica.Notice] {
            let known = Hand([task(1), task(2)])
            var replica = Replica(confirmed: known, revision: 8, logID: history << 32 | 7, sequence: 0)
            return replica.reset(
                to: Hand([task(1)]), revision: revision, logID: new << 32 | 7, lastSequence: 0
            ).notices
        }
        #expect(notices(knowing: 1, new: 1, at: 9) == [])
        #expect(notices(knowing: 1, new: 1, at: 7) == [.restored(gone: 1)])
        #expect(notices(knowing: 1, new: 2, at: 9) == [.restored(gone: 1)])
        #expect(notices(knowing: 0, new: 1, at: 4) == [])
    }

    private func restarted(_ replica: Replica) throws -> Replica {
        let bytes = replica.checkpoint.bytes
        return try Replica(bytes.withUnsafeBytes { try Replica.Checkpoint($0) }, confirmed: replica.confirmed)
    }

    /// An edit that has overridden somebody's cannot be undone from memory once nothing is pending, also after a restart
    /// in between: the inverse would bring back what both have replaced. One that has not can be.
    @Test(arguments: [true, false], [true, false])
    func anEditThatOverridesCannotBeUndoneFromMemory(overrides: Bool, isRefused: Bool) throws {
        var world = TestNetwork(tasks(2), replicas: 2)
        try world.edit(1, world.replicas[1].view.rewording(overrides ? 0 : 1, "theirs"))
        world.deliverUp(1)
        try world.edit(0, Delta.deleting(0..<1))
        try world.deliverDown(0)
        world.replicas[0] = try restarted(world.replicas[0])
        #expect(world.replicas[0].canUndo)
        if isRefused {
            _ = world.replicas[0].rejected(sequence: 1, .notStored)
        } else {
            try world.settle()
        }
        #expect(world.replicas[0].canUndo == !overrides)
    }

    /// What another client of the person committed before a pending edit comes before it: the commits tell the order.
    @Test(arguments: [true, false]) func anEditOfAnotherClientComesBeforeThePendingOnes(isPersons: Bool) throws {
        var replica = Replica(confirmed: Hand(tasks(2)), revision: 0, logID: 7, sequence: 0)
        replica.identify(as: 1, persons: isPersons ? [1, 2] : [1])
        try replica.edit(Delta.deleting(0..<1))
        #expect(replica.takeSubmission(list: 1) != nil)
        func commit(_ delta: Delta, by author: AuthorID) throws -> Commit {
            let after = try replica.confirmed.applying(delta)
            return Commit(
                revision: replica.revision + 1, author: author, sequence: 1, base: replica.revision, time: 1,
                count: after.count, digest: after.digest, delta: delta)
        }
        let theirs = replica.confirmed.rewording(1, "elsewhere")
        _ = try replica.receive(try commit(theirs, by: 2))
        #expect(replica.canUndo)
        let mine = try #require(replica.pending.first)
        _ = try replica.receive(try commit(mine, by: 1))
        #expect(!replica.hasPending && replica.canUndo == !isPersons)
    }

    /// What another client of the person commits may be a step that reverses an edit from before the memory. Only the
    /// commits tell, so nothing is remembered then.
    @Test(arguments: [true, false]) func anEditOfAnotherClientIsRememberedAfterAnOwnEdit(isRemembered: Bool) throws {
        var world = TestNetwork(tasks(2), replicas: 2)
        world.replicas[0].identify(as: 1, persons: [1, 2])
        if isRemembered {
            try world.edit(0, world.replicas[0].view.rewording(1, "mine"))
            try world.settle()
        }
        try world.edit(1, Delta.deleting(0..<1))
        world.deliverUp(1)
        try world.settle()
        #expect(world.replicas[0].canUndo == isRemembered)
    }

    /// The person has another client that was not known: its commits were taken for somebody else's.
    @Test(arguments: [true, false]) func aHistoryThatLacksAnEditIsForgotten(isPending: Bool) throws {
        var world = TestNetwork(tasks(2), replicas: 1)
        try world.edit(0, world.replicas[0].view.rewording(1, "mine"))
        if !isPending { try world.settle() }
        world.replicas[0].identify(as: 1, persons: [1])
        #expect(world.replicas[0].canUndo)
        world.replicas[0].identify(as: 1, persons: [1, 2])
        // What waits can be undone here: it comes last.
        #expect(world.replicas[0].canUndo == isPending)
        world.replicas[0] = try restarted(world.replicas[0])
        #expect(world.replicas[0].canUndo == isPending && world.replicas[0].persons == [1, 2])
        try world.settle()
        #expect(!world.replicas[0].canUndo)
    }

    @Test func aReplicaHasThreeStates() throws {
        var world = TestNetwork(tasks(2), replicas: 1)
        #expect(world.replicas[0].state == .synchronized)
        try world.edit(0, Delta.deleting(0..<1))
        #expect(world.replicas[0].state == .awaiting)
        try world.edit(0, Delta.inserting([task(9)], at: 0, .after))
        #expect(world.replicas[0].state == .awaitingWithBuffer)
        #expect(world.replicas[0].view.map(\.id.rawValue) == [9, 2])
        try world.settle()
        #expect(world.replicas[0].state == .synchronized)
    }

    @Test func aRejectionUndoesOnlyTheRejectedEdit() throws {
        var world = TestNetwork(tasks(2), replicas: 2, rules: Rules(maximumCount: 3))
        try world.edit(0, Delta.inserting([task(10)], at: 2, .before))
        try world.edit(1, Delta.inserting([task(11)], at: 0, .after))
        try world.edit(1, world.replicas[1].view.rewording(1, "kept"))
        try world.settle()
        #expect(world.hasConverged)
        #expect(world.replicas[1].view.map(\.content.text) == ["kept", "t2", "t10"])
        let rejections = world.notices[1].compactMap { notice -> Rejection? in
            if case .rejected(let reason, _, _) = notice { reason } else { nil }
        }
        #expect(rejections == [.violation(.listFull(maximum: 3))])
        #expect(throws: Replica.EditError.violation(.listFull(maximum: 3))) {
            try world.replicas[0].edit(Delta.inserting([task(12)], at: 0, .after))
        }
    }

    /// However much others do in between: the oldest of one's own edits are forgotten, the others can be undone.
    @Test func undoMemoryIsBounded() throws {
        var world = TestNetwork(tasks(100), replicas: 2)
        let (rounds, maxBytes) = (100, 4 << 20)
        func text(_ round: Int, _ index: Int) -> String {
            "\(round) \(index) " + String(repeating: "\(round % 10)", count: 1_000)
        }
        for round in 0..<rounds {
            try world.edit(0, world.replicas[0].view.rewording(0, "own \(round)"))
            var others = Composer()
            for index in 1..<100 {
                others.append(world.replicas[1].view.rewording(index, text(round, index)))
            }
            try world.edit(1, others.delta)
            try world.settle()
            #expect(world.replicas[0].undoBytes <= maxBytes)
        }
        var undone = 0
        while try world.replicas[0].take(.undo) != nil {
            undone += 1
            #expect(world.replicas[0].undoBytes <= maxBytes)
            #expect(world.replicas[0].view[0].content.text == (undone < rounds ? "own \(rounds - 1 - undone)" : "t1"))
        }
        #expect(undone > 10 && undone < rounds, "\(undone)")
        #expect(world.replicas[0].view[1].content.text == text(rounds - 1, 1))
    }

    /// Others' repeated changes between two of one's own edits become one change for undo.
    @Test func undoAfterThousandsOfOthersEdits() throws {
        var world = TestNetwork(tasks(3), replicas: 2)
        try world.edit(0, Delta.deleting(1..<2))
        try world.settle()
        for round in 0..<2_500 {
            try world.edit(1, world.replicas[1].view.rewording(round % 2, "other \(round)"))
            try world.settle()
        }
        #expect(try world.replicas[0].take(.undo) != nil)
        #expect(world.replicas[0].view.map(\.content.text) == ["other 2498", "t2", "other 2499"])
    }

    @Test func undoThenRedoRestoresTheList() throws {
        var chaos = Chaos(seed: testSeed(41))
        for _ in 0..<40 {
            var world = TestNetwork(tasks(5), replicas: 2)
            for _ in 0..<10 {
                let view = world.replicas[0].view
                try world.edit(0, chaos.edit(on: view).fitting(view))
                if chaos.random.next(below: 2) == 0 { try world.settle() }
                let other = world.replicas[1].view
                if chaos.random.next(below: 2) == 0 {
                    try world.edit(1, chaos.edit(on: other).fitting(other))
                }
            }
            try world.settle()
            let before = Array(world.replicas[0].view)
            var undone = 0
            while try world.replicas[0].take(.undo) != nil { undone += 1 }
            for _ in 0..<undone { #expect(try world.replicas[0].take(.redo) != nil) }
            #expect(try world.replicas[0].take(.redo) == nil)
            #expect(Array(world.replicas[0].view) == before)
            world.submit(0)
            try world.settle()
            #expect(world.hasConverged)
        }
    }

    @Test func undoTouchesOnlyOnesOwnEdits() throws {
        var world = TestNetwork(tasks(2), replicas: 2)
        try world.edit(0, Delta.inserting([task(10)], at: 1, .after))
        try world.settle()
        try world.edit(1, Delta.inserting([task(20)], at: 0, .after))
        try world.edit(0, world.replicas[0].view.rewording(1, "mine"))
        try world.settle()
        for _ in 0..<2 { _ = try world.replicas[0].take(.undo) }
        world.submit(0)
        try world.settle()
        #expect(world.hasConverged)
        #expect(world.replicas[1].view.map(\.id.rawValue) == [20, 1, 2])
        for _ in 0..<2 { _ = try world.replicas[0].take(.redo) }
        #expect(world.replicas[0].view.map(\.content.text) == ["t20", "t1", "mine", "t2"])
    }

    @Test func lossesAreReported() throws {
        var world = TestNetwork(tasks(3), replicas: 2)
        // The second moves item 1 while the first deletes it: its pending move is lost.
        try world.edit(0, Delta.deleting(0..<1))
        try world.edit(1, Delta.moving(0..<1, to: 3, .before))
        world.deliverUp(0)
        try world.settle()
        let deletion = Loss.Override(author: 1, revision: 1, deletesItem: true, behind: tasks(3)[2].id)
        #expect(world.notices[1].contains(.superseded(tasks(3)[0], .move, by: deletion)))
        // The first's edit is committed, then overridden by a concurrent later one.
        try world.edit(0, world.replicas[0].view.rewording(0, "a"))
        try world.edit(1, world.replicas[1].view.rewording(0, "b"))
        world.deliverUp(0)
        try world.settle()
        let item = Item(id: ItemID(rawValue: 2), content: .task("b", done: false))
        let loss = TextChange.Loss(at: 0, original: "t2", lost: "a", present: "b")
        let override = Loss.Override(author: 2, revision: 4)
        #expect(world.notices[0].contains(.superseded(item, .words(loss, in: .text), by: override)))
        // An edit made after having seen it is not a conflict.
        world.notices[0] = []
        try world.edit(1, world.replicas[1].view.rewording(0, "c"))
        try world.settle()
        #expect(world.notices[0].isEmpty)
    }

    /// Somebody who had not seen the user's commit overrides it only with something else: another value, another place.
    @Test(arguments: [
        (Delta.editing(at: 0, Change(done: true)), Delta.editing(at: 0, Change(done: true)), false),
        (.editing(at: 0, Change(done: true)), .editing(at: 0, Change(done: false)), true),
        (.editing(at: 0, Change(level: 1)), .editing(at: 0, Change(level: 1)), false),
        (.editing(at: 0, Change(level: 1)), .editing(at: 0, Change(level: 2)), true),
        (.editing(at: 0, Change(done: true, level: 1)), .editing(at: 0, Change(done: true, level: 2)), true),
        (.moving(2..<4, to: 0, .after), .moving(2..<4, to: 0, .after), false),
        (.moving(3..<4, to: 0, .after), .moving(2..<4, to: 0, .after), false),
        (.moving(3..<4, to: 0, .after), .moving(3..<4, to: 0, .before), false),
        (.moving(3..<4, to: 0, .after), .moving(3..<4, to: 2, .after), true),
        (.moving(0..<1, to: 4, .before), .moving(0..<2, to: 4, .before), false),
    ])
    func theSameIsNoLoss(mine: Delta, theirs: Delta, isLoss: Bool) throws {
        var world = TestNetwork(tasks(4), replicas: 2)
        try world.edit(0, mine)
        try world.edit(1, theirs)
        world.deliverUp(0)
        try world.settle()
        let told = world.notices.map { notices in
            notices.contains { if case .superseded = $0 { true } else { false } }
        }
        #expect(told == [isLoss, false] && world.hasConverged)
    }

    /// Who sets back what somebody else has overridden overrides nobody.
    @Test func aValueThatIsSetBackIsNoLoss() throws {
        var world = TestNetwork(tasks(1), replicas: 3)
        for (replica, done) in [true, false, true].enumerated() {
            try world.edit(replica, .editing(at: 0, Change(done: done)))
        }
        for replica in 0..<3 { world.deliverUp(replica) }
        try world.settle()
        let losses = world.notices[0].filter { if case .superseded = $0 { true } else { false } }
        #expect(losses.count == 1 && world.hasConverged)
    }

    /// The losses of the third waiting portion are determined on the list after the two before it, in their order.
    @Test func lossesOfALaterPortionAreReported() throws {
        let big = Content.note(String(repeating: "x", count: Replica.portionBytes))
        let rules = Rules(maximumSize: Replica.portionBytes)
        var replica = Replica(confirmed: Hand(tasks(3), rules: rules), revision: 1, logID: 7, sequence: 0)
        replica.author = 1
        func insertion(_ id: UInt64) -> Delta {
            Delta.inserting([Item(id: ItemID(rawValue: id), content: big)], at: 0, .after)
        }
        try replica.edit(insertion(10))
        _ = replica.takeSubmission(list: 1)
        try replica.edit(Delta.deleting(1..<2).composed(with: insertion(11)))
        try replica.edit(Delta.moving(3..<4, to: 0, .after).composed(with: insertion(12)))
        try replica.edit(replica.view.rewording(1, "mine"))
        #expect(replica.pending.count == 4)
        #expect(replica.view.map(\.id.rawValue) == [12, 3, 11, 10, 2])
        let before = replica.view
        let theirs = replica.confirmed.rewording(2, "theirs")
        var (list, notices) = (replica.confirmed, [Replica.Notice]())
        // An edit is lost only if the item that it edits is deleted.
        for (number, delta) in [theirs, Delta.deleting(2..<3)].enumerated() {
            list = try list.applying(delta)
            let commit = Commit(
                revision: 2 + number, author: 2, sequence: SequenceNumber(number + 1), base: 1 + number, time: 0,
                count: list.count, digest: list.digest, delta: delta)
            notices += try replica.receive(commit).notices
        }
        // As the user left it with that portion, and where.
        let left = try #require(before.first { $0.id.rawValue == 3 })
        let moved = Item(id: left.id, content: .task("theirs", done: false))
        let override = Loss.Override(author: 2, revision: 3, deletesItem: true, behind: ItemID(rawValue: 12))
        #expect(
            notices == [
                .superseded(moved, .move, by: override), .superseded(left, .edit(.text), by: override),
            ])
        #expect(replica.view.map(\.id.rawValue) == [12, 11, 10, 2])
    }

    @Test func aDealtCardTurnsOverInTheViewAndInPendingEdits() throws {
        var world = TestNetwork([], replicas: 1, rules: .fiveCards, deck: Deck(seed: 1))
        let card = Item(id: ItemID(rawValue: 5), content: .card(.faceDown))
        try world.edit(0, Delta.inserting([card], at: 0, .after))
        let other = Item(id: ItemID(rawValue: 6), content: .card(.faceDown))
        try world.edit(0, Delta.inserting([other], at: 0, .after))
        world.deliverUp(0)
        try world.deliverDown(0)
        #expect(world.replicas[0].view[0].content.text == "??")
        #expect(world.replicas[0].view[1].content.text != "??")
        try world.settle()
        #expect(world.hasConverged)
    }

    /// A snapshot keeps pending edits, whether or not it contains what was in flight.
    @Test(arguments: [false, true])
    func pendingEditsSurviveASnapshot(isCommitted: Bool) throws {
        var world = TestNetwork(tasks(4), replicas: 2)
        try world.edit(1, world.replicas[1].view.rewording(3, "flying"))
        try world.edit(1, Delta.inserting([task(50)], at: 1, .after))
        try world.edit(0, Delta.moving(0..<1, to: 4, .before))
        world.deliverUp(0)
        if isCommitted { world.deliverUp(1) } else { world.up[1] = [] }
        // The second's connection is lost here; it reconnects and gets a snapshot.
        world.down[1] = []
        let update = world.replicas[1].reset(
            to: world.authority.hand, revision: world.authority.revision, logID: 9,
            lastSequence: world.authority.lastSequence(of: 2))
        #expect(update.notices == (isCommitted ? [.acknowledged(sequence: 1, revision: 2)] : []))
        #expect(world.replicas[1].view.map(\.content.text) == ["t50", "t2", "t3", "flying", "t1"])
        if let submission = world.replicas[1].takeSubmission(list: 1) { world.up[1].append(submission) }
        try world.settle()
        #expect(world.hasConverged)
        #expect(world.authority.hand.count == 5)
    }

    /// The reported updates, applied step by step, lead to the view.
    @Test func updatesAddUpToTheView() throws {
        var chaos = Chaos(seed: testSeed(42))
        var world = TestNetwork(tasks(6), replicas: 2)
        var mirror = world.replicas[0].view
        for _ in 0..<300 {
            let view = world.replicas[0].view
            if chaos.random.next(below: 2) == 0 {
                let delta = chaos.edit(on: view).fitting(view)
                mirror = try mirror.applying(world.replicas[0].edit(delta))
                world.submit(0)
            }
            let other = world.replicas[1].view
            try world.edit(1, chaos.edit(on: other).fitting(other))
            for index in 0..<2 where !world.up[index].isEmpty { world.deliverUp(index) }
            while !world.down[0].isEmpty, chaos.random.next(below: 4) != 0 {
                guard case .commit(_, let commit) = world.down[0].removeFirst() else { continue }
                mirror = try mirror.applying(world.replicas[0].receive(commit).delta)
                world.submit(0)
            }
            while !world.down[1].isEmpty { try world.deliverDown(1) }
            #expect(mirror == world.replicas[0].view)
        }
    }
}
