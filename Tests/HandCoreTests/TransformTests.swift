import HandCore
import HandSimulation
import HandTestSupport
import Testing

@Suite struct TransformTests {
    static let first = Item(id: ItemID(rawValue: 100), content: .task("a", done: false))
    static let second = Item(id: ItemID(rawValue: 200), content: .task("b", done: false))

    /// Returns every delta, for two authors who insert and edit different things.
    static func deltas(_ count: Int, _ limit: Int) -> ([Delta], [Delta]) {
        (
            everyDelta(on: count, inserting: first, edit: Change(letter: "x", done: true), limit: limit),
            everyDelta(on: count, inserting: second, edit: Change(letter: "y"), limit: limit)
        )
    }

    /// TP1 and the definition: both ways around the diamond end in the merge that the naive oracle computes.
    static func check(_ list: [Item], _ a: Delta, _ b: Delta) throws {
        let hand = NaiveList(list)
        let merged = NaiveView.merge(
            earlier: NaiveView(a, count: list.count), later: NaiveView(b, count: list.count), on: list
        ).outcome(on: list)
        let throughA = try hand.applying(a).applying(b.transformed(over: a, as: .later))
        let throughB = try hand.applying(b).applying(a.transformed(over: b, as: .earlier))
        if throughA.items != merged || throughB.items != merged {
            Issue.record(
                "list \(list)\na \(a.components)\nb \(b.components)\nmerge \(merged)\n\(throughA)\n\(throughB)")
        }
    }

    @Test(arguments: [0, 1, 2])
    func everyPairOnSmallLists(count: Int) throws {
        let (left, right) = Self.deltas(count, .max)
        for a in left { for b in right { try Self.check(tasks(count), a, b) } }
        #expect(left.count == [3, 39, 729][count])
    }

    /// On three items there are 18,171 deltas and 330 million pairs: `HAND_EXHAUSTIVE=1` tests them all (hours).
    /// Otherwise this tests all pairs in which one delta has one edit and the other up to two, and a random sample of
    /// the rest.
    @Test func everyPairOnThreeItems() throws {
        let (left, right) = Self.deltas(3, .max)
        #expect(left.count == 18_171)
        if wantsExhaustiveTests {
            for a in left { for b in right { try Self.check(tasks(3), a, b) } }
            return
        }
        let (single, otherSingle) = Self.deltas(3, 1)
        let (double, otherDouble) = Self.deltas(3, 2)
        for a in single { for b in otherDouble { try Self.check(tasks(3), a, b) } }
        for a in double { for b in otherSingle { try Self.check(tasks(3), a, b) } }
        var random = SplitMix64(seed: testSeed(9))
        for _ in 0..<100_000 {
            let (a, b) = (left[random.next(below: left.count)], right[random.next(below: right.count)])
            try Self.check(tasks(3), a, b)
        }
    }

    @Test func randomPairsEndInTheOraclesMerge() throws {
        let seed = testSeed(1)
        var chaos = Chaos(seed: seed)
        for round in 0..<4000 {
            let list = NaiveList(chaos.items(chaos.random.next(below: 12)))
            let a = chaos.delta(on: list, size: 1 + round % 6)
            let b = chaos.delta(on: list, size: 1 + round / 7 % 6)
            try Self.check(list.items, a, b)
        }
    }

    @Test func randomPairsOnThousands() throws {
        var chaos = Chaos(seed: testSeed(2))
        for _ in 0..<10 {
            let list = NaiveList(chaos.items(3000))
            try Self.check(list.items, chaos.delta(on: list, size: 300), chaos.delta(on: list, size: 300))
        }
    }

    /// Transforming single edits gives the same result as the general transform.
    @Test(arguments: [0, 1, 2, 3, 4])
    func singleEditsAgree(count: Int) throws {
        let left = everySingleEdit(on: count, Self.first)
        let right = everySingleEdit(on: count, Self.second)
        for a in left {
            for b in right {
                let edit = try #require(SingleEdit(a))
                let other = try #require(SingleEdit(b))
                let general = a.transformed(over: b, as: .later)
                let shifts = [SingleEdit.PositionShift(other)]
                let (rest, passed) = shifts.withUnsafeBufferPointer { edit.transformed(over: $0[...]) }
                let meet = edit.kind == .reword && other.kind == .reword && edit.index == other.index
                #expect(passed == (meet ? 0 : 1))
                if meet { continue }
                let quick = rest.map { a.placed(at: $0) } ?? .identity
                #expect(general == quick, "\(a.components) over \(b.components)")
            }
        }
    }

    private func everySingleEdit(on count: Int, _ item: Item) -> [Delta] {
        var result: [Delta] = []
        for gap in 0...count {
            for side in Side.allCases {
                result.append(.inserting([item], at: gap, side))
                result.append(.inserting([item, Item(id: ItemID(rawValue: 999), content: .note(""))], at: gap, side))
                for index in 0..<count { result.append(.moving(index..<index + 1, to: gap, side)) }
            }
        }
        for index in 0..<count {
            result.append(.deleting(index..<index + 1))
            result.append(.editing(at: index, Change(letter: item.content.text)))
            result.append(.editing(at: index, Change(done: true)))
        }
        return [.identity] + result
    }

    @Test func everythingElseIsNotASingleEdit() throws {
        let two = try Delta([.insert([Self.first], .after), .keep(1), .insert([Self.second], .after)])
        #expect(SingleEdit(two) == nil)
        #expect(SingleEdit(try Delta([.delete(2)])) == nil)
        #expect(SingleEdit(try Delta([.pick(2), .keep(1), .drop(0..<2, .after, nil)])) == nil)
        #expect(SingleEdit(try Delta([.pick(1), .keep(1), .drop(0..<1, .after, Change(done: true))])) == nil)
    }

    /// A planted fault, where the earlier commit gets the place of the later, must be detected.
    @Test func aWrongTieRuleIsCaught() throws {
        let list = tasks(1)
        let a = Delta.inserting([Self.first], at: 1, .before)
        let b = Delta.inserting([Self.second], at: 1, .before)
        let right = try NaiveList(list).applying(a).applying(b.transformed(over: a, as: .later))
        let wrong = try NaiveList(list).applying(a).applying(b.transformed(over: a, as: .earlier))
        #expect(right != wrong)
    }
}
