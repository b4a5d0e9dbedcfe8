import HandCore

/// The rows of the list screen: the items, or those that a filter leaves; and the field in which one is typing.
struct ListRows: ListDataSource {
    let data: ListData
    let cells: any ContentCells
    let filter: Filter?
    let draft: Draft?
    let selected: ClosedRange<Int>?
    /// The rows that the mouse takes along.
    let dragged: ClosedRange<Int>?
    let now: UInt64
    let hasNumbers: Bool

    var list: Hand { data.hand }

    /// The row before which a new item is being typed; nil if none is.
    private var draftRow: Int? {
        guard let draft, case .new(let gap, _) = draft.target else { return nil }
        return filter.map { $0.row(ofGap: gap) } ?? gap
    }

    var itemCount: Int { filter?.matches.count ?? list.count }
    var rowCount: Int { itemCount + (draftRow == nil ? 0 : 1) }

    /// The place in the list of a row that is an item's; nil for the one that is being typed.
    func place(ofRow row: Int) -> Int? {
        guard let draftRow, row >= draftRow else { return index(ofItemRow: row) }
        return row == draftRow ? nil : index(ofItemRow: row - 1)
    }

    private func index(ofItemRow row: Int) -> Int? {
        guard row >= 0, row < itemCount else { return nil }
        return filter.map { Int($0.matches[row]) } ?? row
    }

    func index(ofRow row: Int) -> Int { place(ofRow: row) ?? 0 }

    func cell(forRow row: Int, in pool: inout CellPool) -> any TableCell {
        guard let place = place(ofRow: row) else { return editor(draft, in: &pool) }
        if let draft, case .existing(place, _, _) = draft.target { return editor(draft, in: &pool) }
        return cells.cell(for: list[place].content, in: &pool)
    }

    private func editor(_ draft: Draft?, in pool: inout CellPool) -> any TableCell {
        pool.dequeue(
            EditorCell.self,
            for: EditorCell.Field(
                label: draft?.label ?? "", editor: draft?.editor ?? LineEditor(), hint: draft?.problem))
    }

    func state(ofRow row: Int) -> RowState {
        var state = RowState()
        state.numberWidth = hasNumbers ? String(list.count).count : 0
        guard let place = place(ofRow: row) else { return state }
        let item = list[place].id
        state.number = hasNumbers ? place + 1 : nil
        state.isSelected = selected?.contains(row) ?? false
        state.isDragged = dragged?.contains(row) ?? false
        state.isPending = data.unsent.contains(item)
        state.isFlashing = data.flashes[item].map { $0 > now } ?? false
        state.people = data.others(on: item).map {
            RowState.Tag(name: $0.person.name, color: PersonColor.of($0.author))
        }
        return state
    }
}

/// The colour in which a person is shown, the same wherever one meets them.
enum PersonColor {
    private static let palette: [Style.Color] = [.magenta, .cyan, .green, .yellow, .blue, .red]

    static func of(_ author: UInt64) -> Style.Color { palette[Int(author % UInt64(palette.count))] }
}
