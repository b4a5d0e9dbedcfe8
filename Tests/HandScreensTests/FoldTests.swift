import HandCore
import HandScreens
import HandTestSupport
import Testing

/// Folded items: what is shown, what goes along, what is unfolded.
@Suite struct FoldTests {
    /// `a >b >>+c d`: b belongs to a, and c, which is done, to b. Ids follow the order.
    private static func hand(_ text: String) -> Hand {
        Hand(
            text.split(separator: " ").enumerated().map { place, word in
                let (level, text) = (word.prefix { $0 == ">" }.count, word.drop { $0 == ">" })
                return Item(
                    id: ItemID(rawValue: UInt64(place + 1) << 1), level: UInt8(level),
                    content: .task(String(text.drop { $0 == "+" }), done: text.hasPrefix("+")))
            })
    }

    private static func stage(_ text: String, rows: Int = 24, columns: Int = 80) -> Stage {
        Stage(["things": hand(text)], rows: rows, columns: columns)
    }

    private static func text(_ hand: Hand) -> String {
        hand.map { item in
            String(repeating: ">", count: Int(item.level))
                + (item.content == .task(item.content.text, done: true) ? "+" : "")
                + item.content.text
        }.joined(separator: " ")
    }

    /// The rows as they are drawn: `*a(2)` is under the cursor, and hides two items.
    private static func shown(_ stage: Stage) -> String {
        let rows = stage.lines.dropFirst().dropLast(2).filter { $0.contains("[") }
        let left = rows.map { row in row.prefix { $0 != "[" }.count }
        return zip(rows, left).map { row, column in
            let level = (column - (left.min() ?? 0)) / 2
            let words = row.dropFirst(column + 4).split(separator: " ")
            let hidden = words.count > 2 && words[2].hasPrefix("hidden") ? "(\(words[1]))" : ""
            return (row.hasPrefix("▸") ? "*" : "") + String(repeating: ">", count: level)
                + (row.contains("[x]") ? "+" : "") + words[0] + hidden
        }.joined(separator: " ")
    }

    /// The list before, the keys, what is shown, and the list after; nil if it is the same.
    static let rows: [(String, String, String, String?)] = [
        ("a >b >>c d", "z", "*a(2) d", nil), ("a >b >>c d", "z z", "*a >b >>c d", nil),
        ("a >b >>c d", "j z", "a *>b(1) d", nil), ("a >b >>c d", "j z k z", "*a(2) d", nil),
        ("a >b >>c d", "j z k z z", "*a >b(1) d", nil), ("a >>>b >c", "z", "*a(2)", nil),
        // Without sub-items, the item that it belongs to; without one, nothing.
        ("a >b >>c d", "j j z", "a *>b(1) d", nil), ("a >b >>c >d", "j j j z", "*a(3)", nil),
        ("a >b c", "j j z", "a >b *c", nil),
        ("a >b >>c d", "Z", "*a(2) d", nil), ("a >b >>c d", "j j Z", "*a(2) d", nil),
        ("a >b >>c d", "Z z", "*a >b(1) d", nil), ("a >b >>c d", "j z Z", "a *>b >>c d", nil),
        ("a b", "Z", "*a b", nil),
        // Rows and numbers.
        ("a >b >>c d", "z j", "a(2) *d", nil), ("a >b >>c d", "z G", "a(2) *d", nil),
        ("a >b >>c d e", "z 2 j", "a(2) d *e", nil), ("a >b >>c d e", "z 4 G", "a(2) *d e", nil),
        // Whoever goes to an item sees it.
        ("a >b >>c d", "z 2 G", "a *>b >>c d", nil), ("a >b >>c d", "Z : '3' enter", "a >b *>>c d", nil),
        ("a >b >>c d", "Z 2 g g", "a *>b(1) d", nil),
        ("a >b >>c d", "Z / 'c' enter", "*c", nil), ("a >b >>c d", "Z / 'c' enter j esc", "a >b *>>c d", nil),
        ("a >b >>c d", "Z / 'c' esc", "*a(2) d", nil), ("a >b >>c d", "/ 'c' enter z Z esc", "a >b *>>c d", nil),
        // What is hidden goes with the item.
        ("a >b >>c d", "z d", "*d", "d"), ("a >b c >d e", "z v j z d", "*e", "e"),
        ("a >b >>c d", "z D", "*d", "d"), ("a >b >>c d", "z d u", "*a(2) d", nil),
        ("a >b >>c d", "Z d u z", "*a >b(1) d", nil), ("a >b >>c d", "z x", "*d", "d"),
        ("a >b >>c d", "z x p", "d *a(2)", "d a >b >>c"), ("a >b >>c d", "Z x p z", "d *a >b(1)", "d a >b >>c"),
        ("a >b c", "z y j p", "a(1) c *a(1)", "a >b c a >b"), ("a >b >>c d", "x p", "d *a >b >>c", "d a >b >>c"),
        ("a >b c", "z J", "c *a(1)", "c a >b"), ("a >b c", "z b", "c *a(1)", "c a >b"),
        ("a >b c", "z tab", "*a(1) c", nil), ("x a >b c", "j z tab", "x *>a(1) c", "x >a >>b c"),
        ("a >b c", "z space", "*+a(1) c", "+a >b c"), ("a >b c", "z ctrl-a space", "+a(1) *+c", "+a >b +c"),
        ("a >b c", "z ctrl-a d", "", ""), ("a >+b c", "S", "*a c", "a c"),
        // Past what is hidden.
        ("a b >c d", "j z k J", "b(1) *a d", "b >c a d"), ("a >b c", "z j K", "*c a(1)", "c a >b"),
        ("a b >c d >e", "j z j z k k 2 J", "b(1) d(1) *a", "b >c d >e a"),
        ("a >b c >d e", "z j z j 2 K", "*e a(1) c(1)", "e a >b c >d"), ("a >b c", "z j p", "a(1) *c", nil),
        ("a >b c", "j j y k k z p", "a(1) *c c", "a >b c c"), ("a >b c", "j j y k k z j P", "a(1) *c c", "a >b c c"),
        ("a >b c", "z o 'n' enter esc", "a(1) *n c", "a >b n c"),
        ("a >b c", "z j O 'n' enter esc", "a(1) *n c", "a >b n c"),
        ("a >b", "z a 'n' enter 'm' enter esc", "a(1) n *m", "a >b n m"),
        // What the user has just edited does not disappear.
        ("a >b c", "z j tab", "a >b *>c", "a >b >c"), ("a >b c d", "z j v j tab", "a >b >c *>d", "a >b >c >d"),
        ("a >b c >d", "j j z k J", "a c >d *>b", "a c >d >b"), ("a >b x >c", "z j d", "a(1) *c", "a >b c"),
        // Ticked items may be hidden, too.
        ("a >+b >c d", "s z", "*a(2) d", nil), ("a >+b c", "s z", "*a(1) c", nil), ("a >+b c", "z s j", "a(1) *c", nil),
        ("+a >b c", "s z", "*>b c", nil), ("a >b c", "z s space", "*>b c", "+a >b c"),
        ("+a >b c", "z s", "*>b c", nil), ("+a >b c", "z s s", "*+a(1) c", nil), ("a >b >+x c", "z s d", "*c", "c"),
        ("a >b >+x c", "z s J", "c *a(2)", "c a >b >+x"), ("c a >b >+x", "s j z K", "*a(2) c", "a >b >+x c"),
    ]

    @Test(arguments: rows)
    func keysShow(before: String, keys: String, shown: String, after: String?) {
        var stage = Self.stage(before)
        stage.press(keys)
        #expect(Self.shown(stage) == shown, "\(before): \(keys)")
        #expect(Self.text(stage.hand()) == after ?? before, "\(before): \(keys)")
    }

    private static func item(_ text: String, level: UInt8) -> Item {
        Item(id: ItemID(rawValue: 77), level: level, content: .task(text, done: false))
    }

    /// The list, the keys, somebody else's edit, what is shown.
    static let remote: [(String, String, Delta, String)] = [
        // What comes into a folded item is hidden and counted.
        ("a >b c", "z", .inserting([item("n", level: 1)], at: 1, .after), "*a(2) c"),
        ("a >b c", "z", .inserting([item("n", level: 1)], at: 2, .after), "*a(2) c"),
        ("a >b c", "z", .inserting([item("n", level: 0)], at: 2, .after), "*a(1) n c"),
        ("a >b >c d", "z", .inserting([item("n", level: 0)], at: 2, .after), "*a(1) n >c d"),
        ("a >b c", "z", .editing(at: 2, Change(level: 1)), "*a(2)"),
        ("a >b c", "z j", .editing(at: 2, Change(level: 1)), "*a(2)"),
        ("a >b c", "z", .editing(at: 1, Change(level: 0)), "*a b c"), ("a >b c", "z", .deleting(1..<2), "*a c"),
        ("a >b c", "z j", .deleting(0..<1), "b *c"), ("a >b >>c d", "z j", .deleting(0..<1), "b >c *d"),
        ("x a >b >>c", "j z", .editing(at: 1, Change(level: 1)), "x *>a >b >>c"),
        ("x >a >b >>c", "j j z", .deleting(0..<1), "a *>b(1)"),
        ("a >b c", "z j", .moving(1..<2, to: 3, .after), "a *c >b"),
        ("a >b c", "z", .moving(0..<1, to: 3, .after), "b c *a"),
        ("a >b c", "z", .moving(0..<2, to: 3, .after), "c *a(1)"),
        ("a >b c", "z", .moving(2..<3, to: 0, .after), "c *a(1)"),
        // Whoever types in an item goes on.
        ("a >b c", "z j e 'x'", .editing(at: 2, Change(level: 1)), "a >b *>"),
    ]

    @Test(arguments: remote)
    func othersEditsAreFollowed(before: String, keys: String, delta: Delta, shown: String) {
        var stage = Self.stage(before)
        stage.press(keys)
        stage.remote(delta)
        #expect(Self.shown(stage) == shown || shown.hasSuffix(">") && stage.lines.contains { $0.contains("✎ cx") })
    }

    @Test func messagesTellWhatIsHidden() {
        func said(_ text: String, _ keys: String) -> String {
            var stage = Self.stage(text)
            stage.press(keys)
            return stage.lines[22]
        }
        #expect(said("a >b >>c d", "z d") == "3 items, 2 of them hidden, deleted; u undoes")
        #expect(said("a >b >>c d", "j z k D") == "3 items, 1 of them hidden, deleted; u undoes")
        #expect(said("a >b >>c d", "z x") == "3 items, 2 of them hidden, cut; p pastes")
        #expect(said("a >b >>c d", "z j d") == "'[ ] d' deleted; u undoes")
        #expect(said("a >b >>c d", "G z") == "this item has no sub-items")
        #expect(said("a b", "Z") == "no item has sub-items")
        #expect(said("a >b", "Z") == "everything is folded; Z unfolds it")
        #expect(said("a >b", "Z Z") == "everything is unfolded; Z folds it")
        #expect(
            said("a >b", "/ 'b' enter z") == "what is looked for is shown even if it is folded; esc shows everything")
    }

    @Test func theLineSaysWhatItHides() {
        func line(_ text: String, columns: Int = 80) -> String {
            var stage = Self.stage(text, columns: columns)
            stage.press("z")
            return stage.lines[1].trimmingPrefix { $0 != "[" }.description
        }
        #expect(line("a >+b >c >>+d e").hasPrefix("[ ] a  3 hidden, 2 of 3 done"))
        #expect(line("a >+b >c >>+d e", columns: 30).hasPrefix("[ ] a  +3, 2/3"))
        #expect(line("a >+b >c >>+d e", columns: 16).hasPrefix("[ ] a  +3"))
        let long = String(repeating: "x", count: 200)
        #expect(line("\(long) >b").hasSuffix("x  1 hidden, 0 of 1 done"))
        var notes = Stage([
            "things": Hand([Self.item("a", level: 0), Item(id: ItemID(rawValue: 1), level: 1, content: .note("b"))])
        ])
        notes.press("z")
        #expect(notes.lines[1].hasSuffix("[ ] a  1 hidden"))
    }

    /// On the line of the item that hides where they are.
    @Test func othersAreShownOnTheFoldedLine() {
        var stage = Self.stage("a >b >>c d")
        stage.presence("Bob", on: stage.hand()[2].id, isEditing: true)
        stage.press("z")
        #expect(stage.lines[1].hasSuffix("✎ Bob") && !stage.lines[2].contains("Bob"), "\(stage.lines)")
        stage.presence("Cat", on: stage.hand()[1].id, author: 3)
        #expect(stage.lines[1].hasSuffix("✎ Bob ◂Cat"), "\(stage.lines)")
        stage.remote(.inserting([Self.item("n", level: 0)], at: 0, .after))
        #expect(stage.lines[2].hasSuffix("✎ Bob ◂Cat"), "\(stage.lines)")
        stage.presence("Cat", on: stage.hand()[4].id, author: 3)
        #expect(stage.lines[2].hasSuffix("✎ Bob") && stage.lines[3].hasSuffix("◂Cat"), "\(stage.lines)")
        stage.press("z")
        #expect(stage.lines[4].hasSuffix("✎ Bob"), "\(stage.lines)")
    }

    @Test func theMouseFindsRows() {
        var stage = Self.stage("a >b c >d e")
        stage.press("z j z")
        stage.mouse(.press, row: 3)
        stage.mouse(.release, row: 3)
        #expect(Self.shown(stage) == "a(1) c(1) *e")
        // A folded item goes with what it hides, and below what another one hides.
        stage.mouse(.press, row: 1)
        stage.mouse(.drag, row: 2)
        stage.mouse(.release, row: 2)
        #expect(Self.text(stage.hand()) == "c >d a >b e" && Self.shown(stage) == "c(1) *a(1) e")
        stage.mouse(.press, row: 3)
        stage.mouse(.drag, row: 1)
        stage.mouse(.release, row: 1)
        #expect(Self.shown(stage) == "*e c(1) a(1)")
        var unfolded = Self.stage("a >b c")
        unfolded.mouse(.press, row: 1)
        unfolded.mouse(.drag, row: 3)
        #expect(unfolded.lines[0].hasSuffix("2 items go below 3"))
        unfolded.mouse(.release, row: 3)
        #expect(Self.text(unfolded.hand()) == "c a >b")
    }

    /// What the user folds before the earlier folds are read does not replace them, and is kept with them.
    @Test func foldsThatComeLateAreAdded() {
        let hand = Self.hand("a >b c >d")
        var stage = Stage(["things": hand], folds: ["things": [hand[2].id]], knowsFolds: false)
        stage.press("z")
        #expect(Self.shown(stage) == "*a(1) c >d" && stage.folds["things"] == [hand[2].id])
        stage.send(.folds(list: "things", [hand[2].id]))
        #expect(Self.shown(stage) == "*a(1) c(1)" && stage.folds["things"] == [hand[0].id, hand[2].id])
        stage.press("j z")
        #expect(stage.folds["things"] == [hand[0].id])
    }

    @Test func foldsAreRemembered() {
        var stage = Self.stage("a >b >>c d >e")
        stage.press("Z z")
        let kept = stage.folds
        #expect(kept["things"]?.count == 2)
        var next = Stage(["things": stage.hand()], folds: kept)
        #expect(Self.shown(next) == "*a >b(1) d(1)")
        next.send(.kept(["things"]))
        // What came back in the meantime, and what another screen of the list shows.
        next.press("q enter")
        #expect(Self.shown(next) == "*a >b(1) d(1)")
        next.press("Z")
        #expect(next.folds["things"] == [])
        next.press("q enter")
        #expect(Self.shown(next) == "*a >b >>c d >e")
        // A folded item that is deleted is not kept; one that comes back is.
        next.press("z D")
        #expect(next.folds["things"] == [])
        next.press("u")
        #expect(next.folds["things"] == [next.hand()[0].id])
    }
}

/// Whatever happens to a list, its rows are those that a simple rule gives.
@Suite struct RandomFoldTests {
    private static let keys = [
        "z", "z", "z", "z", "Z", "j", "k", "J", "K", "d", "u", "x", "p", "P", "tab", "shift-tab", "space", "s", "G",
        "v", "3",
        "D", "t", "b", "ctrl-a", "U", "S",
    ]

    /// The places that have rows, and what they hide.
    private static func rows(_ stage: Stage, hidesTicked: Bool) -> [String] {
        let (hand, folded) = (stage.hand(), Set(stage.folds["things"] ?? []))
        var (rows, end): ([String], Int) = ([], 0)
        for (place, item) in hand.enumerated() where place >= end {
            let isDone = item.content == .task(item.content.text, done: true)
            if hidesTicked, isDone { continue }
            var row = "\(place + 1)"
            let below = hand.subitems(of: place)
            if folded.contains(item.id), !below.isEmpty {
                end = below.upperBound
                let tasks = below.filter { hand[$0].content.kind == .task }
                let done = tasks.count { hand[$0].content == .task(hand[$0].content.text, done: true) }
                row += " \(below.count) hidden" + (tasks.isEmpty ? "" : ", \(done) of \(tasks.count) done")
            }
            rows.append(row)
        }
        return rows
    }

    private static func drawn(_ stage: Stage) -> [String] {
        stage.lines.dropFirst().dropLast(2).compactMap { line in
            let words = line.drop { " ▸↕•+~".contains($0) }.split(separator: "  ")
            guard let number = words.first?.prefix(while: \.isNumber), !number.isEmpty else { return nil }
            return ([String(number)] + words.dropFirst().filter { $0.contains("hidden") }.map(String.init))
                .joined(separator: " ")
        }
    }

    private static func item(_ random: inout SplitMix64) -> Item {
        let content: Content = random.next(below: 4) == 0 ? .note("n") : .task("t", done: random.next(below: 3) == 0)
        return Item(id: .random(using: &random), level: UInt8(random.next(below: 5)), content: content)
    }

    @Test(arguments: 0..<40)
    func rowsFollowTheRule(_ round: Int) throws {
        var random = SplitMix64(seed: testSeed(4_900 + UInt64(round), "folds"))
        let hand = Hand((0..<random.next(below: 30)).map { _ in Self.item(&random) })
        var stage = Stage(["things": hand], rows: 90, columns: 80)
        for step in 0..<120 {
            let count = stage.hand().count
            let confirmed = stage.replicas["things"]?.confirmed ?? Hand()
            let place = confirmed.isEmpty ? 0 : random.next(below: confirmed.count)
            var did = ""
            switch random.next(below: 9) {
            case 0 where count < 40: stage.remote(.inserting([Self.item(&random)], at: place, .after))
            case 1 where !confirmed.isEmpty: stage.remote(.deleting(place..<place + 1))
            case 2 where !confirmed.isEmpty:
                let end = min(confirmed.count, place + 1 + random.next(below: 3))
                stage.remote(.moving(place..<end, to: random.next(below: confirmed.count + 1), .after))
            case 3 where !confirmed.isEmpty:
                stage.remote(.editing(at: place, Change(level: UInt8(random.next(below: 5)))))
            case 4: stage.confirm()
            case 5:
                stage.mouse([.press, .drag, .release][random.next(below: 3)], row: 1 + random.next(below: 20))
            default:
                did = Self.keys[random.next(below: Self.keys.count)]
                if count < 40 || !["p", "P"].contains(did) { stage.press(did) }
            }
            if stage.app.router.top.route != .list("things") { stage.press("esc") }
            let screen = try #require(stage.app.router.top.route == .list("things") ? stage.lines : nil)
            let hides = screen[0].contains("ticked hidden")
            try #require(
                Self.drawn(stage) == Self.rows(stage, hidesTicked: hides),
                "round \(round), step \(step) \(did)\n\(screen)")
        }
    }
}
