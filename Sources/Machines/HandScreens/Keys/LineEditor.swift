/// A line of text with the editing keys of a shell.
///
/// A key costs O(length of the line).
package struct LineEditor: Equatable, Sendable {
    /// Characters as people see them. No two neighbours would combine into one.
    var characters: [Character]
    /// Characters before the cursor.
    package internal(set) var cursor: Int
    /// The text that was killed last.
    private var killed: [Character] = []
    /// What the last key did. The next one may continue it.
    private var last = Act.other
    var past: [Snapshot] = []
    var future: [Snapshot] = []

    private enum Act {
        case typingWord, typingBlanks, killing, other
    }

    /// The text with the cursor at its end.
    package init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    package var text: String { String(characters) }

    /// Inserts pasted text at the cursor. Line breaks and tabs become blanks, other control characters are left out. One
    /// undo removes it.
    package mutating func insert(_ text: String) {
        let clean = text.compactMap { character -> Character? in
            if character.isNewline || character == "\t" { return " " }
            return Self.isControl(character) ? nil : character
        }
        last = .other
        replace(cursor..<cursor, with: clean)
    }

    private static func isControl(_ character: Character) -> Bool {
        character.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Does what a key means, which may be nothing, such as Left at the start. Returns false and changes nothing if the
    /// key has no meaning here; Enter, Esc, Tab, Up and Down never have one.
    package mutating func handle(_ key: Key) -> Bool {
        guard let act = type(key) ?? move(key) ?? change(key) ?? kill(key) ?? restore(key) else { return false }
        last = act
        return true
    }

    // MARK: Keys

    private mutating func type(_ key: Key) -> Act? {
        guard case .character(let character) = key.code, key.modifiers.isEmpty, !Self.isControl(character) else {
            return nil
        }
        let act = character == " " ? Act.typingBlanks : .typingWord
        // A word is undone as a whole, with the blanks before it.
        let goesOn = last == act || (last == .typingBlanks && act == .typingWord)
        replace(cursor..<cursor, with: [character], isOwnStep: !goesOn)
        return act
    }

    private mutating func move(_ key: Key) -> Act? {
        switch key {
        case Key(.left), .control("b"): cursor = max(0, cursor - 1)
        case Key(.right), .control("f"): cursor = min(characters.count, cursor + 1)
        case Key(.home), .control("a"): cursor = 0
        case Key(.end), .control("e"): cursor = characters.count
        case Key(.character("b"), .alt), Key(.left, .alt), Key(.left, .control): cursor = wordStart
        case Key(.character("f"), .alt), Key(.right, .alt), Key(.right, .control): cursor = wordEnd
        default: return nil
        }
        return .other
    }

    private mutating func change(_ key: Key) -> Act? {
        switch key {
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
        case .control("k"): kill(cursor..<characters.count)
        case .control("u"): kill(0..<cursor)
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

    /// Puts `new` in place of a range, and the cursor behind it.
    ///
    /// - Parameter isOwnStep: undone on its own, not with the change before.
    private mutating func replace(_ range: Range<Int>, with new: [Character], isOwnStep: Bool = true) {
        guard !range.isEmpty || !new.isEmpty else { return }
        if isOwnStep { remember() }
        // New neighbours may combine into one character: a letter and its accent, or the halves of a flag.
        let left = String(characters[..<range.lowerBound]) + String(new)
        characters = Array(left + String(characters[range.upperBound...]))
        cursor = 0
        var bytes = 0
        while bytes < left.utf8.count {
            bytes += characters[cursor].utf8.count
            cursor += 1
        }
    }

    /// Deletes a range beside the cursor and keeps it for yanking. Consecutive kills are yanked together.
    private mutating func kill(_ range: Range<Int>) -> Act {
        // An empty kill must not lose the killed text, nor join it with the next.
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

    /// Where the word before the cursor starts if only blanks divide words.
    private var blankStart: Int {
        var index = cursor
        while index > 0, characters[index - 1] == " " { index -= 1 }
        while index > 0, characters[index - 1] != " " { index -= 1 }
        return index
    }
}
