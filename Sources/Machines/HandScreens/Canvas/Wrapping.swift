import HandFormats

/// Breaks text into lines of a given width.
package enum Wrapping {
    /// The lines of a text, broken at "\n", at blanks, and within words that are too long. There are at least one and
    /// at most `limit` lines; the last one ends in `…` if the text continues.
    ///
    /// Blanks at a break are left out, unless the break is a "\n". Control characters and marks of writing direction
    /// become `�`, a tab becomes a blank.
    ///
    /// O(length of the text), and at most O(`width` · `limit`).
    package static func lines(_ text: String, width: Int, limit: Int = .max) -> [String] {
        if text.utf8.count <= width, Printable.isPlain(text) { return [text] }
        var wrapper = Wrapper(width: max(1, width), limit: max(1, limit))
        let beginning = beginning(of: text, wrapper)
        for character in beginning {
            wrapper.take(character)
            if wrapper.isCut { break }
        }
        return wrapper.finish(hasMore: beginning.endIndex < text.endIndex)
    }

    /// The most bytes read per column. No script needs that many, so any longer text consists of invisible characters.
    private static let maxBytes = 64

    /// A prefix that is long enough to fill all lines. Without this limit, a megabyte of blanks, of marks on one
    /// letter, or of joined emoji would be read to the end.
    private static func beginning(of text: String, _ wrapper: Wrapper) -> Substring {
        // One extra column for the break.
        let perLine = wrapper.width.addingReportingOverflow(1)
        let columns = perLine.partialValue.multipliedReportingOverflow(by: wrapper.limit)
        let bytes = columns.partialValue.multipliedReportingOverflow(by: maxBytes)
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

    /// One character as it is drawn, or `�` if it takes more than `width` columns.
    static func drawn(_ character: Character, width: Int) -> (text: String, columns: Int) {
        if character.utf8.first == 0x09 { return (" ", 1) }
        let plain = Columns.plain(character)
        let text = plain == nil ? String(Columns.characters(of: clean(character))) : String(character)
        let columns = plain.map { Columns.isWide($0) ? 2 : 1 } ?? Columns.width(of: text)
        return columns <= width ? (text, columns) : ("\u{FFFD}", 1)
    }
}

private struct Wrapper {
    let width: Int
    let limit: Int
    /// Whether something did not fit into the last line.
    private(set) var isCut = false
    private var lines: [String] = []

    private struct Piece {
        var text: String
        var columns: Int
    }

    // The line being filled.
    private var line: [Piece] = []
    private var columns = 0
    /// The number of pieces up to the last one that is not blank.
    private var textEnd = 0
    /// Where the text before the last word ends, and where that word starts; nil while the line has only one word.
    private var gap: (end: Int, start: Int)?
    /// Whether blanks after the last word did not fit, so that the next word goes to the next line.
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

    /// Takes the characters that the terminal draws for one character; there may be several, as for a flag. They stay
    /// on one line if they fit.
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

    /// Ends the line before its last word, or here if the line has only one word.
    private mutating func wrap() {
        if let gap { end(gap.end, next: Array(line[gap.start...])) } else { end(line.count, next: []) }
    }

    private mutating func end(_ end: Int, next: [Piece]) {
        lines.append(line[..<end].map(\.text).joined())
        line = next
        columns = next.reduce(0) { $0 + $1.columns }
        (textEnd, gap, isFull) = (next.count, nil, false)
    }

    /// Returns the lines. If text is left out, the last line ends in `…`.
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
