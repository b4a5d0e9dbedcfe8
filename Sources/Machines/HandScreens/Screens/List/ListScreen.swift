import HandCore
import HandFormats
import HandSync

/// A list: its items, the user's edits and those of others.
struct ListScreen: TableScreen, ItemScreens {
    var list: String
    var table = TableView()
    var shown = ShownItems()
    var hidesTicked = false
    /// Which tasks are shown.
    var scope = Filter.Scope.everything
    /// The place near which the cursor stays while a filter is typed; nil once the cursor has moved.
    var home: Int?
    var mode = Mode.browsing
    /// The text that was entered last, until its edit is made.
    var entered: Draft?
    /// When ticked tasks go to where they are shown, if they are shown last; nil if none has just been ticked.
    var settlingDue: UInt64?
    /// The first and the last item to sort by when they came, once that is known; without items, the whole list is
    /// sorted. Nil if nothing waits.
    var sorting: [ItemID]?
    /// Whether the items are folded that were folded when the list was last closed.
    var hasRecalledFolds = false
    /// What others have put into the selected range, or moved the range over: it is not selected.
    private(set) var strangers: Set<ItemID> = []
    /// Where others are; known while something is folded.
    var places = ItemPlaces()

    /// What the user is doing. Beginning one thing ends the other.
    enum Mode: Sendable {
        case browsing
        /// A range, from the given place in the list to the cursor.
        case selecting(from: Int)
        /// Dragging the range from the given place to the cursor, or the current item.
        case dragging(Drag, from: Int?)
        /// Answering a question. The range from the given place to the cursor stays selected.
        case asking(Prompt, from: Int?)
        /// Typing a filter in place of the filter `before`.
        case filtering(Prompt, before: Filter?)
        case typing(Draft)

        /// Selects a range; browses if there is none.
        static func resting(from place: Int?) -> Mode { place.map { .selecting(from: $0) } ?? .browsing }
    }

    var typing: Typing? {
        switch mode {
        case .asking(let prompt, _), .filtering(let prompt, _): .question(prompt)
        case .typing(let draft): .field(draft)
        case .browsing, .selecting, .dragging: nil
        }
    }

    var draft: Draft? {
        get { if case .typing(let draft) = mode { draft } else { nil } }
        set { if let newValue { mode = .typing(newValue) } else if draft != nil { mode = .browsing } }
    }

    /// The other end of the selected range; nil if no range is selected.
    var anchor: Int? {
        get {
            switch mode {
            case .selecting(let place): place
            case .dragging(_, let place), .asking(_, let place): place
            case .browsing, .filtering, .typing: nil
            }
        }
        set {
            if newValue == nil { strangers = [] }
            switch mode {
            case .browsing, .selecting: mode = .resting(from: newValue)
            case .dragging(let drag, _): mode = .dragging(drag, from: newValue)
            case .asking(let prompt, _): mode = .asking(prompt, from: newValue)
            case .filtering, .typing: break
            }
        }
    }

    /// The drag to another row; nil if nothing is dragged to another row.
    var moving: Drag? {
        if case .dragging(let drag, _) = mode, drag.over != drag.from { drag } else { nil }
    }

    struct Drag: Equatable, Sendable {
        /// The item under the pointer when the button was pressed: others may move or delete it before the button is
        /// released.
        let item: ItemID
        let from: Int
        var over: Int
        /// The action if the button is released on the same row: open the current row, or tick its box.
        let click: Action?
    }

    var filter: Filter? { shown.filter }

    var route: Route { .list(list) }
    var deadline: UInt64? { settlingDue }

    func rows(_ app: AppState) -> ListRows {
        let data = app.list(list)
        return ListRows(
            data: data, cells: app.cells, shown: shown, places: places, draft: draft, draftRow: draftRow(app),
            selected: selectedRows(app), strangers: strangers,
            dragged: moving.map { _ in selectedRows(app) ?? table.cursor...table.cursor },
            now: app.now, today: app.day(), me: app.me,
            numberWidth: app.size.columns >= 60 ? String(data.hand.count).count : 0, lines: app.bodyRows)
    }

    /// The row where a new item is being typed; nil if none is.
    private func draftRow(_ app: AppState) -> Int? {
        guard case .new(let gap, _)? = draft?.target else { return nil }
        return shown.row(ofGap: gap, in: app.list(list).hand)
    }

    func title(_ app: AppState) -> Line {
        let data = app.list(list)
        var line = Line(list, .bold)
        guard data.state.isLoaded else { return line }
        if let filter {
            let state =
                filter.isComplete(in: data.hand)
                ? "" : ", searching \(100 * filter.scanned / max(1, data.hand.count)) %"
            line.append("  \(filter.matches.count) of \(data.hand.count)")
            if !filter.query.isEmpty { line.append(" contain '\(filter.query)'") }
            switch filter.scope {
            case .everything: break
            case .person(let name): line.append(" name \(TaskWords.word(for: name))")
            case .due(let day): line.append(" due by \(day)")
            }
            if filter.hidesTicked { line.append(", ticked hidden") }
            line.append(state)
        } else {
            line.append("  \(Amount.count(data.hand.count, "item"))")
        }
        if shown.tickedLast != nil { line.append(", ticked last") }
        if let moving, let place = rows(app).place(ofRow: moving.over) {
            let runs = branches(app)
            let (what, goes) = (EditText.name(runs, of: data.hand), runs.first?.count == 1 ? "goes" : "go")
            return line + Line("  \(what) \(goes) \(moving.over > moving.from ? "below" : "above") \(place + 1)")
        }
        if !data.news.isEmpty { line.append("  \(data.news.count) new", .bold) }
        if anchor != nil { line.append("  \(selection(app).reduce(0) { $0 + $1.count }) selected") }
        if let progress = data.progress, data.state.isLoaded { line.append("  loading \(Self.percent(progress))") }
        return line
    }

    static func percent(_ progress: ListData.Progress) -> String {
        "\(100 * progress.items / max(1, progress.total)) %"
    }

    func emptyText(_ app: AppState) -> [Line] {
        let data = app.list(list)
        if let filter, data.state.isLoaded, !data.hand.isEmpty {
            if !filter.query.isEmpty { return [Line("Nothing here contains that.", .dim)] }
            switch filter.scope {
            case .everything: break
            case .person(let name): return [Line("Nothing here names \(TaskWords.word(for: name)).", .dim)]
            case .due(let day): return [Line("Nothing here is due by \(day).", .dim)]
            }
            return [Line("All items are ticked; \(app.keys.symbol(for: .hideTicked)) shows them.", .dim)]
        }
        return ListText.empty(data, app)
    }

    // MARK: Rows and places

    /// The place in the list that the cursor is on; nil if there is none.
    func place(_ app: AppState) -> Int? { rows(app).place(ofRow: table.cursor) }

    func current(_ app: AppState) -> Item? { place(app).map { app.list(list).hand[$0] } }

    /// The row that shows a place, or else the next shown place.
    func row(ofPlace place: Int) -> Int { shown.row(ofPlace: place) }

    func selectedRows(_ app: AppState) -> ClosedRange<Int>? {
        guard let anchor else { return nil }
        let other = row(ofPlace: anchor)
        return min(other, table.cursor)...max(other, table.cursor)
    }

    /// The places to edit: the selected range, or the current item; with what folded items hide, or without.
    func selection(_ app: AppState, withHidden: Bool = true) -> [Range<Int>] {
        let rows = rows(app)
        guard rows.itemCount > 0, draft == nil else { return [] }
        let selected = (selectedRows(app) ?? table.cursor...table.cursor).clamped(to: 0...(rows.itemCount - 1))
        let runs = shown.runs(ofRows: selected, withHidden: withHidden)
        let left = strangers.compactMap(app.list(list).hand.index(of:)).sorted()
        return runs.flatMap { run in
            var (parts, start) = ([Range<Int>](), run.lowerBound)
            for place in left where run.contains(place) && place >= start {
                if place > start { parts.append(start..<place) }
                start = withHidden ? shown.end(ofPlace: place) : place + 1
            }
            return start < run.upperBound ? parts + [start..<run.upperBound] : parts
        }
    }

    /// The places of the rows in the selected range; nil if nothing is selected.
    func selectedPlaces(_ app: AppState) -> [Int]? {
        selectedRows(app)?.compactMap(shown.place(ofRow:))
    }

    /// Selects the items at these places again after something has moved or hidden rows, and nothing else. The cursor
    /// stays on its item if that is the first or the last of them. O(rows from the first to the last)
    mutating func keepSelection(of places: [Int]?, cursor: Int?, _ app: AppState) -> [Command] {
        guard let places, let anchor else { return [] }
        let hand = app.list(list).hand
        let rows = places.filter { !strangers.contains(hand[$0].id) }.compactMap(shown.row(ofShown:)).sorted()
        guard let first = rows.first, let last = rows.last else {
            self.anchor = nil
            return [.say("what you had selected is gone")]
        }
        let own = cursor.flatMap(shown.row(ofShown:))
        let isDown = own == last || own != first && row(ofPlace: anchor) <= table.cursor
        self.anchor = shown.place(ofRow: isDown ? first : last)
        table.follow(to: isDown ? last : first)
        table.settle(in: geometry(app))
        if rows.count <= last - first {
            let selected = Set(rows)
            let others = (first...last).lazy.filter { !selected.contains($0) }.compactMap(shown.place(ofRow:))
            strangers.formUnion(others.map { hand[$0].id })
        }
        return []
    }

    mutating func select(row: Int, _ app: inout AppState) -> [Command] {
        table.move(to: row, in: geometry(app))
        home = nil
        return []
    }

    // MARK: Events

    mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        switch event {
        case .appeared:
            let commands = recallFolds(&app)
            table.settle(in: geometry(app))
            return commands + [.follow(list)]
        case .input(.key(let key)): return type(key, &app)
        case .input(.paste(let text)): return paste(text, &app)
        case .input(.mouse(let mouse)): return self.mouse(mouse, &app)
        case .answer(let prompt, let outcome): return answer(prompt, outcome, &app)
        case .model(.list(list, .changed(_, let update))):
            let commands = follow(update.delta, by: update.origin, &app)
            return commands + recallFolds(&app) + hidden(by: update, in: app.list(list).hand)
                + (filter.map { $0.isComplete(in: app.list(list).hand) } == false ? [.workOn] : [])
        case .model(.continueWork): return search(&app)
        case .model(.folds(list, _)): return recallFolds(&app)
        case .model(.list(list, .presence)):
            if !shown.folds.isEmpty { places.find(in: app.list(list)) }
            settle(app)
        case .model(.input(.resize)), .model(.input(.cursor)): settle(app)
        case .model(.failed(.edit(list, _), let reason)): takeBack(reason, app)
        case .model(.done(.edit(list, _))): entered = nil
        case .model(.tick): return settleTicked(app)
        case .model(.arrivals(list, let revisions)): return sortByArrival(revisions, &app)
        case .model(.failed(.fetchArrivals(list), _)): sorting = nil
        case .model(.lists): offerLists(app)
        case .model(.editedOutside(let text)):
            let rules = app.list(list).hand.rules
            draft?.comeBack(with: text, rules)
            settle(app)
        case .model(.failed(.editOutside, let reason)):
            draft?.comeBack(without: reason)
            settle(app)
        case .model(.list(list, .refused)) where app.list(list).state.isLoaded:
            return app.list(list).refusal.map { [.say($0)] } ?? []
        default: break
        }
        return []
    }

    /// Says how many items the user's edit has put where the filter does not show them.
    private func hidden(by update: Replica.Update, in hand: Hand) -> [Command] {
        guard let filter, update.origin == .own else { return [] }
        func count(_ mark: Delta.Mark, _ shows: (Content) -> Bool) -> Int {
            let places = update.delta.placed.filter { $0.mark == mark }.map(\.new)
            return places.reduce(0) { $0 + hand.items(in: $1).count { !shows($0.content) } }
        }
        // A user who hides ticked tasks knows why a ticked task disappears, so only the text of edited items counts.
        let (added, saved) = (count(.inserted, filter.isMatch), count(.edited, filter.hasText))
        if added > 0 { return [.say("\(Amount.count(added, "item")) added, hidden by the filter")] }
        return saved > 0 ? [.say("\(Amount.count(saved, "item")) saved, hidden by the filter")] : []
    }

    private mutating func follow(_ delta: Delta, by origin: Replica.Origin, _ app: inout AppState) -> [Command] {
        let hand = app.list(list).hand
        let oldPlace = placeBeforeChange()
        let selected = origin == .own ? nil : selectedPlaces(app)
        let name = app.list(list).name(of: origin) ?? "somebody"
        let hadItem = oldPlace < hand.count - delta.growth
        let kept = hadItem ? delta.map(index: oldPlace) : nil
        let isHeirElsewhere = hadItem && kept == nil && shown.tickedLast != nil
        let heir = isHeirElsewhere ? shown.heir(of: oldPlace, after: delta, to: hand) : nil
        var isRefolded = shown.follow(delta, to: hand, keeping: draft?.edited)
        places.follow(delta)
        holdTicked(origin == .own, app.now)
        if isRefolded { places.find(in: app.list(list)) }
        func follow(_ place: Int) -> Int { delta.map(index: place) ?? delta.map(gap: place, .after) }
        home = home.map(follow)
        if let anchor { self.anchor = hand.isEmpty ? nil : min(follow(anchor), hand.count - 1) }
        let added = origin == .own ? delta.firstInserted : nil
        if var draft {
            if !draft.follow(delta, to: hand, by: name) {
                // The typed text outlives its item.
                draft.outlive(at: delta.map(gap: oldPlace, .after), by: name)
            }
            if let added, case .new(_, let side) = draft.target { draft.target = .new(gap: added.upperBound, side) }
            self.draft = draft
        }
        let place = draft?.place ?? added?.lowerBound ?? kept ?? heir ?? delta.map(gap: oldPlace, .after)
        // Nothing that the user types or has just edited disappears in a folded item.
        if origin == .own || draft?.adds == false { isRefolded = shown.reveal(place, in: hand) || isRefolded }
        if added == nil {
            goTo(place, app)
        } else {
            // What the user adds pushes the cursor down, and not what is above it out of sight.
            table.move(to: draftRow(app) ?? row(ofPlace: place), in: geometry(app))
        }
        settle(app)
        var said = keepSelection(of: selected.map { delta.map(indices: $0).map(\.new) }, cursor: kept, app)
        if let moving, hand.index(of: moving.item) == nil {
            mode = .resting(from: anchor)
            said.append(.say("somebody deleted the item meanwhile; nothing was done"))
        }
        return said + (isRefolded ? keepFolds(&app) : [])
    }

    /// Puts the cursor on the row of a place, or on that of the new item that is being typed.
    mutating func goTo(_ place: Int, _ app: AppState) {
        table.follow(to: draftRow(app) ?? row(ofPlace: place))
    }

    /// Wraps the typed text to the available width, and shows the cursor's row.
    mutating func settle(_ app: AppState) {
        if draft != nil {
            let room = RowFrame.room(rows(app).state(ofRow: table.cursor), width: app.size.columns)
            draft?.fit(width: room)
        }
        table.settle(in: geometry(app))
    }

    /// The cursor's place in the list before a change.
    func placeBeforeChange() -> Int {
        if case .new(let gap, _) = draft?.target { return gap }
        return shown.place(ofRow: table.cursor) ?? 0
    }

    // MARK: Drawing

    func draw(on canvas: inout Canvas, _ app: AppState) {
        drawTable(on: &canvas, app)
        guard draft != nil || moving != nil else { return }
        for placed in table.placed(in: geometry(app)) {
            if placed.row == table.cursor, draft != nil { placeCursor(placed, on: &canvas, app) }
            if let moving, moving.over == placed.row {
                let row = placed.line + ScreenFrame.titleRows + (moving.over > moving.from ? placed.height - 1 : 0)
                canvas.restyle(row: row, 0..<canvas.size.columns) { $0.with(.underline) }
            }
        }
    }

    private func placeCursor(_ placed: TableView.Placed, on canvas: inout Canvas, _ app: AppState) {
        guard let draft else { return }
        let state = rows(app).state(ofRow: placed.row)
        let room = RowFrame.room(state, width: canvas.size.columns)
        let cursor = EditorCell(draft: draft, room: app.bodyRows).cursor(width: room)
        let (row, column) = (
            placed.line + cursor.row, RowFrame.leadWidth(state, width: canvas.size.columns) + cursor.column
        )
        guard (0..<app.bodyRows).contains(row) else { return }
        canvas.cursor = Point(row: row + ScreenFrame.titleRows, column: min(column, canvas.size.columns - 1))
    }
}

extension Delta {
    /// The places, in the new list, of the first items that this delta inserts.
    var firstInserted: Range<Int>? {
        placed.first { $0.mark == .inserted }?.new
    }
}
