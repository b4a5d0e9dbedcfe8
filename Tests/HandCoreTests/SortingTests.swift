import HandCore
import HandTestSupport
import Testing

@Suite struct SortingTests {
    /// A list sorted by the definition: a tree of siblings, cut at its headings.
    private struct Branch {
        let item: Item
        let level: Int
        var below: [Branch] = []

        var all: [(item: Item, level: Int)] { [(item, level)] + below.flatMap(\.all) }

        static func tree(_ items: [(item: Item, level: Int)]) -> [Branch] {
            var roots: [Branch] = []
            for entry in items {
                if let last = roots.last, entry.level > last.level {
                    roots[roots.count - 1].below.append(Branch(item: entry.item, level: entry.level))
                } else {
                    roots.append(Branch(item: entry.item, level: entry.level))
                }
            }
            return roots.map { root in
                var root = root
                root.below = tree(root.below.map { ($0.item, $0.level) })
                return root
            }
        }

        static func sorted(_ branches: [Branch], _ key: (Item) -> Int) -> [Branch] {
            var (result, section): ([Branch], [(Int, Branch)]) = ([], [])
            func finish() {
                section.sort { (key($0.1.item), $0.0) < (key($1.1.item), $1.0) }
                result += section.map(\.1)
                section = []
            }
            for (place, branch) in branches.enumerated() {
                var branch = branch
                branch.below = sorted(branch.below, key)
                if branch.item.content.kind == .heading || section.last.map({ $0.1.level != branch.level }) == true {
                    finish()
                }
                section.append((place, branch))
                if branch.item.content.kind == .heading { finish() }
            }
            finish()
            return result
        }
    }

    private static func shown(_ hand: Hand) -> [(item: Item, level: Int)] {
        hand.indices.map { (hand[$0], hand.shownLevel(at: $0)) }
    }

    private static func text(_ items: [(item: Item, level: Int)]) -> String {
        items.map { String(repeating: ">", count: $0.level) + $0.item.content.text + "\($0.item.id)" }
            .joined(separator: " ")
    }

    private static func list(_ random: inout SplitMix64) -> Hand {
        let (deepest, keys) = (1 + random.next(below: 5), 1 + random.next(below: 9))
        return Hand(
            (0..<random.next(below: 30)).map { place in
                let text = "\(random.next(below: keys))"
                return Item(
                    id: ItemID(rawValue: UInt64(place + 1)), level: UInt8(random.next(below: deepest)),
                    content: random.next(below: 8) == 0 ? .heading(text) : .note(text))
            })
    }

    /// Siblings are sorted, each with its sub-items, wherever the levels are; nothing is shown at another level, and
    /// the inverse gives the list back.
    @Test func siblingsAreSortedWithTheirSubitems() throws {
        var random = SplitMix64(seed: testSeed(61, "sort"))
        for _ in 0..<3_000 {
            let hand = Self.list(&random)
            var run = 0..<hand.count
            if random.next(below: 2) == 0, !hand.isEmpty {
                let start = random.next(below: hand.count)
                run = hand.withSubitems([start..<start + 1 + random.next(below: hand.count - start)])[0]
            }
            let sign = random.next(below: 2) == 0 ? 1 : -1
            let delta = hand.sorting(run, isReversed: sign < 0) { Int($0.content.text) ?? 0 }
            let new = try hand.applying(delta)
            let before = Self.shown(hand)
            let sorted = Branch.sorted(Branch.tree(Array(before[run])), { sign * (Int($0.content.text) ?? 0) })
            let expected = before[..<run.lowerBound] + sorted.flatMap(\.all) + before[run.upperBound...]
            #expect(Self.text(Self.shown(new)) == Self.text(Array(expected)), "\(Self.text(before)) \(run)")
            #expect(try new.applying(delta.inverted(on: hand)) == hand)
            #expect(new.sorting(run, isReversed: sign < 0) { Int($0.content.text) ?? 0 }.isIdentity)
        }
    }

    /// As many items stay as can: those of a longest sequence that is in order already.
    @Test func aSortMovesAsFewItemsAsPossible() {
        var random = SplitMix64(seed: testSeed(62, "moves"))
        for _ in 0..<300 {
            let keys = (0..<random.next(below: 30)).map { _ in random.next(below: 40) }
            let hand = Hand(
                keys.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: .note("\($1)")) })
            let delta = hand.sorting { Int($0.content.text) ?? 0 }
            var longest = [Int](repeating: 1, count: keys.count)
            for end in keys.indices {
                for start in 0..<end where keys[start] <= keys[end] {
                    longest[end] = max(longest[end], longest[start] + 1)
                }
            }
            let moved = delta.components.reduce(0) { if case .pick(let count) = $1 { $0 + count } else { $0 } }
            #expect(moved == keys.count - (longest.max() ?? 0), "\(keys)")
        }
    }
}
