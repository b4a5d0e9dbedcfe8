/// One line of text that a person edits, with the keys that people know from their shell.
public struct LineEditor: Equatable, Sendable {
    private(set) var characters: [Character]
    /// Characters before the cursor.
    public private(set) var cursor: Int
    /// What was killed last, to be yanked.
    private var killed: [Character] = []
    private var isKilling = false
    private var past: [Snapshot] = []
    private var future: [Snapshot] = []
    /// Whether the next character belongs to the word being typed, and is undone with it.
    private var isTyping = false

    private struct Snapshot: Equatable, Sendable {
        var characters: [Character]
        var cursor: Int
    }

    private static let mostUndos = 200

    public init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    public var text: String { String(characters) }

    /// Puts text in at the cursor, as pasted: breaks and tabs become blanks, other control characters are left out.
    public mutating func insert(_ text: String) {
        let clean = text.compactMap { character -> Character? in
            if character.isNewline || character == "\t" { return " " }
            return character.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
                ? character : nil
        }
        remember()
        isTyping = false
        isKilling = false
        put(clean)
    }

    private mutating func put(_ new: [Character]) {
        // Beside its neighbours a mark may become one character with them, so the text is read anew.
        let left = Array(String(characters[..<cursor]) + String(new))
        characters = Array(String(left) + String(characters[cursor...]))
        cursor = min(left.count, characters.count)
    }

    // MARK: Keys

    /// Does what the key means; false if it means nothing here. Enter, Esc, Tab, Up and Down never do.
    public mutating func handle(_ key: Key) -> Bool {
        if case .character(let character) = key.code, key.modifiers.isEmpty {
            type(character)
            return true
        }
        let wasKilling = isKilling
        isKilling = false
        if move(key) || restore(key) {
            isTyping = false
            return true
        }
        guard change(key, wasKilling: wasKilling) else {
            isKilling = wasKilling
            return false
        }
        isTyping = false
        return true
    }

    private mutating func type(_ character: Character) {
        isKilling = false
        if !isTyping || character == " " { remember() }
        isTyping = true
        put([character])
    }

    private mutating func move(_ key: Key) -> Bool {
        switch key {
        case Key(.left), .control("b"): cursor = max(0, cursor - 1)
        case Key(.right), .control("f"): cursor = min(characters.count, cursor + 1)
        case Key(.home), .control("a"): cursor = 0
        case Key(.end), .control("e"): cursor = characters.count
        case Key(.character("b"), .alt), Key(.left, .alt), Key(.left, .control): cursor = wordStart
        case Key(.character("f"), .alt), Key(.right, .alt), Key(.right, .control): cursor = wordEnd
        default: return false
        }
        return true
    }

    private mutating func change(_ key: Key, wasKilling: Bool) -> Bool {
        switch key {
        case Key(.backspace), .control("h"): remove(max(0, cursor - 1)..<cursor)
        case Key(.delete), .control("d"): remove(cursor..<min(characters.count, cursor + 1))
        case .control("w"), Key(.backspace, .alt): kill(blankStart..<cursor, isBack: true, joins: wasKilling)
        case Key(.character("d"), .alt): kill(cursor..<wordEnd, isBack: false, joins: wasKilling)
        case .control("k"): kill(cursor..<characters.count, isBack: false, joins: wasKilling)
        case .control("u"): kill(0..<cursor, isBack: true, joins: wasKilling)
        case .control("y"):
            remember()
            put(killed)
        case .control("t"): transpose()
        default: return false
        }
        return true
    }

    private mutating func remove(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        remember()
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    /// Takes text out to be yanked; kills in a row are yanked together.
    private mutating func kill(_ range: Range<Int>, isBack: Bool, joins: Bool) {
        let text = Array(characters[range])
        killed = joins ? (isBack ? text + killed : killed + text) : text
        isKilling = true
        remove(range)
    }

    private mutating func transpose() {
        guard cursor > 0, characters.count > 1 else { return }
        remember()
        let right = min(cursor, characters.count - 1)
        characters.swapAt(right - 1, right)
        cursor = right + 1
    }

    // MARK: Words

    private func isWord(_ index: Int) -> Bool { characters[index].isLetter || characters[index].isNumber }

    private var wordStart: Int {
        var index = cursor
        while index > 0, !isWord(index - 1) { index -= 1 }
        while index > 0, isWord(index - 1) { index -= 1 }
        return index
    }

    private var wordEnd: Int {
        var index = cursor
        while index < characters.count, !isWord(index) { index += 1 }
        while index < characters.count, isWord(index) { index += 1 }
        return index
    }

    /// Where the word before the cursor starts, as blanks divide words.
    private var blankStart: Int {
        var index = cursor
        while index > 0, characters[index - 1] == " " { index -= 1 }
        while index > 0, characters[index - 1] != " " { index -= 1 }
        return index
    }

    // MARK: Undo

    private mutating func remember() {
        past.append(Snapshot(characters: characters, cursor: cursor))
        if past.count > Self.mostUndos { past.removeFirst() }
        future = []
    }

    private mutating func restore(_ key: Key) -> Bool {
        switch key {
        case .control("_"), .control("/"): step(from: \.past, to: \.future)
        case Key(.character("_"), .alt), Key(.character("/"), .alt): step(from: \.future, to: \.past)
        default: return false
        }
        return true
    }

    private mutating func step(
        from source: WritableKeyPath<LineEditor, [Snapshot]>, to target: WritableKeyPath<LineEditor, [Snapshot]>
    ) {
        guard let snapshot = self[keyPath: source].popLast() else { return }
        self[keyPath: target].append(Snapshot(characters: characters, cursor: cursor))
        (characters, cursor) = (snapshot.characters, snapshot.cursor)
    }

    // MARK: Showing

    /// The part of the text that fits `width` columns with the cursor in it, and the cursor's column. `‹` and `›` stand where
    /// there is more.
    public func visible(width: Int) -> (text: String, cursorColumn: Int) {
        let widths = characters.map { Columns.width(of: String($0)) }
        let total = widths.reduce(0, +)
        if total < width { return (text, widths[..<cursor].reduce(0, +)) }
        // Windows overlap by half, so that the text stands still while the cursor moves within one.
        let before = widths[..<cursor].reduce(0, +)
        let step = max(1, width / 2)
        let window = before < width - 1 ? 0 : (before - width + 1) / step * step + step
        var shown = window > 0 ? "‹" : ""
        var column = 0
        var used = shown.isEmpty ? 0 : 1
        var cursorColumn = used
        for (index, character) in characters.enumerated() {
            if index == cursor { cursorColumn = used }
            defer { column += widths[index] }
            guard column >= window + (window > 0 ? 1 : 0) else { continue }
            if used + widths[index] > width - 1 {
                shown += "›"
                break
            }
            shown.append(character)
            used += widths[index]
        }
        if cursor == characters.count { cursorColumn = used }
        return (shown, min(cursorColumn, max(0, width - 1)))
    }
}
