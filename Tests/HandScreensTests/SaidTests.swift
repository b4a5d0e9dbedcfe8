import HandCore
import HandScreens
import HandWire
import Testing

/// Actions are confirmed by a message; available keys are shown below, can be clicked, and are explained in the help.
@Suite struct SaidTests {
    private static func said(_ stage: Stage) -> String { stage.lines[stage.lines.count - 2] }

    /// Before, keys, and the resulting message.
    static let actions: [(String, String, String)] = [
        ("a >b c", "d", "'[ ] b' deleted; u undoes"), ("a >b c", "v j d", "2 items deleted; u undoes"),
        ("a >b c", "d u", "undone: '[ ] b' is back at 2"),
        ("a >b c d", "v j d u", "undone: 2 items are back at 2 and below"),
        ("a >b c", "d u U", "redone: '[ ] b' is gone again"), ("a >b c", "space u", "undone: 2 is '[ ] b' again"),
        ("a >b c", "b u", "undone: '[ ] b' is at 2 again"),
        ("a >b c", "o 'x' enter esc u", "undone: '[ ] x' is gone again"),
        ("a >b c", "e 'x' enter u U", "redone: 2 is '[ ] bx' again"), ("a >b c", "x", "'[ ] b' cut; p pastes"),
        ("a >b c", "v j y", "2 items copied; p pastes"), ("a >b c", "u", "nothing of yours is left to undo"),
        ("a >b c", "U", "nothing of yours is left to redo"), ("a >b c", "S", "nothing is ticked"),
        ("+a >b +c", "S", "2 items deleted; u undoes"), ("a >b", "s", "what is ticked is hidden; s shows it"),
        ("a >b c", "enter d", "'[ ] b' deleted; u undoes"), ("a >b c", "enter space u", "undone: 2 is '[ ] b' again"),
    ]

    @Test(arguments: actions)
    func actionsAreConfirmedByAMessage(_ before: String, _ keys: String, _ words: String) {
        var stage = KeyTests.stage(before)
        stage.press(keys)
        #expect(Self.said(stage) == words)
    }

    @Test func anUndoOfADeletedItemSaysSo() {
        var stage = KeyTests.stage("a >b c")
        stage.press("space")
        stage.confirm()
        stage.remote(.deleting(1..<2))
        stage.press("u")
        #expect(Self.said(stage) == "undone: nothing is left of that edit")
    }

    /// Whatever an item contains, a terminal does not obey it, and the following text is still visible.
    @Test func messagesAboutItemsArePrintableAndShort() {
        let text = "x\u{1B}[2J" + String(repeating: "long ", count: 50)
        var stage = Stage(["things": Hand([Item(id: ItemID(rawValue: 1), content: .note(text))])])
        stage.press("d")
        #expect(Self.said(stage).hasPrefix("'x�[2Jlong") && Self.said(stage).hasSuffix("…' deleted; u undoes"))
    }

    // MARK: Ticked

    static let ticked: [(String, String, String)] = [
        (">a +b c", "s j d s", ">a +b"), ("+a >b +c d", "S", ">b d"),
        ("+ab >+b a +cb", "/ 'a' enter S esc", "+b >a +cb"),
        ("+a >+b +c d", "v j S", "+a >d"), (">a b c", "s space s", "+a >b c"),
        ("+a >b", "s O 'x' enter esc s", "+a >x b"),
        (">a +b c", "s : '2' enter", "a >+b c"), ("a >+b c", "s s", "a +b >c"),
    ]

    @Test(arguments: ticked)
    func tickedItemsCanBeHiddenAndCleared(_ before: String, _ keys: String, _ after: String) {
        var stage = KeyTests.stage(before)
        stage.press(keys)
        #expect(Notation.text(stage) == after)
    }

    @Test func tickedItemsAreHiddenAndCounted() {
        var stage = KeyTests.stage(">a +b c +d")
        stage.press("s")
        #expect(stage.lines[0].contains("2 of 4, ticked hidden"))
        #expect(!stage.lines.contains { $0.contains("[x]") })
        stage.press("/ 'c' enter")
        #expect(stage.lines[0].contains("1 of 4 contain 'c', ticked hidden"))
        stage.press("esc")
        #expect(stage.lines[0].contains("2 of 4, ticked hidden"))
        // Others tick one, and untick another.
        stage.remote(.editing(at: 0, Change(done: true)))
        stage.remote(.editing(at: 1, Change(done: false)))
        #expect(stage.lines[0].contains("2 of 4, ticked hidden") && stage.lines.contains { $0.contains("[ ] b") })
        stage.press("s")
        #expect(stage.lines[0].contains("4 items"))
    }

    // MARK: Hints

    /// Keys, and the resulting line at the bottom.
    static let hints: [(String, String)] = [
        ("", "o add  e edit  ␣ tick"), ("o", "⏎ end  esc leave  tab note instead  alt-⏎ line break"),
        ("o 'x'", "⏎ add  esc leave  tab note instead"), ("o tab", "tab heading instead"),
        ("e", "⏎ save  esc leave as it was  alt-⏎ line break"), ("enter e", "⏎ save  esc leave as it was"),
        ("/ 'x'", "/ x"), ("/ 'x'", "⏎ keep  esc leave"), (": '2'", "⏎ go  esc leave"),
        ("q a 'x'", "⏎ make  esc leave"),
    ]

    @Test(arguments: hints)
    func theHintsFollowTheMode(_ keys: String, _ words: String) {
        var stage = KeyTests.stage("a >b c")
        stage.press(keys)
        #expect(Self.said(stage).contains(words), "\(Self.said(stage))")
    }

    /// A notice stands where its keys mean what it says; elsewhere the status line counts it, and the hints stay.
    @Test(arguments: ["enter", "H", "w", "H enter"]) func aNoticeLeavesOtherScreensTheirHints(_ keys: String) {
        var stage = KeyTests.stage("a >b c")
        stage.presence("Bob", on: nil)
        stage.press("k e 'X' enter")
        stage.confirm()
        stage.presence("Bob", on: nil)
        stage.remoteBefore(stage.hand().rewording(0, "Bob's"))
        #expect(Self.said(stage).contains("R get it back"))
        stage.send(.history(list: "things", [], people: [:]))
        stage.press(keys)
        stage.wait(5_000)
        #expect(Self.said(stage).contains("? help") && !Self.said(stage).contains("get it back"))
        #expect(stage.lines[stage.lines.count - 1].contains("1 notice"))
        stage.press("q q q q")
        #expect(stage.top == .lists)
    }

    /// The words around a quotation say what happened: the quotation is shortened, the longest first.
    @Test(arguments: [
        (80, "cat deleted '[ ] please bring beer and crisps', which you moved", nil as String?),
        (
            50, "cat deleted '[ ] please bring beer and crisps', which you moved",
            "cat deleted '[ ] please bring b…', which you moved"
        ),
        (
            60, "Bob overwrote 'don't forget the milk of the cow' with 'a goat'",
            "Bob overwrote 'don't forget the milk of the…' with 'a goat'"
        ),
        (20, "cat deleted '[ ] please bring beer and crisps', which you moved", "cat deleted '[ ] pl…"),
        (30, "a sentence without any quotation in it", "a sentence without any quotat…"),
        (24, "'漢字漢字漢字漢字漢字' deleted", "'漢字漢字漢字…' deleted"),
    ]) func aSentenceKeepsItsReason(_ width: Int, _ text: String, _ expected: String?) {
        var stage = Stage(["things": Notation.hand("a").hand], columns: width)
        stage.send(.warning(text))
        #expect(Self.said(stage).hasPrefix(String((expected ?? text).prefix(width))), "\(Self.said(stage))")
    }

    /// Whoever goes back once too often stays among the lists; q leaves.
    @Test func escapeDoesNotLeaveTheProgram() {
        var stage = KeyTests.stage("a >b c")
        stage.press("! esc esc esc esc left h")
        #expect(stage.top == .lists && !stage.commands.contains(.quit))
        #expect(Self.said(stage).contains("q leave"))
        stage.press("q")
        #expect(stage.commands.contains(.quit))
        // Nothing was overridden: an empty screen opens, so that the Escape afterwards leaves that and not the list.
        stage = KeyTests.stage("a >b c")
        stage.press("! esc")
        #expect(stage.top == .list("things"))
    }

    /// The terminal's cursor is on the selected row, for screen readers, on every screen with rows.
    @Test func theTerminalsCursorIsOnTheSelectedRow() {
        for route in [Route.list("things"), .lists, .help, .people("things")] {
            var stage = Stage(["things": Notation.hand("a b #c d").hand], opening: route)
            stage.send(.lists(["x", "y", "z"].map { .init(name: $0, count: 0, revision: 0, rules: Rules()) }))
            stage.presence("Bob", on: nil)
            for key in ["", "j", "j", "k", "G"] {
                stage.press(key)
                let row = stage.lines.firstIndex { $0.hasPrefix("▸") }
                #expect(stage.app.view().cursor == row.map { Point(row: $0, column: 0) }, "\(route)")
                #expect(row != nil)
            }
        }
    }

    @Test func theKeysAtTheBottomCanBeClicked() {
        var stage = KeyTests.stage("a >b c")
        func click(_ words: String, _ stage: inout Stage) throws {
            let line = Self.said(stage)
            let range = try #require(line.range(of: words), "\(line)")
            stage.mouse(
                .press, row: stage.lines.count - 2, column: line.distance(from: line.startIndex, to: range.lowerBound))
        }
        #expect(throws: Never.self) {
            try click("tick", &stage)
            #expect(Notation.text(stage) == "a >+b c")
            try click("add", &stage)
            try click("note instead", &stage)
            stage.press("'x'")
            try click("⏎ add", &stage)
            try click("esc", &stage)
            #expect(Notation.text(stage) == "a +b >!x c")
            stage.press("/ 'c'")
            try click("keep", &stage)
            #expect(stage.lines[0].contains("1 of 4 contain 'c'"))
            try click("help", &stage)
            #expect(stage.top == .help)
        }
    }

    /// A message takes the place of the keys: a click on it presses nothing that is not visible.
    @Test func onlyVisibleKeysCanBeClicked() {
        var stage = KeyTests.stage("a >b c")
        stage.press("d")
        for column in 0..<80 {
            var clicked = stage
            clicked.mouse(.press, row: stage.lines.count - 2, column: column)
            #expect(clicked.commands.count == stage.commands.count && clicked.top == stage.top)
        }
    }

    // MARK: Help

    @Test(arguments: [
        ("", "Keys in a list"), ("q", "Keys among the lists"), ("H", "Keys in the history"),
        ("enter", "Keys on an item"),
    ])
    func theHelpStartsWithTheCurrentScreen(_ keys: String, _ title: String) {
        var stage = KeyTests.stage("a >b c")
        stage.press(keys)
        stage.press("?")
        #expect(stage.lines[1].contains(title))
    }

    /// The first key of each action of the screen beneath, on the first page of a usual terminal, and nothing cut off.
    @Test(arguments: [Route.lists, .list("things"), .history("things")])
    func theFirstPageHasAllKeysOfTheScreen(_ route: Route) {
        var stage = Stage(["things": Notation.hand("a").hand], opening: route)
        stage.press("?")
        let page = stage.lines[2..<22].joined(separator: "\n")
        for action in route.kind.actions where !KeyMap.standard.keys(for: action).isEmpty {
            let word = "\(KeyMap.standard.symbol(for: action)) \(action.manual.short)"
            #expect(page.contains(word), "\(word)")
        }
        #expect(!page.contains("…"))
    }

    /// All lines of the help, at any width: keys and meaning never touch, and nothing is cut off.
    @Test(arguments: [80, 60, 40, 30])
    func theHelpCanBeRead(_ width: Int) {
        var stage = Stage(["things": Notation.hand("a").hand], rows: 400, columns: width)
        stage.press("?")
        let lines = stage.lines
        let text = lines.dropFirst().map { $0.trimmingSpaces }.joined(separator: " ")
        for kind in ScreenKind.allCases {
            for action in kind.actions {
                #expect(text.contains(action.manual.long), "\(action.rawValue)")
                let keys = action.manual.keys.joined(separator: "  ")
                #expect(lines.contains { $0.contains("  \(keys)  ") || $0.hasSuffix("  \(keys)") }, "\(keys)")
            }
        }
        for words in ["makes a heading", "makes a link", "a line break within the text"] {
            #expect(text.contains(words))
        }
    }

    // MARK: Mouse

    @Test func aClickOnTheBoxTicks() {
        var stage = KeyTests.stage(">a b #c")
        func click(_ row: Int, _ column: Int) {
            stage.mouse(.press, row: row, column: column)
            stage.mouse(.release, row: row, column: column)
        }
        click(2, 4)
        #expect(Notation.text(stage) == "a >+b #c")
        click(2, 6)
        #expect(Notation.text(stage) == "a >b #c")
        // Next to the box, and where a heading has none.
        click(1, 7)
        click(1, 3)
        #expect(stage.hand()[0].content == .task("a", done: false) && stage.top.path.hasPrefix("/things/items"))
        stage.press("esc")
        click(3, 4)
        #expect(Notation.text(stage) == "a b >#c")
    }

    @Test func draggingIsVisibleAndCanBeCanceled() {
        var stage = KeyTests.stage(">a b c")
        stage.mouse(.press, row: 1)
        stage.mouse(.drag, row: 3)
        #expect(stage.lines[1].hasPrefix("↕") && stage.lines[0].contains("'[ ] a' goes below 3"))
        stage.press("esc")
        #expect(!stage.lines[1].hasPrefix("↕"))
        stage.mouse(.release, row: 3)
        #expect(Notation.text(stage) == ">a b c")
    }

    /// Typing, a filter and a question each end dragging: releasing the button moves nothing.
    @Test(arguments: [("e", "esc"), ("/", "esc"), (":", "enter")]) func anotherActionEndsDragging(
        begin: String, end: String
    ) {
        var stage = KeyTests.stage(">a b c")
        stage.mouse(.press, row: 1)
        stage.mouse(.drag, row: 3)
        stage.press("\(begin) \(end)")
        #expect(!stage.lines[1].hasPrefix("↕"))
        stage.mouse(.release, row: 3)
        #expect(Notation.text(stage) == ">a b c")
    }

    /// A range stays selected while the user says where its other end is to be.
    @Test func aJumpExtendsTheRange() {
        var stage = KeyTests.stage("a >b c d e")
        stage.press("v : '4' enter")
        #expect(Notation.text(stage) == "a *b *c >*d e")
    }

    @Test func pastedBoxesAreTasks() {
        var stage = KeyTests.stage(">a")
        stage.send(.input(.paste("- [x] done\n* [ ] open\n  + [X] too\n- no box\n# head\n")))
        #expect(
            stage.hand().dropFirst().map(\.content) == [
                .task("done", done: true), .task("open", done: false), .task("too", done: true),
                .task("no box", done: false), .heading("head"),
            ])
    }
}

extension String {
    /// The text without surrounding spaces, and with one space between words.
    fileprivate var trimmingSpaces: String { split(separator: " ").joined(separator: " ") }
}
