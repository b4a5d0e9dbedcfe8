import HandCore
import HandScreens
import Testing

/// A text of several lines in the line editor: wrapped, with a cursor that moves by rows.
@Suite struct SeveralLinesTests {
    /// A checklist keeps what belongs to what.
    @Test func aPastedChecklistHasItsLevels() {
        for isInField in [true, false] {
            var stage = Stage(["things": Hand([Item(id: ItemID(rawValue: 1), content: .task("a", done: false))])])
            if isInField { stage.press("o") }
            stage.send(
                .input(.paste("- [ ] alpha\n\t- [x] beta\n    - [ ] gamma\n- [ ] delta\n  - [ ] eps\nplain\n  text")))
            let found = stage.hand().map { String(repeating: ">", count: Int($0.level)) + $0.content.text }
            #expect(found == ["a", "alpha", ">beta", ">>gamma", "delta", ">eps", "plain", "  text"])
        }
        var stage = Stage(["things": Hand()])
        stage.send(.input(.paste("- one\n    - two\n     • three\n         ◦ four\n    - five\n  - six\n- seven")))
        let found = stage.hand().map { String(repeating: ">", count: Int($0.level)) + $0.content.text }
        #expect(found == ["one", ">two", ">three", ">>four", ">five", ">six", "seven"])
    }

    /// In five columns: `one two` takes two rows.
    static let keys: [(String, String, String)] = [
        ("ab|c", "alt-enter", "ab\n|c"), ("|", "alt-enter 'x'", "\nx|"), ("one\ntw|o", "home", "one\n|two"),
        ("one\nt|wo\nx", "end", "one\ntwo|\nx"), ("one\nt|wo\nx", "ctrl-e ctrl-f", "one\ntwo\n|x"),
        ("a\n|b", "left", "a|\nb"), ("a\n|b", "ctrl-a", "a\n|b"),
        // By rows, in the same column if it exists.
        ("abc\nab|c", "up", "ab|c\nabc"), ("ab|c\nabc", "ctrl-n", "abc\nab|c"), ("abc\nab|c", "ctrl-p", "ab|c\nabc"),
        ("abcd\nx\nabc|d", "up", "abcd\nx|\nabcd"), ("abcd\nx\nabc|d", "up up", "abc|d\nx\nabcd"),
        ("abcd\nx\nabc|d", "up left up", "|abcd\nx\nabcd"), ("abcd\n\nabcd|", "up up", "abcd|\n\nabcd"),
        ("ab|c", "up", "ab|c"), ("ab|c", "down", "ab|c"), ("abc\n|", "down", "abc\n|"),
        ("abc\nabc|\n", "down up", "abc\nabc|\n"), ("one two t|hree", "up", "one t|wo three"),
        ("o|ne two three", "down down", "one two t|hree"), ("one abcde|", "up", "one| abcde"),
        ("abcdef|", "up", "a|bcdef"), ("abcdefghij|", "up", "abcd|efghij"),
        ("世世\na|b", "up", "|世世\nab"), ("世世\nab|", "up", "世|世\nab"),
        ("e\u{301}e\u{301}x\nab|", "up", "e\u{301}e\u{301}|x\nab"),
        ("ab  |", "up", "ab  |"), ("a       |b", "up", "|a       b"),
        // Lines join when their break is deleted.
        ("a\n|b", "backspace", "a|b"), ("a|\nb", "del", "a|b"), ("a\r\n|b", "backspace", "a|b"),
        ("a|\r\nb", "right", "a\r\n|b"),
        ("a|b\nc", "ctrl-k", "a|\nc"), ("a|\nc", "ctrl-k", "a|c"), ("ab|", "ctrl-k", "ab|"),
        ("a\nb|c", "ctrl-u", "a\n|c"), ("a\n|c", "ctrl-u", "a|c"), ("|a\nc", "ctrl-u", "|a\nc"),
        ("|one\ntwo", "ctrl-k ctrl-k ctrl-k ctrl-y", "one\ntwo|"), ("a\nb|", "ctrl-w", "a\n|"), ("a\n|", "ctrl-w", "|"),
        ("one\n|two", "alt-b", "|one\ntwo"), ("one|\ntwo", "alt-f", "one\ntwo|"),
        // Pasted line breaks stay; tabs become spaces, and control characters are removed.
        ("|", "<x\ny\tz>", "x\ny z|"), ("a|b", "<1\r\n2\u{2028}3\r4>", "a1\n2\n3\n4|b"),
        ("|", "<a\u{1B}[1m\n\u{7}b\u{9C}>", "a[1m\nb|"),
        ("|", "'ab' alt-enter 'cd' ctrl-_", "ab\n|"), ("|", "'ab' alt-enter 'cd' ctrl-_ ctrl-_", "ab|"),
        ("|", "'ab' alt-enter ctrl-_ alt-_", "ab\n|"),
    ]

    @Test(arguments: keys)
    func keysInSeveralLinesFollowTheTable(_ before: String, _ keys: String, _ after: String) throws {
        var editor = try LineEditorTests.editor(before, width: 5)
        try LineEditorTests.press(keys, &editor)
        #expect(LineEditorTests.marked(editor) == after)
    }

    /// Text, width, rows, and the cursor's place after its end.
    @Test(arguments: [
        ("", 5, [""], Point(row: 0, column: 0)), ("abc", 5, ["abc"], Point(row: 0, column: 3)),
        ("abcde", 5, ["abcde"], Point(row: 0, column: 5)), ("abcdef", 5, ["abcde", "f"], Point(row: 1, column: 1)),
        ("abc\n", 5, ["abc", ""], Point(row: 1, column: 0)), ("\n\n", 5, ["", "", ""], Point(row: 2, column: 0)),
        ("one two", 5, ["one ", "two"], Point(row: 1, column: 3)),
        ("one\r\ntwo", 5, ["one", "two"], Point(row: 1, column: 3)),
        ("a bcdefghij", 5, ["a ", "bcdef", "ghij"], Point(row: 2, column: 4)),
        ("abc    ", 5, ["abc  "], Point(row: 0, column: 5)), ("abc    x", 5, ["abc  ", "x"], Point(row: 1, column: 1)),
        ("世世世", 5, ["世世", "世"], Point(row: 1, column: 2)), ("a\tb", 5, ["a b"], Point(row: 0, column: 3)),
        ("a\u{1B}[2J\r", 5, ["a�[2J", "�"], Point(row: 1, column: 1)), ("世", 1, ["�"], Point(row: 0, column: 1)),
        ("a\u{202E}b", 5, ["a�b"], Point(row: 0, column: 3)),
        ("e\u{301}e\u{301}x", 2, ["e\u{301}e\u{301}", "x"], Point(row: 1, column: 1)),
        ("👩‍👩‍👧", 5, ["�"], Point(row: 0, column: 1)), ("x👩‍👩‍👧", 6, ["x", "👩👩👧"], Point(row: 1, column: 6)),
    ])
    func longTextsWrapIntoRows(_ text: String, _ width: Int, _ rows: [String], _ cursor: Point) {
        let editor = LineEditor(text, width: width)
        #expect(editor.rows.indices.map { editor.shown(row: $0) } == rows)
        #expect(editor.place == cursor)
        // A text that is typed has the same rows.
        var typed = LineEditor(width: width)
        typed.insert(String(text.filter { $0 != "\t" && $0.isNewline || $0 >= " " }))
        typed.width = 3
        typed.width = width
        #expect(typed.rows == LineEditor(typed.text, width: width).rows)
    }

    /// Returns where the rows of a line start, found literally by the rule: as much as fits, not counting spaces at its
    /// end; if more follows, only up to after the last space, if there is one.
    private static func rows(of line: [Character], width: Int) -> [Int] {
        func columns(_ character: Character) -> Int {
            let own = Columns.width(of: String(character))
            return own > width ? 1 : own
        }
        func fits(_ text: ArraySlice<Character>) -> Bool {
            text.reversed().drop { $0 == " " }.reduce(0) { $0 + columns($1) } <= width
        }
        var starts = [0]
        while let start = starts.last {
            let end = (start...line.count).last { fits(line[start..<$0]) } ?? start
            if end == line.count { return starts }
            let blank = line[start..<end].lastIndex(of: " ")
            starts.append(blank.map { $0 + 1 } ?? max(end, start + 1))
        }
        return starts
    }

    private static let alphabet: [Character] = ["a", "b", "c", " ", " ", "\n", "世", "é", "x\u{301}", "👩‍👩‍👧"]

    @Test(arguments: (0..<60).map { _ in UInt64.random(in: 0...UInt64.max) })
    func rowsFollowTheRule(seed: UInt64) throws {
        var numbers = LineEditorRandomTests.Numbers(state: seed)
        let width = Int.random(in: 1...9, using: &numbers)
        let text = (0..<Int.random(in: 0...60, using: &numbers)).compactMap { _ in
            Self.alphabet.randomElement(using: &numbers)
        }
        var expected: [Int] = []
        var start = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            expected += Self.rows(of: Array(line), width: width).map { $0 + start }
            start += line.count + 1
        }
        var editor = LineEditor(String(text), width: width)
        try #require(editor.rows == expected, "seed \(seed): \(String(text)) in \(width)")
        // Going up through all rows and down again leads back, and the cursor is visible all the time.
        let (lines, end) = (Int.random(in: 1...5, using: &numbers), editor.place)
        var places = [end]
        for key in Array(repeating: Key(.up), count: end.row) + Array(repeating: Key(.down), count: end.row) {
            let row = editor.place.row
            _ = editor.handle(key)
            places.append(editor.place)
            #expect(editor.place.row == row + (key == Key(.up) ? -1 : 1), "seed \(seed)")
            #expect(editor.place.column <= end.column, "seed \(seed)")
            let window = editor.window(lines: lines)
            #expect(window.contains(editor.place.row) && window.count == min(lines, editor.rows.count), "seed \(seed)")
        }
        #expect(places[..<(end.row + 1)].reversed() == Array(places[end.row...]), "seed \(seed)")
    }

    /// Text typed into the middle joins its neighbours as if everything had been there from the start.
    @Test(arguments: (0..<60).map { _ in UInt64.random(in: 0...UInt64.max) })
    func charactersJoinWhereverTheyMeet(seed: UInt64) throws {
        var numbers = LineEditorRandomTests.Numbers(state: seed)
        let pieces = [
            "\u{301}", "\u{200D}", "🇩", "🇪", "👩", "\u{1F3FB}", "ᄀ", "ᅡ", "각", "가", "e", "a", "世", "\u{FE0F}", "\r",
            "\n",
            "\u{600}", "क", "\u{94D}", "ि", " ", " ", "b", "c",
        ]
        let first = (0..<12).compactMap { _ in pieces.randomElement(using: &numbers) }.joined()
        var editor = LineEditor(first, width: 6)
        let keys = [
            "left", "right", "backspace", "del", "ctrl-w", "ctrl-k", "ctrl-y", "ctrl-t", "up", "down", "alt-enter",
        ]
        for step in 0..<150 {
            if Bool.random(using: &numbers), let piece = pieces.randomElement(using: &numbers) {
                _ = editor.handle(Key(.character(Character(piece))))
            } else if let key = keys.randomElement(using: &numbers), editor.text.count < 80 || key != "ctrl-y" {
                _ = editor.handle(try Key(key))
            }
            var fresh = LineEditor(editor.text, width: 6)
            try #require(editor.rows == fresh.rows, "seed \(seed), step \(step)")
            for _ in editor.cursor..<fresh.cursor { _ = fresh.handle(Key(.left)) }
            try #require(editor.cursor == fresh.cursor && editor.place == fresh.place, "seed \(seed), step \(step)")
        }
    }

    /// Characters that are considered plain really are: no two of them join, and they are drawn as they are.
    @Test func plainCharactersArePlain() throws {
        let plain = (UInt32(0)..<0x30000).compactMap { Unicode.Scalar($0) }.filter {
            Columns.plain(Character($0)) != nil
        }
        #expect(plain.count > 20_000)
        for scalar in plain {
            let character = Character(scalar)
            #expect(Columns.characters(of: String(character)) == [character])
            #expect(Columns.width(of: String(character)) == (Columns.isWide(scalar.value) ? 2 : 1))
            for other: Unicode.Scalar in ["a", "世", "가", "각", " ", "ж"] {
                #expect("\(scalar)\(other)".count == 2 && "\(other)\(scalar)".count == 2, "\(scalar.value)")
            }
        }
        for text in ["\u{301}", "\n", "\u{AD}", "e\u{301}", "🇩", "👩", "\u{1160}", "\u{3099}"] {
            #expect(Columns.plain(Character(text)) == nil)
        }
    }

    // MARK: Together

    /// Somebody changes the text that one began with; `|` is the cursor.
    @Test(arguments: [
        // The original text, the typed one, the one made by others, and the resulting text in the field.
        ("one\ntwo", "one\ntwo!|", "zero\none\ntwo", "zero\none\ntwo!|"),
        ("one\ntwo", "one|\nand a half\ntwo", "one\ntwo\nthree", "one|\nand a half\ntwo\nthree"),
        ("世\n世 x", "世\n世 |y", "世 界\n世 x", "世 界\n世 |y"),
    ])
    func othersTextIsMerged(base: String, typed: String, present: String, result: String) throws {
        var editor = LineEditor(base, width: 5)
        for _ in 0..<9 { _ = editor.handle(.control("u")) }
        LineEditorTests.insert(typed, &editor)
        #expect(editor.merge(present).isEmpty)
        #expect(LineEditorTests.marked(editor) == result)
        #expect(editor.base == present)
        #expect(editor.rows == LineEditor(editor.text, width: 5).rows)
    }

    /// A text that nobody touches stays as it is, including characters that cannot be typed.
    @Test func anUntouchedTextStays() throws {
        var editor = LineEditor("a\r\nb\t\u{7}", width: 9)
        try LineEditorTests.press("'!'", &editor)
        #expect(editor.merge("x\r\na\r\nb\t\u{7}").isEmpty)
        #expect(LineEditorTests.marked(editor) == "x\r\na\r\nb\t\u{7}!|")
    }

    /// Whatever others write in the meantime, undo removes one's own typing and nothing else, and redo restores it.
    @Test func undoKeepsOthersText() throws {
        var editor = LineEditor("milk\nbread", width: 20)
        try LineEditorTests.press("alt-enter 'eggs'", &editor)
        #expect(editor.merge("milk\nrye bread").isEmpty)
        try LineEditorTests.press("'␣six'", &editor)
        #expect(editor.merge("oat milk\nrye bread").isEmpty)
        #expect(LineEditorTests.marked(editor) == "oat milk\nrye bread\neggs six|")
        try LineEditorTests.press("ctrl-_", &editor)
        #expect(LineEditorTests.marked(editor) == "oat milk\nrye bread\neggs|")
        try LineEditorTests.press("ctrl-_ ctrl-_", &editor)
        #expect(LineEditorTests.marked(editor) == "oat milk\nrye bread|")
        try LineEditorTests.press("alt-_ alt-_ alt-_", &editor)
        #expect(LineEditorTests.marked(editor) == "oat milk\nrye bread\neggs six|")
    }
}
