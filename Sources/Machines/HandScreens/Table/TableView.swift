/// The window of a table: which row the cursor is on, and the line on which that row starts.
///
/// Rows have different heights. Only rows in the window or next to it are measured, so a table of a million rows costs
/// no more than its window. Positions are relative to the cursor, so that edits above or below never move the cursor's
/// row.
package struct TableView: Equatable, Sendable {
    package private(set) var cursor = 0
    /// The line of the window, from 0, on which the cursor's row starts.
    package private(set) var line = 0

    package init() {}

    /// A row in the window. If the row's top is cut off, `line` is above the window.
    package struct Placed: Equatable, Sendable {
        package let row: Int
        package let line: Int
        package let height: Int
    }

    /// The facts about the rows that the window needs.
    package struct Geometry {
        package let count: Int
        package let lines: Int
        package let height: (Int) -> Int

        package init(count: Int, lines: Int, height: @escaping (Int) -> Int) {
            self.count = count
            self.lines = lines
            self.height = height
        }
    }

    /// Moves the cursor to another row, and the window as little as necessary. O(window).
    package mutating func move(to row: Int, in geometry: Geometry) {
        let target = max(0, min(row, geometry.count - 1))
        if target >= cursor {
            var next = cursor
            while next < target, line < geometry.lines {
                line += geometry.height(next)
                next += 1
            }
        } else {
            var next = cursor
            while next > target, line >= 0 {
                next -= 1
                line -= geometry.height(next)
            }
        }
        cursor = target
        settle(in: geometry)
    }

    /// Follows the cursor's row after the row has moved. The window moves with the row.
    package mutating func follow(to row: Int) { cursor = max(0, row) }

    /// Scrolls. The cursor stays on its row, unless the row leaves the window. O(window).
    package mutating func scroll(by lines: Int, in geometry: Geometry) {
        guard geometry.count > 0 else { return }
        line -= lines
        while line < 0, cursor + 1 < geometry.count {
            line += geometry.height(cursor)
            cursor += 1
        }
        while cursor > 0, line + geometry.height(cursor) > geometry.lines {
            cursor -= 1
            line -= geometry.height(cursor)
        }
        settle(in: geometry)
    }

    /// Moves the window so that it shows the cursor's whole row and has no unnecessary empty lines. O(window).
    package mutating func settle(in geometry: Geometry) {
        cursor = max(0, min(cursor, geometry.count - 1))
        guard geometry.count > 0 else {
            line = 0
            return
        }
        let own = geometry.height(cursor)
        line = max(0, min(line, geometry.lines - own))
        var below = line + own
        var next = cursor + 1
        while next < geometry.count, below < geometry.lines {
            below += geometry.height(next)
            next += 1
        }
        // Rows above may fill empty lines below, and must fill empty lines above.
        let wanted = line + max(0, geometry.lines - below)
        var above = 0
        next = cursor
        while next > 0, above < wanted {
            next -= 1
            above += geometry.height(next)
        }
        line = min(wanted, above)
        line = max(0, min(line, geometry.lines - own))
    }

    /// The rows in the window, from the top. O(window).
    package func placed(in geometry: Geometry) -> [Placed] {
        guard geometry.count > 0 else { return [] }
        var rows: [Placed] = []
        var top = line
        var row = cursor
        while row > 0, top > 0 {
            row -= 1
            let height = geometry.height(row)
            top -= height
            rows.append(Placed(row: row, line: top, height: height))
        }
        rows.reverse()
        top = line
        row = cursor
        while row < geometry.count, top < geometry.lines {
            let height = geometry.height(row)
            rows.append(Placed(row: row, line: top, height: height))
            top += height
            row += 1
        }
        return rows
    }
}
