/// Rows of ready text, for tables that are not of items.
struct RowsOfText: TableDataSource {
    let rows: [[Line]]

    init(_ rows: [[Line]]) {
        self.rows = rows
    }

    var rowCount: Int { rows.count }

    func cell(forRow row: Int, in pool: inout CellPool) -> any TableCell { pool.dequeue(TextCell.self, for: rows[row]) }
}
