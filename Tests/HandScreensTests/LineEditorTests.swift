import HandScreens
import Testing

@Suite struct LineEditorTests {
    /// Returns a line with its cursor: `ab|c`.
    static func editor(_ marked: String, width: Int? = nil) throws -> LineEditor {
        let parts = marked.split(separator: "|", omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        var editor = LineEditor(String(parts[0] + parts[1]), width: width)
        while editor.cursor > parts[0].count { _ = editor.handle(Key(.left)) }
        return editor
    }

    static func marked(_ editor: LineEditor) -> String {
        String(editor.text.prefix(editor.cursor)) + "|" + String(editor.text.dropFirst(editor.cursor))
    }

    /// Presses keys; text in quotes is typed character by character, text in angle brackets is pasted.
    static func press(_ keys: String, _ editor: inout LineEditor) throws {
        for word in keys.split(separator: " ") {
            if word.hasPrefix("'") {
                let text = word.dropFirst().dropLast().replacing("␣", with: " ")
                for character in text { _ = editor.handle(Key(.character(character))) }
            } else if word.hasPrefix("<") {
                editor.insert(String(word.dropFirst().dropLast().replacing("␣", with: " ")))
            } else {
                let isKnown = editor.handle(try Key(String(word)))
                #expect(isKnown, "\(word) means nothing")
            }
        }
    }

    static let moving = [
        ("ab|c", "left", "a|bc"), ("|abc", "left", "|abc"), ("a|bc", "right", "ab|c"), ("abc|", "right", "abc|"),
        ("ab|c", "ctrl-b", "a|bc"), ("a|bc", "ctrl-f", "ab|c"), ("ab|c", "home", "|abc"), ("ab|c", "ctrl-a", "|abc"),
        ("a|bc", "end", "abc|"), ("a|bc", "ctrl-e", "abc|"), ("|", "left", "|"), ("|", "end", "|"),
        ("one two|", "alt-b", "one |two"), ("one |two", "alt-b", "|one two"), ("one, t|wo", "ctrl-left", "one, |two"),
        ("one, |two", "alt-left", "|one, two"), ("|one two", "alt-f", "one| two"),
        ("one|, two", "ctrl-right", "one, two|"),
        ("o|ne", "alt-right", "one|"), ("|é👨‍👩‍👧世", "right right", "é👨‍👩‍👧|世"), ("a. |", "alt-b", "|a. "),
    ]

    static let changing = [
        ("a|c", "'b'", "ab|c"), ("|", "'hello␣you'", "hello you|"), ("ab|c", "backspace", "a|c"),
        ("|ab", "backspace", "|ab"),
        ("ab|c", "ctrl-h", "a|c"), ("a|bc", "del", "a|c"), ("ab|", "del", "ab|"), ("a|bc", "ctrl-d", "a|c"),
        ("a👨‍👩‍👧|b", "backspace", "a|b"), ("e\u{301}|b", "backspace", "|b"), ("|ab", "ctrl-t", "|ab"),
        ("a|b", "ctrl-t", "ba|"),
        ("ab|", "ctrl-t", "ba|"), ("ab|cd", "ctrl-t", "acb|d"), ("a|", "ctrl-t", "a|"), ("a|b", "<x␣y>", "ax y|b"),
        ("a|", "<x\ny\tz>", "ax y z|"), ("|", "<1\r\n2\u{2028}3>", "1 2 3|"),
        ("|", "<a\u{1B}[1m\u{7}b\u{9C}>", "a[1mb|"),
        ("|", "<\u{1B}>", "|"),
    ]

    static let killing = [
        ("ab|c", "ctrl-w", "|c"), ("one two|", "ctrl-w", "one |"), ("one two  |", "ctrl-w", "one |"),
        ("a/b.c|", "ctrl-w", "|"), ("a/b.c|", "alt-backspace", "a/b.|"), ("one two|x", "alt-backspace", "one |x"),
        ("one| two, three", "alt-d", "one|, three"), ("|", "alt-d", "|"), ("a|bc", "ctrl-k", "a|"),
        ("ab|c", "ctrl-u", "|c"),
        ("ab|c", "ctrl-u ctrl-e ctrl-y", "cab|"), ("ab|c", "ctrl-y", "ab|c"), ("ab|", "ctrl-u ctrl-y ctrl-y", "abab|"),
        // Consecutive kills are yanked together, in their original order.
        ("one two|", "ctrl-w ctrl-w ctrl-y", "one two|"), ("|one two", "alt-d alt-d ctrl-y", "one two|"),
        ("one |two", "ctrl-w ctrl-k ctrl-y", "one two|"), ("one |two", "ctrl-k ctrl-u ctrl-y", "one two|"),
        ("a b|", "ctrl-w ctrl-k ctrl-w ctrl-y", "a b|"),
        // Not if anything happens in between.
        ("one two|", "ctrl-w left right ctrl-w ctrl-y", "one |"), ("a b|", "ctrl-w 'x' ctrl-w ctrl-y", "a x|"),
        ("a b|", "ctrl-w ctrl-y ctrl-w ctrl-y", "a b|"), ("a b|", "ctrl-w <x> ctrl-w ctrl-y", "a x|"),
        // A kill of nothing is not remembered, and does not join.
        ("ab|", "ctrl-w ctrl-k left ctrl-k ctrl-y", "ab|"), ("ab|", "ctrl-u 'c' ctrl-k ctrl-u ctrl-y", "c|"),
    ]

    static let undoing = [
        ("a|", "'bc' ctrl-_", "a|"), ("|", "'one␣two' ctrl-_", "one|"), ("|", "'one␣two' ctrl-/ ctrl-/", "|"),
        ("|", "'one␣␣two␣' ctrl-_", "one  two|"), ("|", "'one␣␣two␣' ctrl-_ ctrl-_", "one|"),
        ("|", "'ab' left 'c' ctrl-_", "a|b"), ("|", "'ab' left 'c' ctrl-_ ctrl-_", "|"),
        ("ab|c", "ctrl-u ctrl-_", "ab|c"),
        ("abc|", "backspace backspace ctrl-_", "ab|"), ("a|", "'b' ctrl-_ alt-_", "ab|"),
        ("a|", "'b' ctrl-_ alt-/", "ab|"),
        ("|", "'a␣b' ctrl-_ ctrl-_ alt-_ alt-_ alt-_", "a b|"), ("a|", "'b' ctrl-_ 'c' alt-_", "ac|"),
        ("|", "'ab' ctrl-_ 'cd' ctrl-_", "|"), ("a|b", "ctrl-t ctrl-_", "a|b"), ("a|", "<b␣c> ctrl-_", "a|"),
        ("a|", "'b' <> <\u{1B}> ctrl-_", "a|"), ("a|", "ctrl-y del ctrl-k alt-d ctrl-_", "a|"),
        ("ab|", "ctrl-_ alt-_", "ab|"),
        ("ab|", "ctrl-w ctrl-_ ctrl-e ctrl-y", "abab|"),
    ]

    @Test(arguments: moving + changing + killing + undoing)
    func keysInALineFollowTheTable(_ before: String, _ keys: String, _ after: String) throws {
        var editor = try Self.editor(before)
        try Self.press(keys, &editor)
        #expect(Self.marked(editor) == after)
    }

    @Test(arguments: [
        Key(.enter), Key(.escape), Key(.tab), Key(.tab, .shift), Key(.up), Key(.down), Key(.pageUp), Key(.function(1)),
        .control("p"), .control("c"), Key(.character("x"), .alt), Key(.character("\n")), Key(.character("\t")),
        Key(.character("\u{1B}")), Key(.character("\u{9B}")),
    ])
    func otherKeysAreLeftToTheCaller(_ key: Key) throws {
        var editor = try Self.editor("a b|c")
        try Self.press("'x' ctrl-w", &editor)
        let before = editor
        let isKnown = editor.handle(key)
        #expect(!isKnown)
        #expect(editor == before)
    }

    /// Terminals send the scalars of a character one by one.
    @Test func partsOfACharacterBecomeOne() throws {
        for character: Character in ["e\u{301}", "🇩🇪", "👨‍👩‍👧", "❤\u{FE0F}"] {
            var editor = try Self.editor("a|b")
            for scalar in character.unicodeScalars { _ = editor.handle(Key(.character(Character(scalar)))) }
            #expect(Self.marked(editor) == "a\(character)|b")
            try Self.press("left", &editor)
            #expect(Self.marked(editor) == "a|\(character)b")
            try Self.press("ctrl-_", &editor)
            #expect(Self.marked(editor) == "a|b")
        }
        // The text between the halves of a flag is deleted.
        var editor = try Self.editor("🇩x|🇪")
        try Self.press("backspace", &editor)
        #expect(Self.marked(editor) == "🇩🇪|")
        try Self.press("ctrl-_ right", &editor)
        #expect(Self.marked(editor) == "🇩x🇪|")
    }

    @Test func undoIsBounded() throws {
        var editor = LineEditor()
        for _ in 0..<1000 { try Self.press("'a' left right", &editor) }
        for _ in 0..<1000 { try Self.press("ctrl-_", &editor) }
        #expect(editor.text.count == 800)
        // A huge text counts for many steps, but the last change can always be undone.
        editor = LineEditor(String(repeating: "x", count: 300_000))
        for _ in 0..<6 { try Self.press("<y>", &editor) }
        for _ in 0..<6 { try Self.press("ctrl-_", &editor) }
        #expect(editor.text.count == 300_003)
        editor = LineEditor(String(repeating: "x", count: 1_100_000))
        try Self.press("<y> <y> ctrl-_ ctrl-_", &editor)
        #expect(editor.text.count == 1_100_001)
    }

    /// Somebody changes the text that one began with; `|` is the cursor.
    @Test(arguments: [
        // The original text, the typed one, the one made by others, and the resulting text in the field.
        ("cheese", "cheese| ", "cheese [one]", "cheese| [one] "),
        ("milk", "milk 2 l|", "oat milk", "oat milk 2 l|"),
        ("a b c", "a b| c", "x b c", "x b| c"),
        ("a b c", "a b| c", "a c", "a| c"),
        ("a b c", "a x| c", "a y c", "a x| c"),
        ("a b", "|", "a c", "|"),
        ("👩‍👩‍👧 é", "👩‍👩‍👧 é|!", "👩‍👩‍👧👩‍👩‍👧 é", "👩‍👩‍👧👩‍👩‍👧 é|!"),
        ("", "mine|", "theirs", "theirsmine|"),
    ]) func othersTextIsMerged(base: String, typed: String, present: String, result: String) throws {
        var editor = LineEditor(base, width: 10)
        try Self.press("ctrl-u", &editor)
        Self.insert(typed, &editor)
        _ = editor.merge(present)
        #expect(Self.marked(editor) == result)
    }

    /// Pastes a text, and moves to its cursor.
    static func insert(_ marked: String, _ editor: inout LineEditor) {
        let parts = marked.split(separator: "|", omittingEmptySubsequences: false)
        editor.insert(parts.joined())
        for _ in 0..<(parts.last?.count ?? 0) { _ = editor.handle(Key(.left)) }
    }
}
