import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

@Suite struct ConvergenceTests {
    /// Three replicas make two edits each; the test walks every order of edits, submissions and commits. The scripts
    /// are pairs of operations that conflict; without `HAND_EXHAUSTIVE=1`, only the first is walked.
    @Test(arguments: 0..<(wantsExhaustiveTests ? 6 : 1))
    func everyInterleavingOfThreeReplicasWithTwoEditsConverges(script: Int) throws {
        func item(_ id: UInt64) -> Item { Item(id: ItemID(rawValue: id), content: .task("n", done: false)) }
        let scripts: [[[Step]]] = [
            [
                [.insert([item(11)], at: 1, .after), .insert([item(12)], at: 1, .before)],
                [.insert([item(21)], at: 1, .after), .delete(0..<1)],
                [.move(0..<1, to: 2, .before), .insert([item(31)], at: 0, .after)],
            ],
            [
                [.move(0..<1, to: 2, .before), .move(1..<2, to: 0, .after)],
                [.move(0..<1, to: 1, .after), .move(0..<2, to: 2, .after)],
                [.move(1..<2, to: 0, .before), .edit(at: 0, "c")],
            ],
            [
                [.delete(0..<1), .insert([item(11)], at: 0, .after)],
                [.edit(at: 0, "b"), .tick(at: 1)],
                [.delete(0..<2), .insert([item(31)], at: 0, .before)],
            ],
            [
                [.insert([item(11), item(12)], at: 2, .before), .delete(1..<3)],
                [.insert([item(21)], at: 2, .before), .move(2..<3, to: 0, .after)],
                [.move(0..<2, to: 2, .after), .delete(0..<1)],
            ],
            [
                [.edit(at: 0, "a"), .edit(at: 0, "a2")],
                [.edit(at: 0, "b"), .delete(0..<1)],
                [.move(0..<1, to: 2, .after), .edit(at: 1, "c")],
            ],
            [
                [.insert([item(11)], at: 0, .after), .insert([item(12)], at: 0, .after)],
                [.insert([item(21)], at: 0, .after), .insert([item(22)], at: 0, .after)],
                [.insert([item(31)], at: 2, .before), .insert([item(32)], at: 3, .before)],
            ],
        ]
        var ends = 0
        var seen: Set<[UInt8]> = []
        try walk(Path(world: TestNetwork(tasks(2), replicas: 3)), scripts[script], &ends, &seen)
        #expect(ends > 1000)
    }

    /// A world and its origin: each replica's own order of edits and commits, and the server's order of submissions.
    /// These determine everything, so worlds with equal origins are the same and walked once.
    private struct Path {
        var world: TestNetwork
        var done = [0, 0, 0]
        var local: [[UInt8]] = [[], [], []]
        var order: [UInt8] = []

        var key: [UInt8] { local[0] + [9] + local[1] + [9] + local[2] + [9] + order }

        mutating func deliver(_ index: Int) throws {
            try world.deliverDown(index)
            local[index].append(1)
        }
    }

    /// Continues in every way that can make a difference. When a replica receives a commit matters only before an edit
    /// of its own and while a submission waits for it, so the walk branches only there; the rest is delivered at the
    /// end.
    private func walk(
        _ path: Path, _ script: [[Step]], _ ends: inout Int, _ seen: inout Set<[UInt8]>
    ) throws {
        guard seen.insert(path.key).inserted else { return }
        var isEnd = true
        for index in 0..<3 {
            if !path.world.up[index].isEmpty {
                isEnd = false
                var next = path
                next.world.deliverUp(index)
                next.order.append(UInt8(index))
                try walk(next, script, &ends, &seen)
            }
            var next = path
            while true {
                if next.done[index] < 2 {
                    isEnd = false
                    try walk(editing(index, next, script), script, &ends, &seen)
                }
                guard !next.world.down[index].isEmpty else { break }
                let waits = next.world.replicas[index].state == .awaitingWithBuffer
                try next.deliver(index)
                if waits, next.world.replicas[index].state == .awaiting {
                    isEnd = false
                    try walk(next, script, &ends, &seen)
                }
            }
        }
        guard isEnd else { return }
        ends += 1
        var world = path.world
        try world.settle()
        if !world.hasConverged { Issue.record("replicas differ at the end: \(path.key)") }
    }

    private func editing(_ index: Int, _ path: Path, _ script: [[Step]]) throws -> Path {
        var next = path
        let step = script[index][path.done[index]]
        try next.world.edit(index, step.delta(on: path.world.replicas[index].view))
        next.done[index] += 1
        next.local[index].append(0)
        return next
    }

    @Test func randomEditsInRandomOrderConverge() throws {
        var chaos = Chaos(seed: testSeed(21))
        for round in 0..<60 {
            var world = TestNetwork(tasks(8), replicas: 2 + round % 4)
            for _ in 0..<150 {
                let index = chaos.random.next(below: world.replicas.count)
                switch chaos.random.next(below: 3) {
                case 0:
                    let view = world.replicas[index].view
                    let isLarge = chaos.random.next(below: 5) == 0
                    try world.edit(
                        index,
                        isLarge ? chaos.delta(on: view, size: 4) : chaos.edit(on: view).fitting(view))
                case 1: if !world.up[index].isEmpty { world.deliverUp(index) }
                default: if !world.down[index].isEmpty { try world.deliverDown(index) }
                }
            }
            try world.settle()
            #expect(world.hasConverged)
        }
    }

    /// A planted bug: a replica that misses one commit must notice.
    @Test func aLostOrAlteredCommitIsDetected() throws {
        var world = TestNetwork(tasks(3), replicas: 2)
        try world.edit(0, Delta.deleting(0..<1))
        try world.edit(0, Delta.deleting(0..<1))
        world.deliverUp(0)
        try world.deliverDown(0)
        world.deliverUp(0)
        var replica = world.replicas[1]
        guard case .commit(_, let first) = world.down[1][0], case .commit(_, let second) = world.down[1][1] else {
            return
        }
        #expect(throws: Replica.CommitError.wrongRevision(expected: 1, found: 2)) { try replica.receive(second) }
        var altered = first
        altered.delta = Delta.deleting(1..<2)
        let update = try replica.receive(altered)
        #expect(replica.hasDiverged)
        #expect(update.notices == [.diverged(revision: 1)])
    }
}

/// An edit that is made on whatever list exists when its turn comes: positions are brought into range, and it is an
/// identity if it has nothing to act on.
private enum Step {
    case insert([Item], at: Int, Side)
    case delete(Range<Int>)
    case move(Range<Int>, to: Int, Side)
    case edit(at: Int, String)
    case tick(at: Int)

    func delta(on list: Hand) -> Delta {
        let count = list.count
        switch self {
        case .insert(let items, let gap, let side): return .inserting(items, at: min(gap, count), side)
        case .delete(let range): return .deleting(range.clamped(to: 0..<count))
        case .move(let range, let gap, let side):
            return .moving(range.clamped(to: 0..<count), to: min(gap, count), side)
        case .edit(let index, let text): return count == 0 ? .identity : list.rewording(index < count ? index : 0, text)
        case .tick(let index):
            return count == 0 ? .identity : .editing(at: index < count ? index : 0, Change(done: true))
        }
    }
}

extension Delta {
    /// Returns the delta, or an identity if it does not fit the list.
    func fitting(_ list: Hand) -> Delta { (try? list.check(self)) == nil ? .identity : self }
}
