/// Breaking text into lines of a width.
public enum Wrapping {
    /// The lines of a text, broken at blanks, or within words that are too long; at least one, at most `limit`, the last of
    /// which ends in `…` if there is more.
    ///
    /// Control characters and those that turn the direction of writing become `�`. O(what is shown): a long text is not
    /// read beyond the limit.
    public static func lines(_ text: String, width: Int, limit: Int = .max) -> [String] {
        var wrapper = Wrapper(width: max(1, width), limit: max(1, limit))
        for character in text {
            for drawn in Columns.characters(of: clean(character)) where !wrapper.isFull { wrapper.take(drawn) }
            if character.isNewline, !wrapper.isFull { wrapper.breakLine() }
            if wrapper.isFull { break }
        }
        return wrapper.finish()
    }

    private static func clean(_ character: Character) -> String {
        if character.isNewline { return "" }
        if character == "\t" { return " " }
        var clean = String.UnicodeScalarView()
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x061C, 0x2028...0x202E, 0x2066...0x2069:
                clean.append("\u{FFFD}")
            default: clean.append(scalar)
            }
        }
        return String(clean)
    }

    private struct Wrapper {
        let width: Int
        let limit: Int
        private var lines: [String] = []
        private var line: [Character] = []
        private var columns = 0
        /// Where the last blank of the line is.
        private var blank: Int?
        private(set) var isFull = false

        init(width: Int, limit: Int) {
            self.width = width
            self.limit = limit
        }

        mutating func take(_ character: Character) {
            let own = Columns.width(of: character)
            if columns + own > width {
                // A blank at the end of a line is the break itself.
                if character == " " { return breakLine() }
                wrap()
                if isFull { return }
            }
            if character == " " { blank = line.count }
            line.append(character)
            columns += own
        }

        /// Goes on in the next line, from the last word on if the line has a blank.
        private mutating func wrap() {
            let rest = blank.map { Array(line[($0 + 1)...]) } ?? []
            if let blank { line.removeSubrange(blank...) }
            breakLine()
            if isFull { return }
            line = rest
            columns = rest.reduce(0) { $0 + Columns.width(of: $1) }
        }

        mutating func breakLine() {
            lines.append(String(line))
            (line, columns, blank) = ([], 0, nil)
            isFull = lines.count > limit
        }

        mutating func finish() -> [String] {
            if !isFull { lines.append(String(line)) }
            guard lines.count > limit else { return lines }
            var last = Array(lines[limit - 1])
            while last.reduce(0, { $0 + Columns.width(of: $1) }) > width - 1, !last.isEmpty { last.removeLast() }
            return lines[..<(limit - 1)] + [String(last) + "…"]
        }
    }
}
