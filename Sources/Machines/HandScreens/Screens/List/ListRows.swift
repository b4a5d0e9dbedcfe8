import HandCore

/// The rows of the list screen: the items that are shown, and the field for typing.
struct ListRows: TableDataSource {
    let data: ListData
    let cells: any ContentCells
    let shown: ShownItems
    let places: ItemPlaces
    let draft: Draft?
    /// The row where a new item is being typed; nil if none is.
    let draftRow: Int?
    let selected: ClosedRange<Int>?
    /// Items within the selected rows that are not selected.
    let strangers: Set<ItemID>
    /// The rows that the mouse drags.
    let dragged: ClosedRange<Int>?
    let now: UInt64
    let today: String
    let me: String
    /// The columns for the numbers; 0 for none.
    let numberWidth: Int
    /// The lines of the screen, which a text being typed may fill.
    let lines: Int

    var list: Hand { data.hand }

    var itemCount: Int { shown.count(in: list) }
    var rowCount: Int { itemCount + (draftRow == nil ? 0 : 1) }

    /// The place of a row's item in the list; nil for the row of a new item that is being typed.
    func place(ofRow row: Int) -> Int? {
        guard let draftRow, row >= draftRow else { return index(ofItemRow: row) }
        return row == draftRow ? nil : index(ofItemRow: row - 1)
    }

    private func index(ofItemRow row: Int) -> Int? {
        row >= 0 && row < itemCount ? shown.place(ofRow: row) : nil
    }

    func cell(forRow row: Int) -> any TableCell {
        let place = place(ofRow: row)
        if let draft {
            guard let place else { return EditorCell(draft: draft, room: lines) }
            if case .existing(place, _, _) = draft.target { return EditorCell(draft: draft, room: lines) }
        }
        return place.map { cells.cell(for: list[$0].content) } ?? TextCell(text: [])
    }

    func state(ofRow row: Int) -> RowState {
        var state = RowState()
        state.numberWidth = numberWidth
        guard let place = place(ofRow: row) else {
            if let draft, case .new(let gap, let side) = draft.target {
                state.level = Int(shown.levelOfNewItem(at: gap, side, in: list))
            }
            return state
        }
        state.level = list.shownLevel(at: place)
        let item = list[place].id
        state.number = numberWidth > 0 ? place + 1 : nil
        state.isSelected = selected?.contains(row) == true && !strangers.contains(item)
        state.isDragged = dragged?.contains(row) ?? false
        state.isPending = data.unsent.contains(item)
        state.mark = data.news[item]
        (state.today, state.me) = (today, me)
        state.isFlashing = data.flashes[item].map { $0 > now } ?? false
        state.hidden = shown.folds.hidden(at: place)
        let hidden = place + 1..<shown.end(ofPlace: place)
        state.people = data.others { $0 == item || !hidden.isEmpty && places[$0].map(hidden.contains) == true }.map {
            RowState.Tag(name: $0.person.name, isEditing: $0.person.isEditing, color: PersonColor.of($0.author))
        }
        return state
    }
}

/// The colour of a person's name, the same on all screens.
enum PersonColor {
    private static let palette: [Style.Color] = [.magenta, .cyan, .green, .yellow, .blue, .red]

    static func of(_ author: AuthorID) -> Style.Color { palette[Int(author.rawValue % UInt64(palette.count))] }
}
