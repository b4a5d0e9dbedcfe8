import HandScreens
import Testing

@Suite struct KeyTextTests {
    /// Text, key, symbol.
    static let keys: [(String, Key, String)] = [
        ("j", Key(.character("j")), "j"), ("G", Key(.character("G")), "G"), ("?", Key(.character("?")), "?"),
        ("-", Key(.character("-")), "-"), ("ß", Key(.character("ß")), "ß"), ("世", Key(.character("世")), "世"),
        ("space", Key(.character(" ")), "␣"), ("enter", Key(.enter), "⏎"), ("esc", Key(.escape), "esc"),
        ("tab", Key(.tab), "tab"), ("shift-tab", Key(.tab, .shift), "⇧tab"), ("backspace", Key(.backspace), "⌫"),
        ("del", Key(.delete), "del"), ("ins", Key(.insert), "ins"), ("up", Key(.up), "↑"), ("down", Key(.down), "↓"),
        ("left", Key(.left), "←"), ("right", Key(.right), "→"), ("home", Key(.home), "home"), ("end", Key(.end), "end"),
        ("pgup", Key(.pageUp), "pgup"), ("pgdn", Key(.pageDown), "pgdn"), ("f1", Key(.function(1)), "f1"),
        ("f12", Key(.function(12)), "f12"), ("ctrl-r", .control("r"), "^R"), ("ctrl--", .control("-"), "^-"),
        ("ctrl-_", .control("_"), "^_"), ("ctrl-ß", .control("ß"), "^ß"), ("ctrl-space", .control(" "), "^␣"),
        ("ctrl-left", Key(.left, .control), "^←"), ("alt-down", Key(.down, .alt), "alt-↓"),
        ("alt-a", Key(.character("a"), .alt), "alt-a"), ("alt-A", Key(.character("A"), .alt), "alt-A"),
        ("shift-up", Key(.up, .shift), "⇧↑"), ("ctrl-alt-x", Key(.character("x"), [.control, .alt]), "^alt-X"),
        ("ctrl-alt-shift-f5", Key(.function(5), [.control, .alt, .shift]), "^alt-⇧f5"),
    ]

    @Test(arguments: keys)
    func keyIsReadAndWritten(_ text: String, _ key: Key, _ symbol: String) throws {
        #expect(try Key(text) == key)
        #expect(key.description == text)
        #expect(key.symbol == symbol)
    }

    @Test(arguments: [
        ("Enter", "enter"), ("ESC", "esc"), ("PgUp", "pgup"), ("F5", "f5"), ("Ctrl-R", "ctrl-r"),
        ("CTRL-Left", "ctrl-left"),
        ("shift-ctrl-up", "ctrl-shift-up"), ("alt-ctrl-x", "ctrl-alt-x"), ("F", "F"), ("alt--", "alt--"),
    ])
    func keyIsReadInOtherForms(_ text: String, _ written: String) throws {
        #expect(try Key(text).description == written)
    }

    @Test(arguments: [
        "", " ", "\t", "\n", "\u{7F}", "\u{A0}", "jj", "foo", "ctrl", "ctrl-", "ctrl-alt-", "ctrl-foo", "meta-x", "f0",
        "f13", "f01", "f+1", "f-1", "f1 ", "-ctrl", "^R", "j k",
    ])
    func otherTextsAreNotKeys(_ text: String) {
        let error = #expect(throws: Key.TextError.self) { try Key(text) }
        let description = error?.description ?? ""
        #expect(description.hasPrefix("'\(text)' is not a key; expected a character or one of space, enter, esc, "))
        #expect(description.contains("f1…f12"))
    }

    @Test(arguments: [
        ("shift-j", "'shift-j' has shift with a character; expected the capital alone, 'J'"),
        ("shift-J", "'shift-J' has shift with a character; expected the capital alone, 'J'"),
        ("alt-shift-é", "'alt-shift-é' has shift with a character; expected the capital alone, 'alt-É'"),
        ("shift-1", "'shift-1' has shift with a character; expected the character that comes with shift, alone"),
        (
            "shift-space",
            "'shift-space' has shift with a character; expected 'space', as terminals send the same with shift"
        ),
        (
            "ctrl-shift-r",
            "'ctrl-shift-r' has shift with a character; expected 'ctrl-r', as terminals send the same with shift"
        ),
        ("ctrl-ctrl-x", "'ctrl-ctrl-x' has ctrl- twice; expected it once"),
    ])
    func impossibleKeysAreExplained(_ text: String, _ description: String) {
        let error = #expect(throws: Key.TextError.self) { try Key(text) }
        #expect(error?.description == description)
    }

    @Test(arguments: [
        ("g g", [Key(.character("g")), Key(.character("g"))]),
        ("  ctrl-x   space ", [.control("x"), Key(.character(" "))]),
        ("j", [Key(.character("j"))]),
    ])
    func sequenceIsRead(_ text: String, _ keys: [Key]) throws {
        #expect(try Key.sequence(text) == keys)
    }

    @Test(arguments: ["", " ", "g foo", "shift-g g"])
    func otherTextsAreNotSequences(_ text: String) {
        #expect(throws: Key.TextError.self) { try Key.sequence(text) }
    }
}
