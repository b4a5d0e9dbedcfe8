import HandCore
import HandSimulation
import HandTestSupport
import Testing

/// Passing commits through a tree and the general functions give the same result, to the last component.
@Suite struct CarriedDeltaTests {
    /// Checks the laws for one commit passing one delta.
    static func check(_ mine: Delta, _ commit: Delta, _ carried: inout CarriedDelta) throws {
        var follower = carried
        let passed = carried.pass(commit)
        try #require(follower.follow(commit) == passed.work && follower == carried)
        let left = mine.transformed(over: commit, as: .later)
        try #require(carried.delta == left, "\(mine.components)\npassed by \(commit.components)")
        let rest = commit.transformed(over: mine, as: .earlier)
        try #require(passed.rest == rest, "\(commit.components)\npassing \(mine.components)")
        try #require(passed.superseded == Delta.superseded(earlier: commit, later: mine))
    }

    @Test(arguments: [0, 1, 2])
    func everyPairOnSmallLists(count: Int) throws {
        let (commits, _) = TransformTests.deltas(count, count < 2 ? .max : 1)
        let (_, deltas) = TransformTests.deltas(count, .max)
        for commit in commits {
            for mine in deltas {
                var carried = CarriedDelta(mine, treeThreshold: 0)
                try Self.check(mine, commit, &carried)
            }
        }
    }

    @Test func somePairsOnThreeItems() throws {
        let (commits, deltas) = TransformTests.deltas(3, .max)
        var random = SplitMix64(seed: testSeed(72))
        for _ in 0..<20_000 {
            let (commit, mine) = (commits[random.next(below: commits.count)], deltas[random.next(below: deltas.count)])
            var carried = CarriedDelta(mine, treeThreshold: 0)
            try Self.check(mine, commit, &carried)
        }
    }

    /// Many commits one after the other: each passes the result of the one before.
    @Test(arguments: [(5, 3, 4), (40, 12, 30), (300, 60, 100), (3_000, 1_500, 20)])
    func passingManyCommitsAgreesWithTransforming(items: Int, size: Int, commits: Int) throws {
        var chaos = Chaos(seed: testSeed(71))
        for round in 0..<(items < 100 ? 200 : 3) {
            var list = NaiveList(chaos.items(items))
            var mine = chaos.delta(on: list, size: size)
            var carried = CarriedDelta(mine, treeThreshold: round % 3 == 0 ? CarriedDelta.treeThreshold : 0)
            for _ in 0..<commits {
                let commit = chaos.delta(on: list, size: round % 2 == 0 ? 1 : 1 + chaos.random.next(below: 5))
                let copy = carried
                try Self.check(mine, commit, &carried)
                #expect(copy.delta == mine)
                mine = mine.transformed(over: commit, as: .later)
                list = try list.applying(commit)
            }
        }
    }
}
