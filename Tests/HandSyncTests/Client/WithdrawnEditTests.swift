import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Edits that are undone while they wait: neither they nor their undo are submitted.
@Suite struct WithdrawnEditTests {
    private static func task(_ id: UInt64) -> Item {
        Item(id: ItemID(rawValue: id), content: .task("t\(id)", done: false))
    }

    private static func replica() -> Replica {
        var replica = Replica(confirmed: Hand(tasks(3)), revision: 4, logID: 7, sequence: 0)
        replica.author = 1
        return replica
    }

    private static func commit(_ delta: Delta, by author: AuthorID, to replica: Replica) throws -> Commit {
        let after = try replica.confirmed.applying(delta)
        return Commit(
            revision: replica.revision + 1, author: author, sequence: replica.inFlight?.sequence ?? 1,
            base: replica.revision, time: 1, count: after.count, digest: after.digest, delta: delta)
    }

    /// Continues from the journal, as after a restart.
    private static func restarted(_ replica: Replica) throws -> Replica {
        let bytes = replica.checkpoint.bytes
        let checkpoint = try bytes.withUnsafeBytes { try Replica.Checkpoint($0) }
        #expect(checkpoint == replica.checkpoint)
        return try Replica(checkpoint, confirmed: replica.confirmed)
    }

    private static func submitted(_ replica: inout Replica) throws -> Submission {
        let submission = replica.takeSubmission(list: 1)
        return try #require(submission)
    }

    enum Doing: CaseIterable {
        case delete, reword, move
    }

    /// What somebody writes in an item stays, though the item was deleted, changed or moved here in the meantime.
    @Test(arguments: Doing.allCases, [false, true])
    func othersWordsStay(doing: Doing, isRestarted: Bool) throws {
        var replica = Self.replica()
        let delta: Delta =
            switch doing {
            case .delete: .deleting(0..<1)
            case .reword: replica.view.rewording(0, "mine")
            case .move: .moving(0..<1, to: 3, .after)
            }
        try replica.edit(.inserting([Self.task(10)], at: 3, .before))
        try replica.edit(delta)
        if isRestarted { replica = try Self.restarted(replica) }
        _ = try replica.take(.undo)
        #expect(replica.view.map(\.content.text) == ["t1", "t2", "t3", "t10"])
        #expect(replica.unconfirmedCount == 1)
        _ = try replica.receive(try Self.commit(replica.confirmed.rewording(0, "theirs"), by: 2, to: replica))
        #expect(replica.view.map(\.content.text) == ["theirs", "t2", "t3", "t10"])
        let submission = try Self.submitted(&replica)
        _ = try replica.receive(try Self.commit(submission.delta, by: 1, to: replica))
        #expect(replica.view.map(\.content.text) == ["theirs", "t2", "t3", "t10"])
        #expect(replica.brokenInvariant() == nil)
    }

    /// The edits of a portion are taken back one by one, and what was the only edit leaves nothing to submit.
    @Test(arguments: [false, true]) func nothingIsLeftToSubmit(isExact: Bool) throws {
        var replica = Self.replica()
        try replica.edit(Delta.deleting(0..<1))
        try replica.edit(Delta.deleting(0..<1), isExact: isExact)
        _ = try replica.take(.undo)
        #expect((replica.unconfirmedCount, replica.pending) == (1, [.deleting(0..<1)]))
        _ = try replica.take(.undo)
        #expect(!replica.hasPending && replica.view == replica.confirmed)
        let submission = replica.takeSubmission(list: 1)
        #expect(submission == nil)
    }

    /// A redo of a withdrawn edit is an edit like any other: no commit exists that it would reverse.
    @Test(arguments: [false, true]) func aRedoOfAWithdrawnEditIsAnEdit(isRestarted: Bool) throws {
        var replica = Self.replica()
        try replica.edit(Delta.deleting(0..<1))
        try replica.edit(replica.view.rewording(0, "mine"))
        for _ in 0..<2 { _ = try replica.take(.undo) }
        if isRestarted { replica = try Self.restarted(replica) }
        for _ in 0..<2 { _ = try replica.take(.redo) }
        #expect(replica.view.map(\.content.text) == ["mine", "t3"])
        let submission = try Self.submitted(&replica)
        #expect((replica.inFlight?.step, replica.inFlight?.count) == (nil, 2))
        _ = try replica.receive(try Self.commit(submission.delta, by: 1, to: replica))
        #expect(!replica.hasPending)
        _ = try replica.take(.undo)
        _ = try Self.submitted(&replica)
        #expect(replica.inFlight?.step == .undo)
    }

    /// An undo of a committed edit waits as a step; so a redo of it withdraws the step, and the next undo is a step.
    @Test func aWaitingStepIsWithdrawnToo() throws {
        var replica = Self.replica()
        try replica.edit(Delta.deleting(0..<1))
        let submission = try Self.submitted(&replica)
        _ = try replica.receive(try Self.commit(submission.delta, by: 1, to: replica))
        for _ in 0..<2 {
            _ = try replica.take(.undo)
            #expect(replica.unconfirmedCount == 1)
            _ = try replica.take(.redo)
            #expect(!replica.hasPending && replica.view.count == 2)
        }
        _ = try replica.take(.undo)
        _ = try Self.submitted(&replica)
        #expect(replica.inFlight?.step == .undo)
        _ = try replica.take(.redo)
        #expect(replica.bufferedCount == 1)
        _ = try replica.receive(try Self.commit(try #require(replica.inFlight?.delta), by: 1, to: replica))
        _ = try Self.submitted(&replica)
        #expect(replica.inFlight?.step == .redo)
    }

    /// What is in flight, or has passed a commit, is taken back by another edit.
    @Test(arguments: [false, true]) func whatIsNoLongerAsItWasMadeIsReversed(isInFlight: Bool) throws {
        var replica = Self.replica()
        try replica.edit(Delta.deleting(0..<1))
        if isInFlight {
            _ = try Self.submitted(&replica)
        } else {
            _ = try replica.receive(try Self.commit(Delta.deleting(2..<3), by: 2, to: replica))
        }
        _ = try replica.take(.undo)
        #expect(replica.pending.count == 2)
        #expect(replica.view.map(\.content.text).prefix(2) == ["t1", "t2"])
        #expect(replica.brokenInvariant() == nil)
    }

    /// With random edits, steps and restarts, undoing everything gives the list without one's own edits, and what the
    /// server gets leads everybody to the same list. With others' commits in between, what is pending leads to the view.
    @Test(arguments: [false, true]) func randomly(withCommits: Bool) throws {
        var chaos = Chaos(seed: testSeed(43))
        for _ in 0..<150 {
            var world = TestNetwork(tasks(5), replicas: 2)
            var offline = world.replicas[0]
            for _ in 0..<30 {
                switch chaos.random.next(below: withCommits ? 7 : 6) {
                case 0, 1: try offline.edit(chaos.edit(on: offline.view).fitting(offline.view))
                case 2, 3: _ = try offline.take(.undo)
                case 4: _ = try offline.take(.redo)
                case 5: offline = try Self.restarted(offline)
                default:
                    let theirs = chaos.edit(on: offline.confirmed).fitting(offline.confirmed)
                    _ = try offline.receive(try Self.commit(theirs, by: 2, to: offline))
                }
                #expect(offline.brokenInvariant() == nil)
            }
            if withCommits { continue }
            var undone = offline
            while try undone.take(.undo) != nil {}
            #expect(!undone.hasPending && undone.view == undone.confirmed)
            world.replicas[0] = offline
            let other = world.replicas[1].view
            try world.edit(1, chaos.edit(on: other).fitting(other))
            world.submit(0)
            try world.settle()
            #expect(world.hasConverged)
        }
    }
}
