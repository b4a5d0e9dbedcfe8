/// Rows of text, for tables that are not of items; a row is only written when it is looked at.
struct RowsOfText: TableDataSource {
    let rowCount: Int
    private let text: (Int) -> [Line]

    init(_ rowCount: Int, _ text: @escaping (Int) -> [Line]) {
        self.rowCount = rowCount
        self.text = text
    }

    func cell(forRow row: Int, in pool: inout CellPool) -> any TableCell { pool.dequeue(TextCell.self, for: text(row)) }
}
