import HandFormats

/// A text with the editing keys of a shell: one line, or several wrapped lines.
///
/// A key costs O(length of the line that it changes); for the other lines, only row starts are shifted.
package struct LineEditor: Equatable, Sendable {
    /// The characters as people see them. No two neighbours would combine into one character.
    private(set) var characters: [Character]
    /// The number of characters before the cursor.
    package internal(set) var cursor: Int
    /// The columns at which the text is wrapped; nil if it is one line.
    package var width: Int? { didSet { if width != oldValue { wrap() } } }
    /// Where each row of the wrapped text begins.
    package internal(set) var rows = [0]
    /// The text that everybody has: the original text with others' changes since then.
    package internal(set) var base: String
    /// The last deleted text that can be yanked.
    private var killed: [Character] = []
    /// What the last key did. The next key may continue it.
    var last = Act.other
    var past: [Snapshot] = []
    var future: [Snapshot] = []

    enum Act: Equatable {
        case typingWord, typingBlanks, killing, other
        /// Moving by rows, in the given column if the row is long enough.
        case climbing(column: Int)
    }

    /// Makes an editor for the text, with the cursor at its end.
    package init(_ text: String = "", width: Int? = nil) {
        (characters, base, self.width) = (Array(text), text, width)
        cursor = characters.count
        wrap()
    }

    package var text: String { String(characters) }
    package var isEmpty: Bool { characters.isEmpty }

    /// Inserts pasted text at the cursor. Tabs become blanks, and so do line breaks if the text is one line; other
    /// control characters are left out. A single undo removes the pasted text.
    package mutating func insert(_ text: String) {
        let clean = text.compactMap { character -> Character? in
            if character.isNewline { return width == nil ? " " : "\n" }
            if character == "\t" { return " " }
            return character.isControl ? nil : character
        }
        last = .other
        replace(cursor..<cursor, with: clean)
    }

    /// Carries out a key. Returns false and changes nothing if the key has no meaning here: Enter, Esc and Tab never
    /// have one; Up, Down and Alt-Enter have none in a single line. A key with a meaning may have no effect, such as
    /// Left at the start.
    package mutating func handle(_ key: Key) -> Bool {
        guard let act = type(key) ?? move(key) ?? climb(key) ?? change(key) ?? kill(key) ?? restore(key) else {
            return false
        }
        last = act
        return true
    }

    // MARK: Keys

    private mutating func type(_ key: Key) -> Act? {
        guard case .character(let character) = key.code, key.modifiers.isEmpty, !character.isControl else {
            return nil
        }
        let act = character == " " ? Act.typingBlanks : .typingWord
        // A word is undone as a whole, with the blanks before it.
        let continues = last == act || (last == .typingBlanks && act == .typingWord)
        replace(cursor..<cursor, with: [character], isOwnStep: !continues)
        return act
    }

    private mutating func move(_ key: Key) -> Act? {
        switch key {
        case Key(.left), .control("b"): cursor = max(0, cursor - 1)
        case Key(.right), .control("f"): cursor = min(characters.count, cursor + 1)
        case Key(.home), .control("a"): cursor = lineStart
        case Key(.end), .control("e"): cursor = lineEnd
        case Key(.character("b"), .alt), Key(.left, .alt), Key(.left, .control): cursor = wordStart
        case Key(.character("f"), .alt), Key(.right, .alt), Key(.right, .control): cursor = wordEnd
        default: return nil
        }
        return .other
    }

    private mutating func climb(_ key: Key) -> Act? {
        guard width != nil else { return nil }
        let step: Int
        switch key {
        case Key(.up), .control("p"): step = -1
        case Key(.down), .control("n"): step = 1
        default: return nil
        }
        let place = place
        let column = if case .climbing(let column) = last { column } else { place.column }
        if rows.indices.contains(place.row + step) { cursor = index(inRow: place.row + step, column: column) }
        return .climbing(column: column)
    }

    private mutating func change(_ key: Key) -> Act? {
        switch key {
        case Key(.enter, .alt) where width != nil: replace(cursor..<cursor, with: ["\n"])
        case Key(.backspace), .control("h"): replace(max(0, cursor - 1)..<cursor, with: [])
        case Key(.delete), .control("d"): replace(cursor..<min(characters.count, cursor + 1), with: [])
        case .control("y"): replace(cursor..<cursor, with: killed)
        case .control("t"): transpose()
        default: return nil
        }
        return .other
    }

    private mutating func kill(_ key: Key) -> Act? {
        switch key {
        case .control("w"): kill(blankStart..<cursor)
        case Key(.backspace, .alt): kill(wordStart..<cursor)
        case Key(.character("d"), .alt): kill(cursor..<wordEnd)
        // At the end or the start of the line, the line break is deleted.
        case .control("k"): kill(cursor..<(cursor < lineEnd ? lineEnd : min(characters.count, cursor + 1)))
        case .control("u"): kill((cursor > lineStart ? lineStart : max(0, cursor - 1))..<cursor)
        default: nil
        }
    }

    private mutating func restore(_ key: Key) -> Act? {
        switch key {
        case .control("_"), .control("/"): undo()
        case Key(.character("_"), .alt), Key(.character("/"), .alt): redo()
        default: return nil
        }
        return .other
    }

    // MARK: Changes

    /// Replaces a range with `new`, and puts the cursor after the new characters.
    ///
    /// - Parameter isOwnStep: whether the change is undone separately, not together with the previous change.
    private mutating func replace(_ range: Range<Int>, with new: [Character], isOwnStep: Bool = true) {
        guard !range.isEmpty || !new.isEmpty else { return }
        if isOwnStep { remember() }
        // New neighbours may combine into one character: a letter and its accent, or the halves of a flag.
        var (start, end) = (max(0, range.lowerBound - 1), min(characters.count, range.upperBound + 1))
        while !isBoundary(start) { start -= 1 }
        while !isBoundary(end) { end += 1 }
        let left = String(characters[start..<range.lowerBound] + new)
        let changed = left + String(characters[range.upperBound..<end])
        let former = characters.count
        characters.replaceSubrange(start..<end, with: changed)
        cursor = start + changed.characters(inBytes: left.utf8.count)
        let growth = characters.count - former
        wrap(changed: start..<end + growth, growth: growth)
    }

    /// Whether the characters on both sides of an index never combine, whatever else surrounds them.
    private func isBoundary(_ index: Int) -> Bool {
        index == 0 || index == characters.count
            || Columns.plain(characters[index - 1]) != nil && Columns.plain(characters[index]) != nil
    }

    mutating func show(_ snapshot: Snapshot) {
        characters = Array(snapshot.text)
        cursor = snapshot.cursor
        wrap()
    }

    /// Deletes a range next to the cursor, and keeps the deleted text for yanking. Consecutive kills are yanked
    /// together.
    private mutating func kill(_ range: Range<Int>) -> Act {
        // An empty kill must neither lose the killed text nor join it with the next kill.
        guard !range.isEmpty else { return last == .killing ? .killing : .other }
        let text = Array(characters[range])
        let isBack = range.lowerBound < cursor
        killed = last == .killing ? (isBack ? text + killed : killed + text) : text
        replace(range, with: [])
        return .killing
    }

    /// Swaps the characters around the cursor, or the last two at the end.
    private mutating func transpose() {
        guard cursor > 0, characters.count > 1 else { return }
        let right = min(cursor, characters.count - 1)
        replace(right - 1..<right + 1, with: [characters[right], characters[right - 1]])
    }

    // MARK: Words

    private func isWord(_ index: Int) -> Bool { characters[index].isLetter || characters[index].isNumber }

    private var wordStart: Int { start(before: start(before: cursor) { !isWord($0) }, of: isWord) }

    private var wordEnd: Int { end(after: end(after: cursor) { !isWord($0) }, of: isWord) }

    /// Where the word before the cursor starts, if only blanks separate words.
    private var blankStart: Int { start(before: start(before: cursor, of: isBlank)) { !isBlank($0) } }

    private func isBlank(_ index: Int) -> Bool { characters[index] == " " || isBreak(index) }

    /// Where the run of such characters starts that ends at `place`; `place` if there is none.
    func start(before place: Int, of isIn: (_ index: Int) -> Bool) -> Int {
        (0..<place).last { !isIn($0) }.map { $0 + 1 } ?? 0
    }

    /// Where the run of such characters ends that starts at `place`; `place` if there is none.
    func end(after place: Int, of isIn: (_ index: Int) -> Bool) -> Int {
        (place..<characters.count).first { !isIn($0) } ?? characters.count
    }
}
