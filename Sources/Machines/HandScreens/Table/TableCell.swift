/// What one row of a table is drawn in. A cell knows how it looks in each state; what it shows is given to it by
/// `configure(with:)`, and it does not know where that came from.
package protocol TableCell: Sendable {
    associatedtype Model

    init()
    mutating func configure(with model: Model)
    /// The lines of the row, each at most `width` columns; at least one.
    func lines(width: Int, _ state: RowState) -> [Line]
}

/// What a row is beside its content.
package struct RowState: Equatable, Sendable {
    /// The row under the cursor.
    package var isCurrent = false
    /// Within the range that is selected.
    package var isSelected = false
    /// The mouse takes it along.
    package var isDragged = false
    /// The server has not confirmed what one did to it.
    package var isPending = false
    /// Somebody has just changed it.
    package var isFlashing = false
    /// Others who are on it.
    package var people: [Tag] = []
    /// The number in front of it; nil for none.
    package var number: Int?
    /// Columns for the number.
    package var numberWidth = 0
    /// What a commit did to it.
    package var mark: Mark?

    package struct Tag: Equatable, Sendable {
        package var name: String
        package var color: Style.Color
    }

    package enum Mark: String, Sendable {
        case inserted = "+"
        case moved = ">"
        case edited = "~"

        var color: Style.Color {
            switch self {
            case .inserted: .green
            case .moved: .cyan
            case .edited: .yellow
            }
        }
    }

    package init() {}
}

/// Cells that are used again: one of each type, configured anew for each row.
package struct CellPool {
    private var cells: [ObjectIdentifier: any TableCell] = [:]

    package init() {}

    /// A cell of that type, showing `model`.
    package mutating func dequeue<Cell: TableCell>(_ type: Cell.Type, for model: Cell.Model) -> Cell {
        let key = ObjectIdentifier(type)
        var cell = cells[key] as? Cell ?? Cell()
        cell.configure(with: model)
        cells[key] = cell
        return cell
    }
}
