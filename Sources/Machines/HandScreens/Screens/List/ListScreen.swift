import HandCore
import HandFormats
import HandSync

/// One list: its items, what one does with them, and what others do meanwhile.
struct ListScreen: TableScreen, ListScreens {
    static let kind = ScreenKind.list

    var list: String
    var table = TableView()
    var prompt: Prompt?
    var filter: Filter?
    var hidesTicked = false
    /// The filter as it was before one began to type another.
    var filterBefore: Filter?
    /// The place to which the cursor keeps while a filter is typed and searched for; nil once one goes elsewhere.
    var home: Int?
    var draft: Draft?
    /// The other end of the selected range, as a place in the list; nil if no range is selected.
    var anchor: Int?
    var drag: Drag?

    /// An item that the mouse has taken hold of, and the row over which it is.
    struct Drag: Equatable, Sendable {
        let from: Int
        var over: Int
        /// What letting go on the same row does: open it if the cursor was there already, tick it if its box was pressed.
        let click: Action?

        var isMoving: Bool { over != from }
    }

    init(list: String) {
        self.list = list
    }

    var route: Route { .list(list) }
    var isTyping: Bool { draft != nil }

    func rows(_ world: World) -> ListRows {
        ListRows(
            data: world.list(list), cells: world.cells, filter: filter, draft: draft, selected: selectedRows(world),
            dragged: drag?.isMoving == true ? selectedRows(world) ?? table.cursor...table.cursor : nil, now: world.now,
            hasNumbers: world.size.columns >= 60)
    }

    func title(_ world: World) -> Line {
        let data = world.list(list)
        var line = Line(list, .bold)
        guard data.standing.isLoaded else { return line }
        if let filter {
            let state =
                filter.isComplete(in: data.hand)
                ? "" : ", searching \(100 * filter.scanned / max(1, data.hand.count)) %"
            line.append("  \(filter.matches.count) of \(data.hand.count)")
            if !filter.query.isEmpty { line.append(" contain '\(filter.query)'") }
            if filter.hidesTicked { line.append(", ticked hidden") }
            line.append(state)
        } else {
            line.append("  \(Words.count(data.hand.count, "item"))")
        }
        if let drag, drag.isMoving, let place = rows(world).place(ofRow: drag.over) {
            let what = Deed.name(selection(world), of: data.hand)
            return line + Line("  \(what) goes \(drag.over > drag.from ? "below" : "above") \(place + 1)")
        }
        if anchor != nil { line.append("  \(selection(world).reduce(0) { $0 + $1.count }) selected") }
        if let progress = data.progress, data.standing.isLoaded { line.append("  loading \(Self.percent(progress))") }
        return line
    }

    static func percent(_ progress: ListData.Progress) -> String {
        "\(100 * progress.items / max(1, progress.total)) %"
    }

    func emptyText(_ world: World) -> [Line] {
        let data = world.list(list)
        if let filter, data.standing.isLoaded, !data.hand.isEmpty {
            if !filter.query.isEmpty { return [Line("Nothing here contains that.", .dim)] }
            return [Line("All is ticked; \(world.keys.symbol(for: .hideTicked)) shows it.", .dim)]
        }
        return ListText.empty(data, world)
    }

    // MARK: Rows and places

    /// The place in the list that the cursor is on; nil if it is on none.
    func place(_ world: World) -> Int? { rows(world).place(ofRow: table.cursor) }

    func currentItem(_ world: World) -> Item? { place(world).map { world.list(list).hand[$0] } }

    func typingHints(_ world: World) -> [Hint] {
        guard let draft, case .new = draft.target else { return Hint.whileEditing }
        var hints = [Hint(Key(.enter), to: draft.editor.text.isEmpty ? "end" : "add"), Hint(Key(.escape), to: "leave")]
        if let next = nextKind(world.list(list).hand.rules, isBack: false), next != draft.kind {
            hints.append(Hint(Key(.tab), to: "\(next.name) instead"))
        }
        return hints + [Hint(Key(.enter, .alt), to: "line break")]
    }

    /// The row of a place, or of the nearest one that is shown.
    func row(ofPlace place: Int) -> Int { filter.map { $0.row(ofGap: place) } ?? place }

    func selectedRows(_ world: World) -> ClosedRange<Int>? {
        guard let anchor else { return nil }
        let other = row(ofPlace: anchor)
        return min(other, table.cursor)...max(other, table.cursor)
    }

    /// The places that an edit concerns: the selected range, or what the cursor is on.
    func selection(_ world: World) -> [Range<Int>] {
        let rows = rows(world)
        guard rows.itemCount > 0, draft == nil else { return [] }
        let selected = (selectedRows(world) ?? table.cursor...table.cursor).clamped(to: 0...(rows.itemCount - 1))
        guard let filter else { return [selected.lowerBound..<selected.upperBound + 1] }
        var runs: [Range<Int>] = []
        for match in filter.matches[selected] {
            if let last = runs.last, last.upperBound == Int(match) {
                runs[runs.count - 1] = last.lowerBound..<Int(match) + 1
            } else {
                runs.append(Int(match)..<Int(match) + 1)
            }
        }
        return runs
    }

    mutating func select(row: Int, _ world: inout World) -> [Command] {
        table.move(to: row, in: geometry(world))
        home = nil
        return []
    }

    // MARK: Events

    mutating func appear(_ world: inout World) -> [Command] {
        table.settle(in: geometry(world))
        return [.follow(list)]
    }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        switch event {
        case .list(list, .changed(_, let delta, let origin)):
            follow(delta, by: origin, &world)
            return filter.map { $0.isComplete(in: world.list(list).hand) } == false ? [.workOn] : []
        case .continueWork: return search(&world)
        case .input(.resize), .input(.cursor): table.settle(in: geometry(world))
        case .failed(.edit(list, _), let reason): draft?.problem = reason
        case .list(list, .refused(let reason)) where world.list(list).standing.isLoaded: return [.say(reason)]
        default: break
        }
        return []
    }

    private mutating func follow(_ delta: Delta, by origin: Replica.Origin, _ world: inout World) {
        let hand = world.list(list).hand
        let oldPlace = placeBeforeChange()
        let isDraftKept = draft?.follow(delta) ?? true
        filter?.follow(delta, to: hand)
        func follow(_ place: Int) -> Int { delta.map(index: place) ?? delta.map(gap: place, .after) }
        (anchor, home) = (anchor.map(follow), home.map(follow))
        if !isDraftKept, let lost = draft {
            // What was typed is not lost with the item that it was meant for.
            let deleter = world.list(list).name(of: origin) ?? "somebody"
            draft = Draft(
                target: .new(gap: delta.map(gap: oldPlace, .after), .after), kind: .task, editor: lost.editor,
                problem: "\(deleter) deleted this item; Enter adds this as a new one")
        }
        let added = origin == .own ? delta.firstInserted : nil
        if let added, case .new(_, let side) = draft?.target { draft?.target = .new(gap: added.upperBound, side) }
        if case .new(let gap, _) = draft?.target {
            table.follow(to: row(ofPlace: gap))
        } else {
            let hadItem = oldPlace < hand.count - delta.growth
            let kept = hadItem ? delta.map(index: oldPlace) : nil
            let place = added?.lowerBound ?? kept ?? delta.map(gap: oldPlace, .after)
            table.follow(to: row(ofPlace: place))
        }
        table.settle(in: geometry(world))
    }

    /// The cursor's place, found without the list, which is another by now.
    private func placeBeforeChange() -> Int {
        if case .new(let gap, _) = draft?.target { return gap }
        guard let filter else { return table.cursor }
        return table.cursor < filter.matches.count ? Int(filter.matches[table.cursor]) : 0
    }

    func focus(_ world: World) -> Focus? { Focus(list: list, item: currentItem(world)?.id) }

    // MARK: Drawing

    func draw(on canvas: inout Canvas, _ world: World) {
        drawTable(on: &canvas, world)
        for placed in table.placed(in: geometry(world)) {
            if placed.row == table.cursor, draft != nil { placeCursor(placed, on: &canvas, world) }
            if let drag, drag.over == placed.row, drag.isMoving {
                let row = placed.line + Frame.titleRows + (drag.over > drag.from ? placed.height - 1 : 0)
                canvas.restyle(row: row, 0..<canvas.size.columns) { $0.with(.underline) }
            }
        }
    }

    private func placeCursor(_ placed: TableView.Placed, on canvas: inout Canvas, _ world: World) {
        guard let draft, placed.line >= 0 else { return }
        let lead = RowFrame.leadWidth(rows(world).state(ofRow: placed.row)) + EditorCell.lead(draft.label)
        let room = max(1, canvas.size.columns - lead - 1)
        let column = lead + draft.editor.visible(width: room).cursorColumn
        canvas.cursor = Point(row: placed.line + Frame.titleRows, column: min(column, canvas.size.columns - 1))
    }
}

extension Delta {
    /// Where the first items that this delta inserts stand in the new list.
    var firstInserted: Range<Int>? {
        var position = 0
        for component in components {
            switch component {
            case .insert(let items, _): return position..<position + items.count
            case .keep(let count): position += count
            case .edit: position += 1
            case .drop(let slots, _, _): position += slots.count
            case .delete, .pick: break
            }
        }
        return nil
    }
}
