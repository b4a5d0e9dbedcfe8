import HandScreens
import Testing

/// The line editor compared with a naive one, and properties that hold for any text.
@Suite struct LineEditorRandomTests {
    /// Numbers from a seed (SplitMix64), so that a failure can be repeated.
    struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// A line as two arrays of characters, before and after the cursor.
    struct Oracle {
        var left: [Character] = []
        var right: [Character] = []
        var killed = ""
        var isJoining = false

        var marked: String { String(left) + "|" + String(right) }

        static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

        /// Returns how many characters a word takes from the start: the separators, then the word.
        static func word(_ text: some Sequence<Character>, _ isWord: (Character) -> Bool) -> Int {
            let gap = text.prefix { !isWord($0) }.count
            return gap + text.dropFirst(gap).prefix(while: isWord).count
        }

        mutating func press(_ key: String) {
            let wasJoining = isJoining
            isJoining = false
            let back = Self.word(left.reversed(), Self.isWord)
            let ahead = Self.word(right, Self.isWord)
            switch key {
            case "left": move(-1)
            case "right": move(1)
            case "home": move(-left.count)
            case "end": move(right.count)
            case "alt-b": move(-back)
            case "alt-f": move(ahead)
            case "backspace": left = left.dropLast()
            case "del": right = Array(right.dropFirst())
            case "ctrl-w": kill(back: Self.word(left.reversed()) { $0 != " " }, 0, wasJoining)
            case "alt-backspace": kill(back: back, 0, wasJoining)
            case "alt-d": kill(back: 0, ahead, wasJoining)
            case "ctrl-k": kill(back: 0, right.count, wasJoining)
            case "ctrl-u": kill(back: left.count, 0, wasJoining)
            case "ctrl-y": left += Array(killed)
            case "ctrl-t": transpose()
            case "space": left.append(" ")
            default: left += Array(key)
            }
        }

        mutating func move(_ count: Int) {
            for _ in 0..<abs(count) {
                if count < 0, let last = left.popLast() { right.insert(last, at: 0) }
                if count > 0, !right.isEmpty { left.append(right.removeFirst()) }
            }
        }

        mutating func kill(back: Int, _ ahead: Int, _ wasJoining: Bool) {
            isJoining = wasJoining || back + ahead > 0
            guard back + ahead > 0 else { return }
            let joined = wasJoining ? killed : ""
            killed = String(left.suffix(back)) + joined + String(right.prefix(ahead))
            left = left.dropLast(back)
            right = Array(right.dropFirst(ahead))
        }

        mutating func transpose() {
            guard !left.isEmpty, left.count + right.count > 1 else { return }
            if right.isEmpty { move(-1) }
            let last = left.removeLast()
            left += [right.removeFirst(), last]
        }
    }

    static let keys = [
        "left", "right", "home", "end", "alt-b", "alt-f", "backspace", "del", "ctrl-w", "alt-backspace", "alt-d",
        "ctrl-k",
        "ctrl-u", "ctrl-y", "ctrl-t",
    ]
    static let characters = ["a", "b", "7", "ß", "世", "é", "-", ".", "/", "space", "space", "😀"]

    @Test(arguments: (0..<40).map { _ in UInt64.random(in: 0...UInt64.max) })
    func theEditorEqualsTheNaiveOne(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        var editor = LineEditor()
        var oracle = Oracle()
        var pressed: [String] = []
        for _ in 0..<200 {
            let isKey = Int.random(in: 0..<5, using: &numbers) < 2
            let key = try #require((isKey ? Self.keys : Self.characters).randomElement(using: &numbers))
            // Text that is yanked again and again would become huge.
            pressed.append(oracle.left.count + oracle.right.count > 60 ? "ctrl-u" : key)
            let isKnown = editor.handle(try Key(pressed[pressed.count - 1]))
            try #require(isKnown)
            oracle.press(pressed[pressed.count - 1])
            try #require(LineEditorTests.marked(editor) == oracle.marked, "seed \(seed): \(pressed)")
        }
        let end = LineEditorTests.marked(editor)
        var steps = 0
        while !editor.text.isEmpty || steps < 200 {
            try #require(steps <= 200, "seed \(seed): undo does not return to the start")
            _ = editor.handle(.control("_"))
            steps += 1
        }
        #expect(LineEditorTests.marked(editor) == "|", "seed \(seed)")
        for _ in 0..<200 { _ = editor.handle(Key(.character("_"), .alt)) }
        #expect(LineEditorTests.marked(editor) == end, "seed \(seed)")
    }

    /// Pieces of characters that join and separate again: the cursor stays within the text, and undo returns to the
    /// start.
    @Test(arguments: (0..<40).map { _ in UInt64.random(in: 0...UInt64.max) })
    func piecesOfCharactersDoNoHarm(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        let pieces = [
            "\u{301}", "\u{200D}", "🇩", "🇪", "👩", "\u{1F3FB}", "ᄀ", "ᅡ", "e", "\u{FE0F}", "\u{200F}", "க", "ி",
        ]
        let first = (0..<6).compactMap { _ in pieces.randomElement(using: &numbers) }.joined()
        var editor = LineEditor(first)
        for _ in 0..<150 {
            if Bool.random(using: &numbers), let piece = pieces.randomElement(using: &numbers) {
                _ = editor.handle(Key(.character(Character(piece))))
            } else if let key = Self.keys.randomElement(using: &numbers), editor.text.count < 60 || key != "ctrl-y" {
                _ = editor.handle(try Key(key))
            }
            let visible = editor.visible(width: Int.random(in: 1...20, using: &numbers))
            #expect((0..<20).contains(visible.cursorColumn), "seed \(seed)")
            try #require(editor.cursor <= editor.text.count, "seed \(seed)")
        }
        for _ in 0..<150 { _ = editor.handle(.control("_")) }
        #expect(Array(editor.text.unicodeScalars) == Array(first.unicodeScalars), "seed \(seed)")
    }

    // MARK: The visible part

    /// Text, cursor position from the end, width, visible part, column.
    @Test(arguments: [
        ("abc", 0, 10, "abc", 3), ("", 0, 10, "", 0), ("", 0, 1, "", 0), ("", 0, 0, "", 0), ("abc", 0, 4, "abc", 3),
        ("abcdefgh", 8, 8, "abcdefgh", 0), ("abcdefgh", 0, 8, "‹fgh", 4), ("abcdefgh", 2, 8, "abcdefgh", 6),
        ("abcdefghijkl", 12, 8, "abcdefg›", 0), ("abcdefghijkl", 6, 8, "abcdefg›", 6),
        ("abcdefghijkl", 5, 8, "‹fghijkl", 3),
        ("abcdefghijkl", 0, 8, "‹jkl", 4), ("abcdef", 6, 3, "abc", 0), ("abcdef", 3, 3, "def", 0),
        ("abcdef", 0, 3, "", 0),
        ("世世世世", 4, 8, "世世世世", 0), ("世世世世", 0, 8, "‹ 世", 4), ("a世世世世", 5, 8, "a世世世›", 0),
        ("世世世世世", 5, 8, "世世世 ›", 0), ("e\u{301}e\u{301}", 0, 3, "e\u{301}e\u{301}", 2),
    ])
    func theVisiblePartContainsTheCursor(_ text: String, _ left: Int, _ width: Int, _ shown: String, _ column: Int) {
        var editor = LineEditor(text)
        for _ in 0..<left { _ = editor.handle(Key(.left)) }
        let visible = editor.visible(width: width)
        #expect(visible.text == shown)
        #expect(visible.cursorColumn == column)
    }

    @Test(arguments: (0..<40).map { _ in UInt64.random(in: 0...UInt64.max) })
    func theCursorIsAlwaysVisible(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        let alphabet: [Character] = ["a", "b", " ", "世", "é", "界", "x\u{301}"]
        let text = (0..<Int.random(in: 0...50, using: &numbers)).compactMap { _ in
            alphabet.randomElement(using: &numbers)
        }
        var editor = LineEditor(String(text))
        let width = Int.random(in: 4...24, using: &numbers)
        var shown: Set<String> = []
        for cursor in text.indices.reversed() {
            _ = editor.handle(Key(.left))
            let visible = editor.visible(width: width)
            try #require(Columns.width(of: visible.text) <= width, "seed \(seed)")
            // The character under the cursor is in the cursor's column.
            var column = 0
            let under = visible.text.first { character in
                defer { column += Columns.width(of: String(character)) }
                return column == visible.cursorColumn
            }
            try #require(under == text[cursor], "seed \(seed): \(String(text)), cursor \(cursor), width \(width)")
            shown.insert(visible.text)
        }
        // It scrolls by half its width, not with every key.
        #expect(shown.count <= Columns.width(of: String(text)) / max(1, min(width / 2, width - 3)) + 1, "seed \(seed)")
    }
}
