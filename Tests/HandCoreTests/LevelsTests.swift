import HandCore
import HandSimulation
import HandTestSupport
import Testing

@Suite struct LevelsTests {
    private static func list(_ levels: [UInt8]) -> Hand {
        Hand(
            levels.enumerated().map {
                Item(id: ItemID(rawValue: UInt64($0.offset + 1)), level: $0.element, content: .note("\($0.offset)"))
            })
    }

    /// The definition in `Protocol.md`, from the top down.
    private static func shown(_ levels: [UInt8]) -> [Int] {
        var shown: [Int] = []
        for level in levels { shown.append(min(Int(level), (shown.last ?? -1) + 1)) }
        return shown
    }

    /// Whatever the levels, each item has the shown level and the sub-items that the definition gives.
    @Test func everyListHasItsShownLevels() {
        var random = SplitMix64(seed: testSeed(3))
        for round in 0..<2_000 {
            let deepest = [2, 4, 16][round % 3]
            let levels = (0..<random.next(below: 40)).map { _ in UInt8(random.next(below: deepest)) }
            let (hand, shown) = (Self.list(levels), Self.shown(levels))
            for place in levels.indices {
                #expect(hand.shownLevel(at: place) == shown[place], "\(levels)")
                let end = shown[(place + 1)...].firstIndex { $0 <= shown[place] } ?? levels.count
                #expect(hand.subitems(of: place) == place + 1..<end, "\(levels)")
            }
            guard let start = levels.indices.randomElement(using: &random) else { continue }
            let run = start..<start + 1 + random.next(below: levels.count - start)
            let end = run.map { hand.subitems(of: $0).upperBound }.max() ?? 0
            #expect(hand.withSubitems([run]) == [run.lowerBound..<max(run.upperBound, end)], "\(levels) \(run)")
        }
    }

    @Test func runsThatTouchAreJoined() {
        let hand = Self.list([0, 1, 2, 0, 1, 0])
        #expect(hand.withSubitems([0..<1, 1..<2, 3..<4]) == [0..<5])
        #expect(hand.withSubitems([0..<1, 5..<6]) == [0..<3, 5..<6])
        #expect(hand.withSubitems([]) == [])
    }

    @Test(arguments: [
        ([0, 0, 0] as [UInt8], 1..<2, 1, [0, 1, 0] as [UInt8]?), ([0, 0, 1], 1..<3, 1, [0, 1, 2]),
        ([0, 1, 2], 1..<3, -1, [0, 0, 1]), ([0, 0], 0..<1, 1, nil), ([0, 1], 1..<2, 1, nil), ([0, 0], 1..<2, -1, nil),
        // A level that is not shown becomes the one that is shown.
        ([0, 9, 9], 1..<3, -1, [0, 0, 1]), ([0, 9], 1..<2, 1, nil),
        // Sub-items stay below their item.
        ([0, 1, 0, 1], 1..<4, -1, [0, 0, 0, 1]), ([0, 1, 2, 1, 0, 1, 2], 1..<7, -1, [0, 0, 1, 0, 0, 1, 2]),
    ])
    func itemsAreShifted(levels: [UInt8], run: Range<Int>, steps: Int, expected: [UInt8]?) throws {
        let hand = Self.list(levels)
        let shifted = try hand.shifting([run], by: steps).map { try hand.applying($0).map(\.level) }
        #expect(shifted == expected)
    }

    /// Whatever is deleted, each item that stays belongs to what is left of what it belonged to, and nothing else is
    /// changed.
    @Test func whatStaysBelongsToWhatIsLeft() throws {
        var random = SplitMix64(seed: testSeed(5))
        for round in 0..<2_000 {
            let deepest = [2, 4, 16][round % 3]
            let levels = (0..<random.next(below: 30)).map { _ in UInt8(random.next(below: deepest)) }
            let (hand, shown) = (Self.list(levels), Self.shown(levels))
            let goes = levels.map { _ in random.next(below: 3) == 0 }
            /// What an item belongs to: the nearest above at each lower level.
            func above(_ place: Int) -> [Int] {
                (0..<place).filter { upper in shown[upper...place].dropFirst().allSatisfy { $0 > shown[upper] } }
            }
            var runs: [Range<Int>] = []
            for place in levels.indices where goes[place] {
                if runs.last?.upperBound == place, random.next(below: 2) == 0 {
                    runs[runs.count - 1] = runs[runs.count - 1].lowerBound..<place + 1
                } else {
                    runs.append(place..<place + 1)
                }
            }
            let delta = hand.deleting(runs)
            let after = try hand.applying(delta)
            let left = levels.indices.filter { !goes[$0] }
            #expect(after.map(\.id) == left.map { hand[$0].id })
            #expect(
                after.indices.map { after.shownLevel(at: $0) } == left.map { above($0).count { !goes[$0] } },
                "\(levels) without \(runs)")
            let lifted = left.filter { place in above(place).contains { goes[$0] } }
            #expect(delta.changes.count <= lifted.count)
            for (place, item) in zip(left, after) where !lifted.contains(place) { #expect(item == hand[place]) }
            #expect(try hand.applying(hand.deleting(runs.flatMap { $0.map { $0..<$0 + 1 } })) == after)
        }
    }

    /// The deepest level stays the deepest.
    @Test func nothingIsDeeperThanTheDeepest() throws {
        let hand = Self.list((0...15).map { UInt8($0) } + [15])
        let run = 1..<17
        #expect(hand.shifting([run], by: 1) == nil)
        let other = Self.list([0, 0] + (1...15).map { UInt8($0) })
        let delta = try #require(other.shifting([1..<17], by: 1))
        #expect(try other.applying(delta).map(\.level) == [0, 1] + (2...15).map { UInt8($0) } + [15])
    }

    /// A level is a field: the later change wins, equal levels are no loss, and undo brings it back.
    @Test func aLevelIsAField() throws {
        let hand = Self.list([0, 3])
        let (one, two) = (Delta.editing(at: 1, Change(level: 1)), Delta.editing(at: 1, Change(level: 2)))
        #expect(try hand.applying(one).applying(two.transformed(over: one, as: .later))[1].level == 2)
        #expect(try hand.applying(two).applying(one.transformed(over: two, as: .earlier))[1].level == 2)
        #expect(
            Delta.superseded(earlier: one, later: two) == [Superseded(index: 1, loss: .edit(.level), loser: .earlier)])
        #expect(Delta.superseded(earlier: one, later: one).isEmpty)
        #expect(try hand.applying(one).applying(one.inverted(on: hand)).digest == hand.digest)
        #expect(try hand.applying(one).digest != hand.digest)
        #expect(Delta(from: hand, to: try hand.applying(one)) == one)
        #expect(Item(id: ItemID(rawValue: 1), level: 200, content: .note("")).level == 15)
        #expect(Change(level: 200).level == 15)
    }

    @Test func rulesMayBoundLevels() throws {
        let rules = Rules(maximumLevel: 2)
        let item = Item(id: ItemID(rawValue: 1), level: 3, content: .note(""))
        #expect(rules.violation(of: item) == .levelTooHigh(3, maximum: 2))
        #expect(Rules().violation(of: item) == nil)
        #expect(Rules.fiveCards.maximumLevel == 0 && Rules.fiveCards.contradiction == nil)
        var odd = Rules.fiveCards
        odd.maximumLevel = 1
        #expect(odd.contradiction != nil)
    }

    @Test(arguments: [
        (Rules(maximumCount: 0), "at least 1 item"), (Rules(allowedKinds: []), "at least 1 kind"),
        (Rules(allowedKinds: [.note], hasDeck: true), "must accept cards"),
        (Rules(maximumSize: 0, hasDeck: true), "must accept cards"),
        (Rules(allowedKinds: [.card], maximumSize: 0), "1 byte"),
    ])
    func impossibleRulesSayWhy(rules: Rules, reason: String) throws {
        #expect(try #require(rules.contradiction).contains(reason))
    }

    @Test func possibleRulesAreNoContradiction() {
        for rules in [Rules(), .fiveCards, Rules(maximumSize: 0), Rules(hasDeck: true), Rules(allowedKinds: [.card])] {
            #expect(rules.contradiction == nil)
        }
    }
}
