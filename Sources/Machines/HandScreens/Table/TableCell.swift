import HandCore

/// What one row of a table is drawn in. A cell is made with what it shows, and knows how that looks in each state.
package protocol TableCell: Sendable {
    /// The lines of the row, each at most `width` columns; at least one.
    func lines(width: Int, _ state: RowState) -> [Line]
}

/// The state of a row, beside its content.
package struct RowState: Equatable, Sendable {
    /// The row under the cursor.
    package var isCurrent = false
    /// The row is within the selected range.
    package var isSelected = false
    /// The mouse drags the row.
    package var isDragged = false
    /// The server has not confirmed the user's edit of it.
    package var isPending = false
    /// Somebody has just changed it.
    package var isFlashing = false
    /// The others who are on it.
    package var people: [Tag] = []
    /// The number in front of it; nil for none.
    package var number: Int?
    /// Columns for the number.
    package var numberWidth = 0
    /// What a commit did to it.
    package var mark: Delta.Mark?

    package struct Tag: Equatable, Sendable {
        package var name: String
        package var isEditing: Bool
        package var color: Style.Color
    }

    package init() {}
}

/// The rows of a table.
package protocol TableDataSource {
    var rowCount: Int { get }
    /// The cell of a row, showing it.
    func cell(forRow row: Int) -> any TableCell
    func state(ofRow row: Int) -> RowState
}

extension TableDataSource {
    package func state(ofRow row: Int) -> RowState { RowState() }

    /// The lines of one row with its frame: cursor, number, marks, people.
    func lines(ofRow row: Int, width: Int, isCurrent: Bool) -> [Line] {
        var state = state(ofRow: row)
        state.isCurrent = isCurrent
        return RowFrame.lines(of: cell(forRow: row), state, width: width)
    }
}

/// Rows of text, for tables that show no items. A row is made when it is drawn.
struct RowsOfText: TableDataSource {
    let rowCount: Int
    private let text: (Int) -> [Line]

    init(_ rowCount: Int, _ text: @escaping (Int) -> [Line]) {
        self.rowCount = rowCount
        self.text = text
    }

    func cell(forRow row: Int) -> any TableCell { TextCell(text: text(row)) }
}
