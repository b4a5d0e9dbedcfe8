import HandCore
import HandSimulation
import HandTestSupport
import Testing

@Suite struct AlgebraTests {
    /// `Hand` and the naive list give the same result for every delta, and the tree keeps its invariants.
    @Test func applyAgreesWithTheOracle() throws {
        var chaos = Chaos(seed: testSeed(3))
        for round in 0..<300 {
            let list = NaiveList(chaos.items(chaos.random.next(below: round % 10 == 0 ? 3000 : 40)))
            var hand = Hand(list.items)
            var naive = list
            for _ in 0..<5 {
                let delta = chaos.delta(on: naive, size: 1 + round % 20)
                naive = try naive.applying(delta)
                for rewriting in [false, true] {
                    #expect(Array(try hand.applying(delta, rewriting: rewriting)) == naive.items)
                }
                hand = try hand.applying(delta)
                #expect(Array(hand) == naive.items)
                #expect(hand.digest == Hand(naive.items).digest)
                #expect(hand.brokenInvariant() == nil)
            }
        }
    }

    @Test func applyIsATypedErrorOnDeltasThatDoNotFit() throws {
        let hand = Hand(tasks(2))
        #expect(throws: Delta.Misfit.tooFewItems(reach: 3, count: 2)) { try hand.applying(Delta([.delete(3)])) }
        let url = Delta.editing(at: 1, Change(url: TextChange(from: "", to: "x")))
        #expect(throws: Delta.Misfit.change(.fieldsDoNotExist(.url, of: .task), index: 1)) { try hand.applying(url) }
        let moved = try Delta([.pick(1), .keep(1), .drop(0..<1, .after, Change(bytes: [1]))])
        #expect(throws: Delta.Misfit.change(.fieldsDoNotExist(.bytes, of: .task), index: 0)) {
            try hand.applying(moved)
        }
        var copy = hand
        #expect(throws: Delta.Misfit.self) { try copy.apply(Delta([.delete(1), .edit(Change(card: .faceDown))])) }
        #expect(copy == hand)
    }

    @Test(arguments: [0, 1, 2])
    func composeOfEveryPair(count: Int) throws {
        let first = everyDelta(on: count, inserting: TransformTests.first, edit: Change(letter: "x"), limit: 2)
        for a in first {
            let middle = try NaiveList(tasks(count)).applying(a)
            let next = everyDelta(
                on: middle.count, inserting: TransformTests.second, edit: Change(done: true), limit: 1)
            for b in next {
                let both = a.composed(with: b)
                #expect(try NaiveList(tasks(count)).applying(both) == middle.applying(b), "\(a) \(b)")
            }
        }
    }

    @Test func composeOfManySingleEdits() throws {
        var chaos = Chaos(seed: testSeed(4))
        for _ in 0..<20 {
            let list = NaiveList(tasks(50))
            var now = list
            var composer = Composer()
            for _ in 0..<200 {
                let delta = chaos.edit(on: now)
                now = try now.applying(delta)
                composer.append(delta)
            }
            #expect(try list.applying(composer.delta) == now)
        }
    }

    @Test func composeOfLargeDeltas() throws {
        var chaos = Chaos(seed: testSeed(5))
        for round in 0..<400 {
            let list = NaiveList(chaos.items(30))
            let a = chaos.delta(on: list, size: 1 + round % 12)
            let middle = try list.applying(a)
            let b = chaos.delta(on: middle, size: 1 + round % 7)
            let end = try middle.applying(b)
            let c = chaos.delta(on: end, size: 3)
            #expect(try list.applying(a.composed(with: b)) == end)
            #expect(try list.applying(a.composed(with: b).composed(with: c)) == end.applying(c))
            #expect(try list.applying(a.composed(with: b.composed(with: c))) == end.applying(c))
        }
    }

    @Test func invertUndoesExactly() throws {
        var chaos = Chaos(seed: testSeed(6))
        for round in 0..<1000 {
            let list = NaiveList(chaos.items(chaos.random.next(below: 20)))
            let delta = chaos.delta(on: list, size: 1 + round % 8)
            let after = try list.applying(delta)
            let inverse = delta.inverted(on: list)
            #expect(try after.applying(inverse) == list)
            #expect(try list.applying(inverse.inverted(on: after)) == after)
        }
    }

    /// In place, a delta is applied if it leads to the expected list; otherwise the list stays as it was.
    @Test func applyInPlaceLeadsToTheExpectedListOrNowhere() throws {
        var chaos = Chaos(seed: testSeed(8))
        for round in 0..<1000 {
            let before = Hand(chaos.items(chaos.random.next(below: 20)))
            let delta = chaos.delta(on: before, size: round % 8)
            let after = try before.applying(delta)
            var hand = Hand(Array(before))
            for (digest, count) in [(after.digest ^ 1, after.count), (after.digest, after.count + 1)] {
                #expect(try !hand.apply(delta, leadingTo: digest, count: count))
                #expect(hand == before && hand.digest == before.digest && hand.brokenInvariant() == nil)
            }
            #expect(try hand.apply(delta, leadingTo: after.digest, count: after.count))
            #expect(hand == after && hand.brokenInvariant() == nil)
        }
        var short = Hand(tasks(1))
        #expect(throws: Delta.Misfit.self) { try short.apply(Delta([.keep(4), .delete(1)]), leadingTo: 0, count: 0) }
    }

    @Test func diffGivesTheTargetWithFewestMoves() throws {
        var chaos = Chaos(seed: testSeed(7))
        for round in 0..<500 {
            let old = NaiveList(chaos.items(chaos.random.next(below: 20)))
            let new = try old.applying(chaos.delta(on: old, size: 1 + round % 8))
            let diff = Delta(from: old.items, to: new.items)
            #expect(try old.applying(diff) == new)
            let kept = Set(old.items.map(\.id)).intersection(new.items.map(\.id))
            #expect(diff.growth == new.count - old.count)
            #expect(Set(diff.insertedItems.map(\.id)).isDisjoint(with: kept), "an item in both lists is not inserted")
        }
        // All orders of six items, of which one is new and one is gone.
        let six = tasks(6)
        for number in 0..<720 {
            var (left, rest, order) = (Array(0..<6), number, [Int]())
            for count in stride(from: 6, to: 0, by: -1) {
                order.append(left.remove(at: rest % count))
                rest /= count
            }
            let new = order.map { six[$0] }
            let diff = Delta(from: Array(six[..<5]), to: new.filter { $0.id != six[0].id })
            let kept = order.filter { (1..<5).contains($0) }
            let moved = diff.components.reduce(0) { if case .pick(let count) = $1 { $0 + count } else { $0 } }
            #expect(moved == kept.count - longestIncreasing(kept), "\(order)")
        }
        let list = tasks(100)
        let rotated = Array(list[1...]) + [list[0]]
        #expect(Delta(from: list, to: rotated).componentCount == 3)
        #expect(Delta(from: list, to: list).isIdentity)
    }

    /// The length of the longest increasing subsequence, found by trying all subsequences.
    private func longestIncreasing(_ values: [Int]) -> Int {
        (0..<1 << values.count).map { mask in
            let chosen = values.indices.filter { mask >> $0 & 1 == 1 }.map { values[$0] }
            return chosen == chosen.sorted() ? chosen.count : 0
        }.max() ?? 0
    }

    /// Searching for ids, from any position on, finds the same items as comparing each item.
    @Test func itemsAreFoundByID() {
        var chaos = Chaos(seed: testSeed(9))
        let list = Hand(chaos.items(500))
        for round in 0..<200 {
            let ids = (0..<3).map { _ in list[chaos.random.next(below: 500)].id }.sorted()
            let wanted = round % 2 == 0 ? [ids[2]...ids[2], ids[0]...ids[0]] : [ids[0]...ids[1], ids[1]...ids[2]]
            let start = chaos.random.next(below: 501)
            var found: [Int] = []
            list.forEachPosition(of: wanted, from: start) { position in
                found.append(position)
                return found.count < 20
            }
            let expected = list.indices.filter { index in
                index >= start && wanted.contains { $0.contains(list[index].id) }
            }
            #expect(found == Array(expected.prefix(20)))
        }
    }

    @Test func mapFollowsItemsAndGaps() throws {
        var chaos = Chaos(seed: testSeed(8))
        let marker = Item(id: ItemID(rawValue: 7), content: .note("cursor"))
        for round in 0..<500 {
            let list = NaiveList(chaos.items(10))
            let delta = chaos.delta(on: list, size: 1 + round % 6)
            let after = try list.applying(delta)
            for index in 0..<list.count {
                #expect(delta.map(index: index) == after.items.firstIndex { $0.id == list[index].id })
                #expect(delta.map(index: index).map(delta.origin) ?? index == index)
            }
            // Some of them, one behind the end.
            let some = (0...list.count).filter { $0 % 3 != round % 3 }
            let mapped = delta.map(indices: some)
            #expect(mapped.map(\.old) == some.filter { delta.map(index: $0) != nil })
            #expect(mapped.map(\.new) == some.compactMap(delta.map(index:)))
            for gap in 0...list.count {
                for side in Side.allCases {
                    let cursor = Delta.inserting([marker], at: gap, side).transformed(over: delta, as: .later)
                    let expected = try after.applying(cursor).items.firstIndex { $0.id == marker.id }
                    #expect(delta.map(gap: gap, side) == expected, "\(gap) \(side) \(delta.components)")
                }
            }
        }
    }

    @Test func normalFormIsUnique() throws {
        let item = TransformTests.first
        let other = TransformTests.second
        let wild = try Delta([
            .keep(1), .keep(0), .keep(1), .insert([item], .before), .insert([], .before), .insert([other], .after),
            .delete(1), .delete(2), .edit(Change()), .keep(3),
        ])
        #expect(wild.components == [.keep(2), .insert([item, other], .after), .delete(3)])
        #expect(try Delta(wild.components) == wild)
        #expect(wild.reach == 5)
        #expect(wild.growth == -1)
    }

    @Test func malformedComponentsAreTypedErrors() {
        #expect(throws: Delta.Malformed.negativeCount(component: 1)) { try Delta([.keep(1), .delete(-1)]) }
        #expect(throws: Delta.Malformed.slotsDoNotMatch(picked: 1)) { try Delta([.pick(1)]) }
        #expect(throws: Delta.Malformed.slotsDoNotMatch(picked: 1)) {
            try Delta([.drop(0..<1, .after, nil), .pick(1), .drop(0..<1, .after, nil)])
        }
        #expect(throws: Delta.Malformed.slotsDoNotMatch(picked: 0)) { try Delta([.drop(1..<2, .after, nil)]) }
        #expect(throws: Delta.Malformed.changedBlock(component: 1)) {
            try Delta([.pick(2), .drop(0..<2, .after, Change(done: true))])
        }
    }
}
