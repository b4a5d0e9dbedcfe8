import HandCore

/// Draws one row of a table. A cell is made with its content, and knows how the content looks in each state.
package protocol TableCell: Sendable {
    /// The lines of the row, at least one. Each has at most `width` columns.
    func lines(width: Int, _ state: RowState) -> [Line]
}

package struct RowState: Equatable, Sendable {
    /// Whether the row is under the cursor.
    package var isCurrent = false
    /// Whether the row is within the selected range.
    package var isSelected = false
    package var isDragged = false
    /// Whether the server has not yet confirmed the user's edit of the item.
    package var isPending = false
    /// Whether somebody has just changed the item.
    package var isFlashing = false
    /// The others who are on the item.
    package var people: [Tag] = []
    /// The number in front of the row; nil for none.
    package var number: Int?
    package var numberWidth = 0
    /// The level of the item, as it is shown.
    package var level = 0
    /// The sub-items that the row hides, because the item is folded; nil if it hides none.
    package var hidden: HiddenItems?
    /// Today, as `2026-12-01`: tasks that are due show their day in a colour. Nil shows no day in a colour.
    package var today: String?
    /// The user's name. Tasks that name the user stand out.
    package var me = ""
    /// What a commit did to the item.
    package var mark: Delta.Mark?

    package struct Tag: Equatable, Sendable {
        package var name: String
        package var isEditing: Bool
        package var color: Style.Color
    }

    package init() {}
}

package protocol TableDataSource {
    var rowCount: Int { get }
    func cell(forRow row: Int) -> any TableCell
    func state(ofRow row: Int) -> RowState
}

extension TableDataSource {
    package func state(ofRow row: Int) -> RowState { RowState() }

    /// The number of lines of one row.
    func height(ofRow row: Int, width: Int) -> Int {
        RowFrame.content(of: cell(forRow: row), state(ofRow: row), width: width).count
    }

    /// The lines of one row with its frame: cursor, number, marks, people.
    func lines(ofRow row: Int, width: Int, isCurrent: Bool) -> [Line] {
        var state = state(ofRow: row)
        state.isCurrent = isCurrent
        return RowFrame.lines(of: cell(forRow: row), state, width: width)
    }
}

/// Rows of text, for tables that do not show items. A row is made when it is drawn.
struct RowsOfText: TableDataSource {
    let rowCount: Int
    private let text: (Int) -> [Line]

    init(_ rowCount: Int, _ text: @escaping (Int) -> [Line]) {
        self.rowCount = rowCount
        self.text = text
    }

    func cell(forRow row: Int) -> any TableCell { TextCell(text: text(row)) }
}
