import HandCore
import HandFormats
import HandScreens
import HandTestSupport
import HandWire
import Testing

/// Ticked tasks are shown last, and nothing moves in the list.
@Suite struct TickedLastTests {
    /// The texts of the rows.
    private static func shown(_ stage: Stage) -> [String] {
        stage.lines.dropFirst().dropLast(2).compactMap { line in
            line.firstMatch(of: #/\[[ x]\] (\S+)/#).map { String($0.1) }
        }
    }

    @Test func aTickedTaskGoesDownAfterAMoment() throws {
        var stage = KeyTests.stage("a b c d")
        stage.press("B space")
        #expect(Self.shown(stage) == ["a", "b", "c", "d"], "it stays for a moment")
        stage.press("j space")
        stage.wait(try #require(stage.app.deadline) - stage.now)
        #expect(Self.shown(stage) == ["c", "d", "a", "b"] || stage.app.deadline != nil)
        stage.wait(5_000)
        #expect(Self.shown(stage) == ["c", "d", "a", "b"])
        #expect(stage.hand().map(\.content.text) == ["a", "b", "c", "d"], "nothing has moved")
        #expect(stage.lines[2].hasPrefix("▸") && stage.lines[2].contains(" d"), "the cursor stays on its row")
        stage.press("G space")
        stage.wait(5_000)
        #expect(Self.shown(stage) == ["b", "c", "d", "a"])
        #expect(stage.lines[0].contains("ticked last"))
        stage.press("B")
        #expect(Self.shown(stage) == ["a", "b", "c", "d"])
        #expect(stage.commands.count { if case .edit = $0 { true } else { false } } == 3, "only ticks are edits")
    }

    /// The cursor goes to the next row that is shown, whoever deletes what it was on.
    @Test(arguments: ["d", "x", ""]) func whatIsDeletedGivesTheCursorToTheNextRow(key: String) {
        var stage = KeyTests.stage("a +b c d")
        stage.press("B")
        if key.isEmpty { stage.remote(.deleting(0..<1)) } else { stage.press(key) }
        #expect(Self.shown(stage) == ["c", "d", "b"])
        #expect(stage.lines[1].hasPrefix("▸") && stage.lines[1].contains(" c"), "\(stage.lines[1])")
    }

    @Test func theLastRowGivesTheCursorToThePreviousOne() {
        var stage = KeyTests.stage("a +b c d +e f")
        stage.press("B G k d")
        #expect(Self.shown(stage) == ["a", "c", "d", "f", "e"])
        stage.press("G d")
        #expect(stage.lines[4].hasPrefix("▸") && stage.lines[4].contains(" f"), "\(stage.lines)")
    }

    /// An item goes beneath what is above it in the list: not if something else is above it on the screen.
    @Test(arguments: [
        ("a +x b c", "B j tab", [0, 0, 0, 0]), ("a b +x +y", "B j tab", [0, 1, 0, 0]),
        ("a b +x +y", "B G tab", [0, 0, 0, 1]), ("a b +x c", "B G tab", [0, 0, 0, 0]),
    ])
    func itemsGoBeneathWhatIsAboveThem(list: String, keys: String, levels: [UInt8]) {
        var stage = KeyTests.stage(list)
        stage.press(keys)
        #expect(stage.hand().map(\.level) == levels)
        #expect(levels.contains(1) != stage.lines.contains { $0.contains("which is not shown above it") })
    }

    /// While somebody else ticks and ticks, what they ticked first still goes down in time.
    @Test func othersTicksDoNotHoldTheirs() {
        var stage = KeyTests.stage("a b c d e")
        stage.press("B")
        for place in 0..<4 {
            stage.remote(.changing([place..<place + 1], Change(done: true)))
            stage.wait(500)
        }
        #expect(Self.shown(stage) == ["d", "e", "a", "b", "c"])
    }

    /// What keys do while ticked tasks are last: in the list, and on the screen.
    static let lastRows: [(String, String, String, String)] = [
        // Items move past what is beside them on the screen, and not between ticked and others.
        ("a +x b c", "B J", "+x b a c", "b a c x"), ("a +x b c", "B j K", "b a +x c", "b a c x"),
        ("a +x b", "B j J", "a +x b", "a b x"), ("a +x b +y", "B j j J", "a b +y +x", "a b y x"),
        ("a +x b c", "B 2 J", "+x b c a", "b c a x"),
        // New items come below the current one; at the end, above the ticked ones.
        ("a +x b", "B o 'n' enter esc", "a n +x b", "a n b x"), ("a b +x", "B a 'n' enter esc", "a b +x n", "a b n x"),
        ("+x a", "B G o 'n' enter esc", "+x n a", "n a x"),
        // A selection is what is selected on the screen.
        ("a +x b c", "B v j d", "+x c", "c x"), ("a +x b c", "B ctrl-a d", "", ""),
        ("a +x b c", "B j v j J", "a +x b c", "a b c x"),
        ("a +x b c", "B v j y G p", "a +x a b b c", "a a b b c x"), ("a +x b", "B S", "a b", "a b"),
        ("a +x b", "B s", "a +x b", "a b"),
        ("a +x ab +ay", "B / 'a' enter G d", "a +x ab", "a ab"), ("+x a", "B : '1' enter d", "a", "a"),
    ]

    @Test(arguments: lastRows)
    func keysDoWhileTickedAreLast(before: String, keys: String, after: String, shown: String) {
        var stage = KeyTests.stage(before)
        stage.press(keys)
        stage.wait(5_000)
        #expect(stage.hand().map { ($0.content.isTicked ? "+" : "") + $0.content.text }.joined(separator: " ") == after)
        #expect(Self.shown(stage).joined(separator: " ") == shown)
    }

    /// Whatever happens, the rows are those of the list sorted by what is done; with a filter and with folds, too.
    @Test func theRowsAreInOrder() throws {
        var random = SplitMix64(seed: testSeed(63, "ticked last"))
        for round in 0..<60 {
            let items = (0..<random.next(below: 9)).map { place in
                Item(
                    id: ItemID(rawValue: random.next()), level: UInt8(random.next(below: 3)),
                    content: random.next(below: 6) == 0
                        ? .heading("h\(place)")
                        : .task(
                            "\("ab".randomElement(using: &random) ?? "a")\(place)", done: random.next(below: 2) == 0))
            }
            var stage = Stage(["things": Hand(items)], rows: 30)
            let query = random.next(below: 3) == 0 ? "a" : ""
            stage.press(query.isEmpty ? "B" : "/ '\(query)' enter B")
            for step in 0..<25 {
                let count = stage.hand().count
                let place = count == 0 ? 0 : random.next(below: count)
                switch random.next(below: 8) {
                case 0: stage.press(["z", "Z"][random.next(below: 2)])
                case 1: stage.press(["tab", "shift-tab"][random.next(below: 2)])
                case 2: stage.press(["J", "K", "b", "t"][random.next(below: 4)])
                case 3: stage.press("o '\(random.next(below: 2) == 0 ? "a" : "b")\(step)n' enter esc")
                case 4 where count > 0:
                    stage.remote(.moving(place..<place + 1, to: random.next(below: count + 1), .after))
                case 5 where count > 4: stage.remote(.deleting(place..<place + 1))
                default: stage.press(["j", "k", "G"][random.next(below: 3)] + " space")
                }
                stage.confirm()
                stage.wait(5_000)
                let hand = stage.hand()
                let sorted = try hand.applying(ItemOrder.done.sorting(hand))
                func isFolded(_ line: String) -> Bool { line.contains(" hidden") || line.contains("+1") }
                let all = sorted.map(\.content.text).filter { query.isEmpty || $0.contains(query) }
                let texts = stage.lines.dropFirst().dropLast(2).compactMap { line in
                    line.firstMatch(of: #/\b([abh]\d+n?)\b/#).map { String($0.1) }
                }
                if !stage.lines.contains(where: { $0.contains(" hidden") }) {
                    try #require(texts == all, "round \(round), step \(step)")
                }
                // With folds, the rest is in the same order.
                let rest = all.filter(texts.contains)
                try #require(texts == rest && Set(texts).count == texts.count, "round \(round), step \(step)")
            }
        }
    }
}
