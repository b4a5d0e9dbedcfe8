import HandCore

/// Where a table has its rows from.
package protocol TableDataSource {
    var rowCount: Int { get }
    /// The cell of a row, showing it.
    func cell(forRow row: Int, in pool: inout CellPool) -> any TableCell
    func state(ofRow row: Int) -> RowState
}

extension TableDataSource {
    package func state(ofRow row: Int) -> RowState { RowState() }

    /// The lines of one row with its frame: cursor, number, marks, people.
    func lines(ofRow row: Int, width: Int, isCurrent: Bool, in pool: inout CellPool) -> [Line] {
        var state = state(ofRow: row)
        state.isCurrent = isCurrent
        return RowFrame.lines(of: cell(forRow: row, in: &pool), state, width: width)
    }
}

/// Rows of contents over any list: the i-th row is the i-th item unless it says otherwise.
package protocol ListDataSource: TableDataSource {
    associatedtype List: EditableList
    var list: List { get }
    var cells: any ContentCells { get }
    /// The place in the list of a row.
    func index(ofRow row: Int) -> Int
}

extension ListDataSource {
    package var rowCount: Int { list.count }
    package func index(ofRow row: Int) -> Int { row }

    package func cell(forRow row: Int, in pool: inout CellPool) -> any TableCell {
        cells.cell(for: list[index(ofRow: row)].content, in: &pool)
    }
}
