import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import Testing

/// Undo and redo by the history alone.
@Suite struct RetraceTests {
    /// One person whose steps are worked out by the history, with a replica beside, and somebody else.
    private struct Couple {
        var world: World
        var chaos: Chaos
        var steps = Retrace.Steps()

        init(_ seed: UInt64) {
            chaos = Chaos(seed: seed)
            world = World(tasks(5), replicas: 2)
        }

        mutating func edit(_ index: Int) throws {
            let view = world.replicas[index].view
            try world.edit(index, chaos.operation(on: view.count).taskDelta(view))
        }

        /// What the history says that a step does, and what it takes back; nil if there is nothing.
        func predicted(_ step: Retrace.Step) -> (Delta, Retrace.Target)? {
            var retrace = Retrace(own: [1: steps], revision: world.log.count)
            while true {
                switch retrace.search(step) {
                case .nothing: return nil
                case .further:
                    let floor = retrace.floor
                    retrace.prepend(Array(world.log[max(0, floor - 2)..<floor]))
                case .found(let target):
                    let delta = retrace.delta(of: step, from: target) { commit in
                        commit.delta.inverted(on: world.past[commit.revision - 1])
                    }
                    return delta.map { ($0, target) }
                }
            }
        }

        /// Makes an edit as such a step; one that changes nothing makes no commit.
        mutating func make(_ delta: Delta, as step: Retrace.Step) throws {
            if delta.isIdentity {
                steps.empty[world.log.count, default: []].append(step)
            } else {
                world.submit(0)
                if let sequence = world.replicas[0].inFlight?.sequence { steps.made[sequence] = step }
            }
        }
    }

    /// Each step is the one that a replica makes which was there all the time.
    @Test func aReplicaDoesTheSame() throws {
        var made = 0
        for round in 0..<60 {
            var couple = Couple(testSeed(71) &+ UInt64(round))
            for _ in 0..<30 {
                switch couple.chaos.random.next(below: 6) {
                case 0, 1: try couple.edit(0)
                case 2: try couple.edit(1)
                case let kind:
                    let step: Retrace.Step = kind == 5 ? .redo : .undo
                    let predicted = couple.predicted(step)
                    let delta = try step == .undo ? couple.world.replicas[0].undo() : couple.world.replicas[0].redo()
                    #expect(predicted?.0 == delta)
                    if let delta { try couple.make(delta, as: step) }
                    made += delta == nil ? 0 : 1
                }
                try couple.world.settle()
            }
        }
        #expect(made > 300)
    }

    /// However the edits crossed others': all undone and made again, the list is what it was.
    @Test func allUndoneAndMadeAgain() throws {
        for round in 0..<40 {
            var couple = Couple(testSeed(72) &+ UInt64(round))
            for _ in 0..<12 {
                try couple.edit(couple.chaos.random.next(below: 2))
                if couple.chaos.random.next(below: 2) == 0 { try couple.world.settle() }
            }
            try couple.world.settle()
            let hand = couple.world.authority.hand
            var counts: [Int] = []
            for step in [Retrace.Step.undo, .redo] {
                counts.append(0)
                while let (delta, _) = couple.predicted(step) {
                    if !delta.isIdentity { try couple.world.replicas[0].edit(delta) }
                    try couple.make(delta, as: step)
                    try couple.world.settle()
                    counts[counts.count - 1] += 1
                }
            }
            #expect(couple.world.authority.hand == hand)
            #expect(counts[0] == counts[1] && counts[0] > 0)
        }
    }

    /// What others do makes an undo empty; it counts as made all the same.
    @Test func stepsThatChangeNothing() throws {
        var couple = Couple(0)
        try couple.world.edit(0, HandCore.Operation.edit(at: 1, Change(text: "x")).delta)
        try couple.world.settle()
        try couple.world.edit(0, HandCore.Operation.edit(at: 0, Change(text: "y")).delta)
        try couple.world.settle()
        try couple.world.edit(1, HandCore.Operation.delete(0..<1).delta)
        try couple.world.settle()
        let empty = try #require(couple.predicted(.undo))
        #expect(empty.0.isIdentity && empty.1.revision == 2)
        try couple.make(empty.0, as: .undo)
        let next = try #require(couple.predicted(.undo))
        #expect(next.0 == HandCore.Operation.edit(at: 0, Change(text: "t2")).delta && next.1.revision == 1)
        let redo = try #require(couple.predicted(.redo))
        #expect(redo.0.isIdentity && redo.1.revision == 3 && redo.1.isEmpty)
        try couple.make(redo.0, as: .redo)
        #expect(couple.predicted(.redo) == nil)
        #expect(couple.predicted(.undo)?.1 == redo.1)
    }
}
