/// Breaking text into lines of a width.
package enum Wrapping {
    /// The lines of a text, broken at blanks, or within words that are too long, and wherever the text has "\n". At least
    /// one line, at most `limit`, the last of which ends in `…` if there is more.
    ///
    /// Blanks at a break that the text has not asked for are left out. Control characters and those that turn the direction
    /// of writing become `�`, a tab becomes a blank.
    ///
    /// O(length of the text), and no more than O(`width` · `limit`), whatever follows.
    package static func lines(_ text: String, width: Int, limit: Int = .max) -> [String] {
        // Most texts are plain and short.
        if text.utf8.count <= width, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return [text] }
        var wrapper = Wrapper(width: max(1, width), limit: max(1, limit))
        let beginning = beginning(of: text, wrapper)
        for character in beginning {
            wrapper.take(character)
            if wrapper.isCut { break }
        }
        return wrapper.finish(hasMore: beginning.endIndex < text.endIndex)
    }

    /// Bytes of text for each column: more than any writing needs, so what goes beyond is made of things that nobody sees.
    private static let mostBytes = 64

    /// Text that cannot but fill all lines. Without this bound, a megabyte of blanks, of marks on one letter, or of emoji
    /// joined into one would be read to its end.
    private static func beginning(of text: String, _ wrapper: Wrapper) -> Substring {
        // One more, for the break.
        let perLine = wrapper.width.addingReportingOverflow(1)
        let columns = perLine.partialValue.multipliedReportingOverflow(by: wrapper.limit)
        let bytes = columns.partialValue.multipliedReportingOverflow(by: mostBytes)
        guard !perLine.overflow, !columns.overflow, !bytes.overflow,
            let end = text.utf8.index(text.startIndex, offsetBy: bytes.partialValue, limitedBy: text.endIndex)
        else { return text[...] }
        return Substring(text.unicodeScalars[..<end])
    }

    fileprivate static func clean(_ character: Character) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
                clean.append("\u{FFFD}")
            default: clean.append(scalar)
            }
        }
        return String(clean)
    }

    /// One character as it is drawn, in at most `width` columns, or what stands for it.
    static func drawn(_ character: Character, width: Int) -> (text: String, columns: Int) {
        if character.utf8.first == 0x09 { return (" ", 1) }
        let text: String
        let columns: Int
        if let plain = Columns.plain(character) {
            (text, columns) = (String(character), Columns.isWide(plain) ? 2 : 1)
        } else {
            text = String(Columns.characters(of: clean(character)))
            columns = Columns.width(of: text)
        }
        return columns <= width ? (text, columns) : ("\u{FFFD}", 1)
    }
}

/// Fills lines with characters.
private struct Wrapper {
    let width: Int
    let limit: Int
    /// Whether something did not fit the last line.
    private(set) var isCut = false
    private var lines: [String] = []

    private struct Piece {
        var text: String
        var columns: Int
    }

    // The line being filled.
    private var line: [Piece] = []
    private var columns = 0
    /// Pieces up to the last that is no blank.
    private var textEnd = 0
    /// Where the last word starts, and the text before it ends; nil while the line has only one.
    private var gap: (end: Int, start: Int)?
    /// Blanks follow that do not fit: the next word goes to the next line.
    private var isFull = false

    init(width: Int, limit: Int) {
        self.width = width
        self.limit = limit
    }

    private var isLast: Bool { lines.count == limit - 1 }

    mutating func take(_ character: Character) {
        switch character {
        case "\n": takeBreak()
        case " ", "\t": takeBlank()
        case "!"..."~" where character.utf8.count == 1: takePiece(String(character), 1)
        case "\r\n":
            takePiece("\u{FFFD}", 1)
            takeBreak()
        default: takeDrawn(Columns.characters(of: Wrapping.clean(character)))
        }
    }

    /// What the terminal draws for one character: a flag, say, is two. They stay in one line if one can hold them.
    private mutating func takeDrawn(_ drawn: [Character]) {
        let own = drawn.reduce(0) { $0 + Columns.width(of: $1) }
        if own == 0 { return }
        if own <= width { return takePiece(String(drawn), own) }
        for character in drawn where !isCut {
            let own = Columns.width(of: character)
            if own <= width { takePiece(String(character), own) } else { takePiece("\u{FFFD}", 1) }
        }
    }

    private mutating func takePiece(_ text: String, _ own: Int) {
        if textEnd > 0, isFull || textEnd < line.count { gap = (end: textEnd, start: line.count) }
        while isFull || columns + own > width {
            if isLast {
                isCut = true
                return
            }
            wrap()
        }
        line.append(Piece(text: text, columns: own))
        columns += own
        textEnd = line.count
    }

    private mutating func takeBlank() {
        if columns < width {
            line.append(Piece(text: " ", columns: 1))
            columns += 1
        } else {
            isFull = true
        }
    }

    private mutating func takeBreak() {
        if isLast { isCut = true } else { end(line.count, next: []) }
    }

    /// Ends the line before its last word, or here if it has only one.
    private mutating func wrap() {
        if let gap { end(gap.end, next: Array(line[gap.start...])) } else { end(line.count, next: []) }
    }

    private mutating func end(_ end: Int, next: [Piece]) {
        lines.append(line[..<end].map(\.text).joined())
        line = next
        columns = next.reduce(0) { $0 + $1.columns }
        (textEnd, gap, isFull) = (next.count, nil, false)
    }

    /// The lines. Where something is left out, `…` follows the last that is no blank.
    mutating func finish(hasMore: Bool) -> [String] {
        if isCut || hasMore {
            while let last = line.last, columns >= width || last.text == " " {
                line.removeLast()
                columns -= last.columns
            }
            line.append(Piece(text: "…", columns: 1))
        }
        return lines + [line.map(\.text).joined()]
    }
}
