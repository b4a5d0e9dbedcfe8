/// A place on the screen, counted from 0 at the top left.
package struct Point: Hashable, Sendable {
    package var row: Int
    package var column: Int

    package init(row: Int, column: Int) {
        self.row = row
        self.column = column
    }
}

package struct Size: Hashable, Sendable {
    package var rows: Int
    package var columns: Int

    package init(rows: Int, columns: Int) {
        self.rows = rows
        self.columns = columns
    }
}

/// A screen as a value: its cells and its cursor. The terminal draws the rows that differ from the previous canvas.
package struct Canvas: Equatable, Sendable {
    package struct Cell: Equatable, Sendable {
        /// One character as people see it; empty for the right half of a wide character.
        package var text: String
        package var style: Style

        package static let blank = Cell(text: " ", style: .plain)

        /// The first emoji of a cluster, filled up to two columns, for terminals that do not know clusters; nil if the
        /// text is no cluster.
        package var base: String? {
            guard text.utf8.count > 1, let character = text.first, Columns.isCluster(character),
                let first = text.unicodeScalars.first
            else { return nil }
            return String(first) + (Columns.isWide(first.value) ? "" : " ")
        }
    }

    package let size: Size
    package private(set) var rows: [[Cell]]
    /// Where the terminal shows its cursor; nil to hide it.
    package var cursor: Point?

    package init(_ size: Size) {
        self.size = size
        rows = Array(repeating: Array(repeating: .blank, count: max(0, size.columns)), count: max(0, size.rows))
    }

    /// Writes a line at `point`, up to the right edge. A line that does not fit ends in `…`. A line outside the canvas
    /// is ignored.
    package mutating func write(_ line: Line, at point: Point) {
        guard rows.indices.contains(point.row), point.column >= 0 else { return }
        let end = size.columns
        let isCut = line.width > end - point.column
        var column = point.column
        for span in line.spans {
            for character in Columns.characters(of: span.text) {
                let columns = Columns.width(of: character)
                guard columns > 0 else { continue }
                if column + columns > (isCut ? end - 1 : end) {
                    if isCut { fill(from: column, to: end, in: point.row, span.style) }
                    return
                }
                put(character, columns, Point(row: point.row, column: column), span.style)
                column += columns
            }
        }
    }

    private mutating func fill(from column: Int, to end: Int, in row: Int, _ style: Style) {
        for place in column..<max(end, column) {
            put(place == column ? "…" : " ", 1, Point(row: row, column: place), style)
        }
    }

    /// Writes one character. If it overwrites one half of a wide character, the other half becomes blank.
    private mutating func put(_ character: Character, _ columns: Int, _ point: Point, _ style: Style) {
        for column in point.column..<point.column + columns { clear(Point(row: point.row, column: column)) }
        rows[point.row][point.column] = Cell(text: String(character), style: style)
        if columns == 2 { rows[point.row][point.column + 1] = Cell(text: "", style: style) }
    }

    private mutating func clear(_ point: Point) {
        let (row, column) = (point.row, point.column)
        if rows[row][column].text.isEmpty, column > 0 { rows[row][column - 1].text = " " }
        if column + 1 < size.columns, rows[row][column + 1].text.isEmpty { rows[row][column + 1].text = " " }
    }

    package mutating func restyle(row: Int, _ columns: Range<Int>, _ change: (Style) -> Style) {
        guard rows.indices.contains(row) else { return }
        for column in columns.clamped(to: 0..<size.columns) {
            rows[row][column].style = change(rows[row][column].style)
        }
    }

    /// The rows to draw on a terminal that shows `previous`; all rows if there is no previous canvas, or after a
    /// resize.
    package func changedRows(since previous: Canvas?) -> [Int] {
        guard let previous, previous.size == size else { return Array(rows.indices) }
        return rows.indices.filter { rows[$0] != previous.rows[$0] }
    }

    /// The canvas in black and white.
    package var withoutColors: Canvas {
        var canvas = self
        for row in canvas.rows.indices { canvas.restyle(row: row, 0..<size.columns) { $0.withoutColors } }
        return canvas
    }

    /// The text of each row, without trailing blanks.
    package var lines: [String] {
        rows.map { row in
            let end = row.lastIndex { $0.text != " " && !$0.text.isEmpty } ?? -1
            return row[0..<end + 1].map(\.text).joined()
        }
    }
}
