import HandCore
import HandScreens
import HandTestSupport
import Testing

/// Sub-items in the list's screen: what moves, goes and comes with an item.
@Suite struct LevelKeysTests {
    /// `a >b >>c d` is a list in which b belongs to a, and c to b.
    private static func stage(_ text: String, _ rules: Rules = Rules(), columns: Int = 80) -> Stage {
        let items = text.split(separator: " ").enumerated().map { place, word in
            Item(
                id: ItemID(rawValue: UInt64(place + 1) << 1), level: UInt8(word.prefix { $0 == ">" }.count),
                content: .task(String(word.drop { $0 == ">" }), done: false))
        }
        return Stage(["things": Hand(items, rules: rules)], columns: columns)
    }

    private static func text(_ stage: Stage) -> String {
        (stage.replicas["things"]?.view ?? Hand()).map { item in
            String(repeating: ">", count: Int(item.level)) + item.content.text
        }.joined(separator: " ")
    }

    /// The list before, the keys, the list after.
    static let rows: [(String, String, String)] = [
        // One level further in, with sub-items; not further than the item above allows.
        ("a b", "j tab", "a >b"), ("a b >c d", "j tab", "a >b >>c d"), ("a b", "tab", "a b"), ("a >b", "j tab", "a >b"),
        ("a b c", "j v j tab", "a >b >c"), ("a >b", "j shift-tab", "a b"), ("a >b >>c", "j shift-tab", "a b >c"),
        ("a b", "j shift-tab", "a b"), ("a b", "j >", "a >b"), ("a >b", "j <", "a b"),
        // A move takes sub-items along, and goes past others with theirs.
        ("a >b c", "J", "c a >b"), ("a b >c d", "J", "b >c a d"), ("a >b c", "j j K", "c a >b"),
        ("a >b c >d", "j j K", "c >d a >b"), ("a >b c", "b", "c a >b"), ("c a >b", "j t", "a >b c"),
        ("a >b >c", "j J", "a >c >b"), ("a b c", "2 J", "b c a"), ("a b c", "j j 2 K", "c a b"),
        // Items of different levels go past whole items.
        ("a >b c >d e >f", "j v j J", "a e >f >b c >d"), ("z >y a >b c", "j j j v j K", "z >y >b c a"),
        ("a >b c >d", "j v j shift-tab", "a b c >d"), ("a b", "t", "a b"), ("a b", "j b", "a b"),
        // So it does where one sees only a part of the list: it goes past what one sees.
        ("xa >b xc", "/ 'x' enter J", "xc xa >b"), ("xa >b xc", "/ 'x' enter j K", "xc xa >b"),
        ("xa b xc d", "/ 'x' enter J", "b xc xa d"), ("b xa c >xd xe", "/ 'x' enter j j K", "b xa xe c >xd"),
        ("xa >b xc", "/ 'x' enter v j J", "xa >b xc"), ("a xb c", "/ 'x' enter K", "a xb c"),
        // Where it can go past nothing, it stays, whatever one does not see within it.
        ("xa b xc d", "/ 'x' enter v j J", "xa b xc d"), ("b xa c xd", "/ 'x' enter v j K", "b xa c xd"),
        ("xa b xc d xe", "/ 'x' enter v j J", "b d xe xa xc"),
        // It goes below nothing that one does not see.
        ("a xb", "/ 'x' enter tab", "a xb"), ("xa >b xc", "/ 'x' enter j tab", "xa >b >xc"),
        ("a >xb >xc", "/ 'x' enter j tab", "a >xb >>xc"), ("a >b >xc", "/ 'x' enter tab", "a >b >xc"),
        // Cutting and copying take sub-items along; pasting puts them at the level of the item above.
        ("a >b c", "x", "c"), ("a >b c >d", "x j p", "c >d a >b"), ("a >b c", "y j j p", "a >b c a >b"),
        ("a >b c", "j x P", "a >b c"),
        // Deleting takes only the item, unless it is a range or is told.
        ("a >b c", "d", "b c"), ("a >b c", "D", "c"), ("a >b c", "v j d", "c"), ("a >b >>c d", "j D", "a d"),
        // What comes between an item and its sub-items becomes one of them; at the top, there is nothing to belong to.
        ("a >b >>c d", "o 'n' enter esc", "a >n >b >>c d"), ("a >b >>c d", "j o 'n' enter esc", "a >b >>n >>c d"),
        ("a >b c", "j O 'n' enter esc", "a >n >b c"), ("a >b c", "j j O 'n' enter esc", "a >b n c"),
        ("a >b c", "j j x k k p", "a >c >b"), ("a >b >>c d", "j j t", "c a >b d"), ("a >b >>c d", "j t", "b >c a d"),
        // Ticking changes no level. A new item has the level of the one above it.
        ("a >b", "j o 'n' enter esc", "a >b >n"), ("a >b", "O 'n' enter esc", "n a >b"),
        ("a >b", "a 'n' enter esc", "a >b >n"), ("a >b", "A 'n' enter esc", "n a >b"),
        ("a >b", "j o 'n' enter 'm' enter esc", "a >b >n >m"), ("a >b c", "u", "a >b c"), ("a b", "j tab u", "a b"),
    ]

    @Test(arguments: rows)
    func keysDo(before: String, keys: String, after: String) {
        var stage = Self.stage(before)
        stage.press(keys)
        #expect(Self.text(stage) == after, "\(before): \(keys)")
    }

    /// Whatever is added, pasted or moved, all other items belong to what they belonged to.
    @Test func nothingTakesOthersSubitems() {
        var random = SplitMix64(seed: testSeed(5_100, "levels"))
        let ways = [
            "o 'n' enter esc", "O 'n' enter esc", "y DOWN p", "y DOWN P", "x UP p", "x UP P", "J", "K", "t", "b",
        ]
        for round in 0..<400 {
            var (words, level) = ([String](), 0)
            for place in 0..<(2 + random.next(below: 7)) {
                level = random.next(below: min(level + 2, place + 1))
                words.append(String(repeating: ">", count: level) + "i\(place)")
            }
            let (before, way) = (words.joined(separator: " "), ways[round % ways.count])
            func steps(_ key: String) -> String {
                Array(repeating: key, count: random.next(below: words.count)).joined(separator: " ")
            }
            let keys = "\(steps("j")) " + way.replacing("DOWN", with: steps("j")).replacing("UP", with: steps("k"))
            var stage = Self.stage(before)
            let parents = Self.parents(stage)
            stage.press(keys)
            // What is moved takes its own along, and may belong to another item itself.
            let changed = Self.parents(stage).filter { item, parent in parents[item].map { $0 != parent } ?? false }
            let isMove = ["J", "K", "t", "b"].contains(way)
            #expect(changed.count <= (isMove ? 1 : 0), "\(before): \(keys): \(Self.text(stage))")
        }
    }

    /// What each item belongs to.
    private static func parents(_ stage: Stage) -> [ItemID: ItemID?] {
        let hand = stage.replicas["things"]?.view ?? Hand()
        return Dictionary(
            uniqueKeysWithValues: hand.indices.map { (hand[$0].id, hand.superitem(of: $0).map { hand[$0].id }) })
    }

    @Test func rulesBoundLevels() {
        var stage = Self.stage("a >b c", Rules(maximumLevel: 1))
        stage.press("j j tab")
        #expect(Self.text(stage) == "a >b >c")
        stage.press("tab")
        #expect(Self.text(stage) == "a >b >c")
        var flat = Self.stage("a b", Rules(maximumLevel: 0))
        flat.press("j tab")
        #expect(Self.text(flat) == "a b" && flat.lines.contains { $0.contains("have no levels") }, "\(flat.lines)")
    }

    /// What is pasted is not flattened without a word.
    @Test func whatIsPastedTooDeepIsSaid() {
        var stage = Self.stage("a >b c", Rules(maximumLevel: 1))
        stage.press("y p")
        #expect(Self.text(stage) == "a >a >b >b c")
        #expect(stage.lines.contains { $0.contains("the highest level of this list is 1") }, "\(stage.lines)")
        stage.press("G y p")
        #expect(!stage.lines.contains { $0.contains("the highest level") }, "\(stage.lines)")
        var flat = Self.stage("a", Rules(maximumLevel: 0))
        flat.press("o")
        flat.send(.input(.paste("- b\n  - c")))
        #expect(Self.text(flat) == "a b c")
        #expect(flat.lines.contains { $0.contains("have no levels") }, "\(flat.lines)")
    }

    /// Levels are indented, gaps in them are not; half of a narrow screen stays for the text.
    @Test func levelsAreShown() {
        func indents(_ text: String, columns: Int = 80) -> [Int] {
            let lines = Self.stage(text, columns: columns).lines.filter { $0.contains("[ ]") }
            let starts = lines.map { line in line.split(separator: "[", maxSplits: 1)[0].count }
            return starts.map { $0 - starts[0] }
        }
        #expect(indents("a >b >>c d") == [0, 2, 4, 0])
        #expect(indents("a >>>>b >c") == [0, 2, 2])
        #expect(indents(">>>a >b") == [0, 2])
        let deep = (0...15).map { String(repeating: ">", count: $0) + "x" }.joined(separator: " ")
        #expect(indents(deep, columns: 20).max() ?? 0 <= 10)
        #expect(indents(deep, columns: 20).count == 16)
    }
}
