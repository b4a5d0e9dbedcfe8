import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Undo and redo from the history alone.
@Suite struct UndoReconstructionTests {
    /// A person whose steps are computed from the history and compared with a replica, and somebody else.
    private struct Couple {
        var world: TestNetwork
        var chaos: Chaos
        var steps = UndoReconstruction.Steps()
        /// Another client of the person, which the first one does not know.
        var second: AuthorID?

        init(_ seed: UInt64, replicas: Int = 2) {
            chaos = Chaos(seed: seed)
            world = TestNetwork(tasks(5), replicas: replicas)
        }

        mutating func edit(_ index: Int) throws {
            let view = world.replicas[index].view
            let delta = chaos.edit(on: view).fitting(view)
            if !delta.isIdentity { try world.edit(index, delta) }
        }

        /// Returns what a step does according to the history, which commit it undoes, and how many steps that change
        /// nothing come before it, or nil if there is none.
        func predicted(_ step: UndoStep) -> (Retraction, revision: Int, empty: Int)? {
            let advice = advice(for: .step(step))
            guard case .make(let retraction, let made, let revision, let empty) = advice else {
                #expect(advice == .nothing, "all commits are kept")
                return nil
            }
            #expect(made == step)
            return revision.map { (retraction, $0, empty) }
        }

        func advice(for wish: UndoReconstruction.Wish) -> UndoReconstruction.Advice {
            var own = [AuthorID(1): steps]
            if let second { own[second] = UndoReconstruction.Steps() }
            let past = UndoReconstruction(UndoReconstruction.Memory(own: own), revision: world.log.count)
            var requests = UndoRequests(wish, past, of: "list")
            while let request = requests.request { requests.take(answer(request(1))) }
            return requests.advice
        }

        /// Answers as a server whose pages are short.
        private func answer(_ message: UpMessage) -> ClientMachine.Answer {
            switch message {
            case .history(_, _, let first, let limit):
                return .history(Array(world.log[(first - 1)...].prefix(min(limit, 3))), people: [])
            case .excerpt(let asked):
                let revision = asked.revision ?? world.log.count
                let part = world.past[revision].excerpt(
                    asked.selections, from: asked.start, about: 1, logID: 1, revision: revision)
                return .excerpt(part)
            default: return .error(.malformedMessage, "nothing else is asked for")
            }
        }

        /// Makes an edit as such a step. An edit that changes nothing makes no commit.
        mutating func make(_ delta: Delta, as step: UndoStep, afterEmpty empty: Int = 0) throws {
            for _ in 0..<empty { try make(.identity, as: step) }
            if delta.isIdentity {
                steps.empty[world.log.count, default: []].append(step)
            } else {
                world.submit(0)
                if let sequence = world.replicas[0].inFlight?.sequence { steps.made[sequence] = step }
            }
        }
    }

    /// Each step equals that of a replica that was present all the time. Those that reverse what changed nothing are
    /// taken together with the next one.
    @Test func stepsEqualThoseOfAReplica() throws {
        var steps = 0
        for round in 0..<60 {
            var couple = Couple(testSeed(71) &+ UInt64(round))
            for _ in 0..<30 {
                switch couple.chaos.random.next(below: 6) {
                case 0, 1: try couple.edit(0)
                case 2: try couple.edit(1)
                case let kind:
                    let step: UndoStep = kind == 5 ? .redo : .undo
                    let predicted = couple.predicted(step)
                    var replica = couple.world.replicas[0]
                    for _ in 0..<(predicted?.empty ?? .max) {
                        guard let empty = try replica.take(step) else { break }
                        #expect(empty.delta.isIdentity)
                    }
                    guard let predicted else { break }
                    let made = try replica.take(step)
                    #expect(predicted.0 == made)
                    couple.world.replicas[0] = replica
                    try couple.make(predicted.0.delta, as: step, afterEmpty: predicted.empty)
                    steps += 1
                }
                try couple.world.settle()
            }
        }
        #expect(steps > 300)
    }

    /// Each step leaves the same items as that of a replica whose edits met edits of somebody else. Where an edit of its
    /// own overrode somebody's, the replica has forgotten its steps, and takes those of the history. Only the place of an
    /// item that comes back into a gap that somebody filled meanwhile may differ.
    @Test func stepsAfterConcurrentEditsEqualThoseOfAReplica() throws {
        var (steps, forgotten) = (0, 0)
        for round in 0..<200 {
            var couple = Couple(testSeed(73) &+ UInt64(round))
            for _ in 0..<30 {
                // Both did the same: the replica can take it back, but the history has nothing of its own.
                if couple.world.log.contains(where: { $0.author == 1 && $0.delta.isIdentity }) { break }
                let kind = couple.chaos.random.next(below: 6)
                if kind < 3 {
                    try couple.edit(0)
                    try couple.edit(1)
                    if kind > 0, !couple.world.up[1].isEmpty { couple.world.deliverUp(1) }
                } else {
                    let step: UndoStep = kind == 5 ? .redo : .undo
                    guard let (retraction, _, empty) = couple.predicted(step) else { continue }
                    let predicted = retraction.delta
                    for _ in 0..<empty { _ = try couple.world.replicas[0].take(step) }
                    let expected = try couple.world.replicas[0].view.applying(predicted)
                    if let made = try couple.world.replicas[0].take(step) {
                        let view = couple.world.replicas[0].view
                        #expect(view.sorted { $0.id < $1.id } == expected.sorted { $0.id < $1.id })
                        steps += 1
                        // In another place, it is not known as a step any more.
                        if made.delta != predicted { break }
                        try couple.make(made.delta, as: step, afterEmpty: empty)
                    } else {
                        try couple.world.replicas[0].take(step, predicted)
                        try couple.make(predicted, as: step, afterEmpty: empty)
                        forgotten += 1
                    }
                }
                try couple.world.settle()
            }
        }
        #expect(steps > 500 && forgotten > 20)
    }

    /// A screen takes back its own newest edit, although the person has made another one since, with a client that the
    /// screen did not know. The next step takes that one back, and nothing of anybody else.
    @Test func aStepOfAClientThatDidNotKnowTheOther() throws {
        var couple = Couple(1, replicas: 3)
        couple.second = 3
        func insert(_ replica: Int, _ text: String, at place: Int) throws {
            let item = Item(id: ItemID(rawValue: UInt64(900 + replica)), content: .task(text, done: false))
            try couple.world.edit(replica, .inserting([item], at: place, .after))
            couple.world.submit(replica)
            try couple.world.settle()
        }
        try insert(0, "screen", at: 2)
        try insert(2, "shell", at: 0)
        try insert(1, "somebody", at: 4)
        let taken = try #require(try couple.world.replicas[0].take(.undo))
        try couple.make(taken.delta, as: .undo)
        try couple.world.settle()
        let before = couple.world.replicas[0].view
        let next = try #require(couple.predicted(.undo)).0.delta
        let after = try before.applying(next)
        #expect(before.map(\.content.text).filter { $0 != "shell" } == after.map(\.content.text))
    }

    /// So it is if somebody did the same again, which would be taken back, too: with edits of all kinds, and redone.
    @Test(arguments: [
        (Delta.editing(at: 2, Change(done: true)), Delta.editing(at: 0, Change(done: true))),
        (.editing(at: 2, Change(done: true)), .moving(0..<1, to: 5, .after)),
        (.moving(3..<4, to: 0, .before), .editing(at: 1, Change(done: true))),
        (.editing(at: 1, Change(text: "t2", to: "mine")), .deleting(3..<4)),
    ])
    func whatAStepTookBackIsNotTakenBackAgain(mine: Delta, second: Delta) throws {
        var couple = Couple(1, replicas: 3)
        couple.second = 3
        func make(_ replica: Int, _ delta: Delta) throws {
            try couple.world.edit(replica, delta)
            couple.world.submit(replica)
            try couple.world.settle()
        }
        func take(_ step: UndoStep, of revision: Int) throws {
            let next = try #require(couple.predicted(step))
            #expect(next.revision == revision && next.empty == 0)
            try couple.world.edit(0, next.0.delta)
            try couple.make(next.0.delta, as: step)
            try couple.world.settle()
        }
        let start = couple.world.authority.hand
        try make(0, mine)
        try make(2, second)
        let both = couple.world.authority.hand
        let taken = try #require(try couple.world.replicas[0].take(.undo))
        try couple.make(taken.delta, as: .undo)
        try couple.world.settle()
        let somebodys = taken.delta.inverted(on: both)
        try make(1, somebodys)
        // The edit that was taken back is no step, if it is asked for by its revision.
        guard case .make(_, as: nil, of: 1, _) = couple.advice(for: .revision(1)) else {
            return #expect(Bool(false), "\(couple.advice(for: .revision(1)))")
        }
        try take(.undo, of: 2)
        #expect(try couple.world.authority.hand == start.applying(mine))
        #expect(couple.predicted(.undo) == nil)
        try take(.redo, of: 5)
        #expect(couple.world.authority.hand == both)
        #expect(couple.predicted(.redo) != nil)
    }

    /// An item that somebody else has already brought back is not inserted twice; everything else stays as it was.
    @Test func insertionsOfExistingItemsAreLeftOut() throws {
        var chaos = Chaos(seed: testSeed(77))
        var left = 0
        for _ in 0..<600 {
            let list = Hand(tasks(6))
            let delta = chaos.edit(on: list)
            let inserted = delta.insertedItems.map(\.id)
            let existing = Set(inserted.filter { _ in chaos.random.next(below: 2) == 0 })
            let all = try Array(list.applying(delta))
            let without = delta.inserting(only: { !existing.contains($0.id) })
            #expect(try Array(list.applying(without)) == all.filter { !existing.contains($0.id) })
            left += existing.count
        }
        #expect(left > 50)
    }

    /// Whatever others' edits overlapped: after undoing and redoing everything, the list is the same.
    @Test func undoingAndRedoingEverythingRestoresTheList() throws {
        for round in 0..<40 {
            var couple = Couple(testSeed(72) &+ UInt64(round))
            for _ in 0..<12 {
                try couple.edit(couple.chaos.random.next(below: 2))
                if couple.chaos.random.next(below: 2) == 0 { try couple.world.settle() }
            }
            try couple.world.settle()
            let hand = couple.world.authority.hand
            var counts: [Int] = []
            for step in [UndoStep.undo, .redo] {
                counts.append(0)
                while let (retraction, _, empty) = couple.predicted(step) {
                    let delta = retraction.delta
                    if !delta.isIdentity { try couple.world.replicas[0].edit(delta) }
                    try couple.make(delta, as: step, afterEmpty: empty)
                    try couple.world.settle()
                    counts[counts.count - 1] += delta.isIdentity ? 0 : 1
                }
            }
            #expect(couple.world.authority.hand == hand)
            #expect(counts[0] == counts[1] && counts[0] > 0)
        }
    }

    /// An undo that others' edits have made empty still counts as made.
    @Test func emptyStepsCount() throws {
        var couple = Couple(0)
        try couple.world.edit(0, couple.world.replicas[0].view.rewording(1, "x"))
        try couple.world.settle()
        try couple.world.edit(0, couple.world.replicas[0].view.rewording(0, "y"))
        try couple.world.settle()
        try couple.world.edit(1, Delta.deleting(0..<1))
        try couple.world.settle()
        let empty = try #require(couple.predicted(.undo))
        #expect(empty.0.delta.isIdentity && empty.revision == 2)
        try couple.make(empty.0.delta, as: .undo)
        let next = try #require(couple.predicted(.undo))
        #expect(next.0.delta == Delta.editing(at: 0, Change(text: "x", to: "t2")) && next.revision == 1)
        // There is nothing to redo of an undo that changed nothing.
        #expect(couple.predicted(.redo) == nil)
        try couple.world.edit(0, next.0.delta)
        try couple.make(next.0.delta, as: .undo)
        try couple.world.settle()
        let redo = try #require(couple.predicted(.redo))
        #expect(redo.0.delta == next.0.delta.inverted(on: couple.world.past[3]) && redo.empty == 0)
        try couple.world.edit(0, redo.0.delta)
        try couple.make(redo.0.delta, as: .redo)
        try couple.world.settle()
        #expect(couple.predicted(.redo) == nil)
    }

    /// Edits that were joined in one commit are taken back together, and so is what a replica that knows them apart
    /// has left of them. What is older stays, and is next.
    @Test(arguments: 0...3) func joinedEditsAreTakenBackTogether(apart: Int) throws {
        var couple = Couple(0)
        let before = couple.world.authority.hand
        func texts() -> [String] { couple.world.authority.hand.map(\.content.text) }
        func insert(_ text: String, at place: Int) throws {
            let item = Item(id: ItemID(rawValue: UInt64(900 + place)), content: .task(text, done: false))
            try couple.world.replicas[0].edit(.inserting([item], at: place, .after))
        }
        try insert("older", at: 0)
        couple.world.submit(0)
        try couple.world.settle()
        for place in 1...3 { try insert("joined", at: place) }
        couple.world.submit(0)
        let mine = try #require(couple.world.replicas[0].inFlight)
        #expect(mine.count == 3)
        couple.steps.counts[mine.sequence] = mine.count
        try couple.world.settle()
        try couple.world.edit(1, couple.world.replicas[1].view.rewording(5, "somebody's"))
        try couple.world.settle()
        let all = couple.world.authority.hand

        for _ in 0..<apart {
            let made = try #require(try couple.world.replicas[0].take(.undo))
            try couple.make(made.delta, as: .undo)
            try couple.world.settle()
        }
        var steps = 0
        func take(_ step: UndoStep) throws -> Bool {
            guard let (retraction, _, empty) = couple.predicted(step) else { return false }
            #expect(!retraction.delta.isIdentity)
            try couple.world.replicas[0].edit(retraction.delta)
            try couple.make(retraction.delta, as: step, afterEmpty: empty)
            try couple.world.settle()
            steps += 1
            return true
        }
        if apart < 3 {
            #expect(try take(.undo))
            #expect(!texts().contains("joined") && texts().contains("older"))
        }
        #expect(try take(.undo))
        #expect(!texts().contains("older") && texts().count == before.count)
        #expect(try !take(.undo))
        while try take(.redo) {}
        #expect(couple.world.authority.hand == all)
        while try take(.undo) {}
        #expect(texts().count == before.count && texts().contains("somebody's"))
    }

    /// UndoReconstruction asks for exactly what it must know, and undoes anybody's commit by its revision.
    @Test func onlyNeededCommitsAreRequested() throws {
        var couple = Couple(0)
        let before = couple.world.authority.hand
        try couple.world.edit(1, couple.world.replicas[1].view.rewording(0, "x"))
        try couple.world.settle()
        for index in 1..<4 {
            try couple.world.edit(0, couple.world.replicas[0].view.rewording(index, "y"))
            try couple.world.settle()
        }
        let (log, past) = (couple.world.log, couple.world.past)
        var rebuilt = UndoReconstruction(UndoReconstruction.Memory(own: [1: couple.steps]), revision: 4)
        // Only the newest commit is read and examined for an undo.
        #expect(rebuilt.next(for: .step(.undo)) == .read(4...4))
        rebuilt.prepend([log[3]])
        #expect(rebuilt.next(for: .step(.undo)) == .look(log[3]))
        _ = rebuilt.learn(log[3], on: PartialList(past[3]))
        guard case .make(_, as: .undo, let target, _) = rebuilt.next(for: .step(.undo)) else {
            return #expect(Bool(false))
        }
        #expect(target == 4)
        #expect(rebuilt.next(for: .step(.redo)) == .nothing)
        // Somebody else's commit is not a step.
        #expect(rebuilt.next(for: .revision(1)) == .read(1...3))
        rebuilt.prepend(Array(log[..<3]))
        #expect(rebuilt.next(for: .revision(1)) == .look(log[0]))
        _ = rebuilt.learn(log[0], on: PartialList(past[0]))
        guard case .make(let retraction, as: nil, _, _) = rebuilt.next(for: .revision(1)) else {
            return #expect(Bool(false))
        }
        #expect(try couple.world.authority.hand.applying(retraction.delta)[0] == before[0])
        // One's own newest commit is.
        guard case .make(_, as: .undo, _, _) = rebuilt.next(for: .revision(4)) else { return #expect(Bool(false)) }
    }

    /// Commits that the server no longer keeps are not requested again.
    @Test func forgottenCommitsAreNotRequestedAgain() throws {
        var couple = Couple(0)
        for index in 0..<3 {
            try couple.world.edit(1, couple.world.replicas[1].view.rewording(index, "x"))
            try couple.world.settle()
        }
        for wish in [UndoReconstruction.Wish.step(.undo), .revision(1)] {
            var rebuilt = UndoReconstruction(UndoReconstruction.Memory(own: [1: couple.steps]), revision: 3)
            var asked = 0
            while case .read(let revisions) = rebuilt.next(for: wish), asked < 10 {
                asked += 1
                rebuilt.prepend(couple.world.log.filter { revisions.contains($0.revision) && $0.revision > 1 })
            }
            #expect((1...3).contains(asked))
            var isRevision = false
            if case .revision = wish { isRevision = true }
            #expect(rebuilt.next(for: wish) == (isRevision ? .forgotten(1) : .nothing))
        }
    }
}
