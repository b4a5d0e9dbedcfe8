/// What one row of a table is drawn in. A cell knows how it looks in each state; what it shows is given to it by
/// `configure(with:)`, and it does not know where that came from.
public protocol TableCell: Sendable {
    associatedtype Model

    init()
    mutating func configure(with model: Model)
    /// The lines of the row, each at most `width` columns; at least one.
    func lines(width: Int, _ state: RowState) -> [Line]
}

/// What a row is beside its content.
public struct RowState: Equatable, Sendable {
    /// The row under the cursor.
    public var isCurrent = false
    /// Within the range that is selected.
    public var isSelected = false
    /// The mouse takes it along.
    public var isDragged = false
    /// The server has not confirmed what one did to it.
    public var isPending = false
    /// Somebody has just changed it.
    public var isFlashing = false
    /// Others who are on it.
    public var people: [Tag] = []
    /// The number in front of it; nil for none.
    public var number: Int?
    /// Columns for the number.
    public var numberWidth = 0
    /// What a commit did to it.
    public var mark: Mark?

    public struct Tag: Equatable, Sendable {
        public var name: String
        public var color: Style.Color
    }

    public enum Mark: String, Sendable {
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

    public init() {}
}

/// Cells that are used again: one of each type, configured anew for each row.
public struct CellPool {
    private var cells: [ObjectIdentifier: any TableCell] = [:]

    public init() {}

    /// A cell of that type, showing `model`.
    public mutating func dequeue<Cell: TableCell>(_ type: Cell.Type, for model: Cell.Model) -> Cell {
        let key = ObjectIdentifier(type)
        var cell = cells[key] as? Cell ?? Cell()
        cell.configure(with: model)
        cells[key] = cell
        return cell
    }
}
