import HandCore

// A text of several lines, wrapped.

extension LineEditor {
    mutating func wrap() {
        rows = [0]
        wrap(changed: 0..<characters.count, growth: 0)
    }

    /// Recomputes the rows where characters have changed, up to the first row whose start has not changed. A row begins
    /// after a line break, or, where the text is wrapped, after blanks or within a long word. Blanks before a wrap stay
    /// at the end of their row, past the edge if necessary, so that the cursor can reach them.
    ///
    /// - Parameters:
    ///   - changed: the range of new characters.
    ///   - growth: by how many characters the text has grown.
    mutating func wrap(changed: Range<Int>, growth: Int) {
        guard let width else { return }
        // A word may move back to the previous row.
        let first = max(0, rows.partitioningIndex { $0 > changed.lowerBound } - 2)
        var former = rows[(first + 1)...]
        rows.removeSubrange((first + 1)...)
        // The columns of the row so far; the start of its last word, and the columns before that word.
        var (columns, word, before) = (0, rows[first], 0)
        /// Begins a row. Returns whether all later rows are unchanged.
        func begin(_ start: Int) -> Bool {
            former = former.drop { $0 + growth < max(start, changed.upperBound) }
            if former.first.map({ $0 + growth }) == start {
                rows += former.map { $0 + growth }
                return true
            }
            rows.append(start)
            return false
        }
        for index in rows[first]..<characters.count {
            let character = characters[index]
            if isBreak(index) {
                if begin(index + 1) { return }
                (columns, word, before) = (0, index + 1, 0)
                continue
            }
            let own = Wrapping.drawn(character, width: width).columns
            let isBlank = character.utf8.first == 0x20 || character.utf8.first == 0x09
            while !isBlank, columns + own > width, let start = rows.last, index > start {
                // A word that fills the whole row is broken here.
                if word == start { (word, before) = (index, columns) }
                if begin(word) { return }
                (columns, before) = (columns - before, 0)
            }
            columns += own
            if isBlank { (word, before) = (index + 1, columns) }
        }
    }

    /// Whether the character at an index ends a line. (No other character ends in the byte 0x0A, and comparing bytes is
    /// much faster.)
    func isBreak(_ index: Int) -> Bool { characters[index].utf8.last == 0x0A }

    /// The characters of a row, without the line break at its end.
    private func range(ofRow row: Int) -> Range<Int> {
        let end = row + 1 < rows.count ? rows[row + 1] : characters.count
        return rows[row]..<(end > rows[row] && isBreak(end - 1) ? end - 1 : end)
    }

    /// The cursor's position in the wrapped text. After a full row, the cursor is in an extra column.
    package var place: Point {
        let row = rows.partitioningIndex { $0 > cursor } - 1
        let columns = characters[rows[row]..<cursor].reduce(0) { $0 + self.columns(of: $1) }
        return Point(row: row, column: min(columns, width ?? columns))
    }

    private func columns(of character: Character) -> Int {
        Wrapping.drawn(character, width: width ?? .max).columns
    }

    /// The index of the character at the given column of a row, or left of that column. The end of a wrapped row is the
    /// start of the next row.
    func index(inRow row: Int, column: Int) -> Int {
        let range = range(ofRow: row)
        let isWrapped = row + 1 < rows.count && rows[row + 1] == range.upperBound
        var (index, columns) = (range.lowerBound, 0)
        while index < range.upperBound - (isWrapped ? 1 : 0) {
            columns += self.columns(of: characters[index])
            if columns > column { break }
            index += 1
        }
        return index
    }

    /// The rows to show if there is room for `lines` rows: all rows, or a window that contains the cursor's row. The
    /// window depends only on the text and the cursor. It moves by half its height, so that the text stays still while
    /// the cursor moves.
    package func window(lines: Int) -> Range<Int> {
        guard rows.count > lines else { return rows.indices }
        let step = max(1, lines / 2)
        let start = (max(0, place.row - lines + 1) + step - 1) / step * step
        return min(start, rows.count - lines)..<min(start, rows.count - lines) + lines
    }

    /// A row as it is drawn.
    package func shown(row: Int) -> String {
        let width = width ?? .max
        var (text, columns) = ("", 0)
        for character in characters[range(ofRow: row)] {
            let drawn = Wrapping.drawn(character, width: width)
            columns += drawn.columns
            if columns > width { break }
            text += drawn.text
        }
        return text
    }

    // MARK: Lines

    var lineStart: Int { start(before: cursor) { !isBreak($0) } }

    var lineEnd: Int { end(after: cursor) { !isBreak($0) } }
}
