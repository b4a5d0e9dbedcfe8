extension LineEditor {
    private typealias Drawn = (text: String, columns: Int)

    /// The part of the text that contains the cursor and fits into `width` columns, and the cursor's column in that
    /// part. `‹` and `›` mark where the text continues.
    ///
    /// Depends only on the text and the cursor. The part moves by half its width, so that the text stays still while
    /// the cursor moves within it. O(length of the line).
    package func visible(width: Int) -> (text: String, cursorColumn: Int) {
        let drawn = characters.map { Wrapping.drawn($0, width: .max) }
        let widths = drawn.map(\.columns)
        let before = widths[..<cursor].reduce(0, +)
        let total = before + widths[cursor...].reduce(0, +)
        // One extra column for the cursor after the end.
        if total < width { return (drawn.map(\.text).joined(), before) }
        // There is no room for marks on both sides.
        if width < 4 { return (rest(fitting: width, drawn), 0) }

        let step = min(width / 2, width - 3)
        // The cursor covers a character. A character wider than the part would never fit.
        let own = cursor < characters.count ? max(1, min(widths[cursor], width - 1 - step)) : 1
        // The first part with the cursor left of the last column, where the mark may be.
        let start = (max(0, before + own - width + 1) + step - 1) / step * step
        return (part(from: start, width: width, total: total, drawn), before - start)
    }

    /// The text from the cursor on, as far as it fits.
    private func rest(fitting width: Int, _ drawn: [Drawn]) -> String {
        var room = width
        return drawn.dropFirst(cursor).prefix {
            room -= $0.columns
            return room >= 0
        }.map(\.text).joined()
    }

    /// The text from column `start` on, each character in its place.
    private func part(from start: Int, width: Int, total: Int, _ drawn: [Drawn]) -> String {
        let hasMore = total > start + width
        let first = start > 0 ? start + 1 : 0
        let end = start + width - (hasMore ? 1 : 0)
        var part = start > 0 ? "‹" : ""
        var column = 0
        // Blanks replace the half of a wide character that a mark cuts off.
        var filled = first
        for (text, own) in drawn {
            let next = column + own
            if next > end { break }
            if column >= first {
                part += String(repeating: " ", count: column - filled)
                part += text
                filled = next
            }
            column = next
        }
        return hasMore ? part + String(repeating: " ", count: end - filled) + "›" : part
    }
}
