import HandCore
import HandFormats
import HandSync

/// One item in full. Its actions are those of the list screen for the current item.
struct ItemScreen: ItemScreens {
    var list: String
    /// The first characters of the item's id, from the address.
    let id: String
    /// The number of lines scrolled away at the top.
    private var scrolled = 0
    /// The item's place in the list; nil if it was not found.
    private var place: Int?
    private var item: ItemID?
    private var isGone = false
    private var deleter: String?
    /// Whether the whole list was searched for the item.
    private var isSearched = false
    private var draft: Draft?
    /// The text that was entered last, until its edit is made.
    private var entered: Draft?
    private var problem: String?
    private var history = HistorySection()

    init(list: String, id: String) {
        self.list = list
        self.id = id
    }

    var route: Route { .item(list: list, id: id) }
    var typing: Typing? { draft.map { .field($0) } }

    func title(_ app: AppState) -> Line {
        let data = app.list(list)
        let number = place.map { "  item \($0 + 1) of \(data.hand.count)" } ?? ""
        return Line(list, .bold) + Line(number)
    }

    func current(_ app: AppState) -> Item? {
        let hand = app.list(list).hand
        return place.flatMap { $0 < hand.count ? hand[$0] : nil }
    }

    func refusal(of action: Action, _ app: AppState) -> String? {
        switch action {
        case .edit, .editAddress, .tick, .follow, .delete:
            guard let item = current(app) else { return "there is no item here" }
            if action == .tick, !item.content.kind.fields.contains(.done) { return "only tasks can be ticked" }
            return ListScreen.refusal(of: action, for: item.content)
        case .history where !app.isOnline: return "the history is on the server, which cannot be reached now"
        default: return nil
        }
    }

    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        switch action {
        case .up: scroll(by: -max(1, count ?? 1), app)
        case .down: scroll(by: max(1, count ?? 1), app)
        case .halfPageUp: scroll(by: -(app.bodyRows / 2), app)
        case .halfPageDown: scroll(by: app.bodyRows / 2, app)
        case .pageUp: scroll(by: -app.bodyRows, app)
        case .pageDown: scroll(by: app.bodyRows, app)
        case .top: scrolled = 0
        case .end: scrolled = maxScrolled(app)
        case .undo: return [.undo(list)]
        case .redo: return [.redo(list)]
        case .history:
            history.isShown.toggle()
            scrolled = 0
            return item.map { history.ask(for: $0, in: list, app) } ?? []
        default: return current(app).flatMap { act(action, on: $0, &app) }
        }
        return []
    }

    private mutating func act(_ action: Action, on item: Item, _ app: inout AppState) -> [Command]? {
        guard let place else { return nil }
        switch action {
        case .edit: draft = Draft(.text, of: item, at: place)
        case .editAddress: draft = Draft(.address, of: item, at: place)
        case .tick:
            guard case .task(_, let done) = item.content else { return [] }
            return [.edit(list: list, Delta.editing(at: place, Change(done: !done)))]
        case .follow: return LinkOpener.commands(for: item, app)
        case .delete:
            let (hand, runs) = (app.list(list).hand, [place..<place + 1])
            let what = EditText.name(runs, of: hand)
            let key = app.keys.symbol(for: .undo)
            return [.edit(list: list, hand.deleting(runs)), .back, .say("\(what) deleted; \(key) undoes")]
        default: return nil
        }
        return []
    }

    // MARK: Typing

    private mutating func type(_ input: Input, _ app: AppState) -> [Command] {
        draft?.fit(width: app.size.columns)
        switch input {
        case .key(Key(.escape)), .key(.control("c")): draft = nil
        case .key(Key(.enter)): return finishTyping(app)
        case .key(.control("o")): return draft?.goOutside() ?? []
        case .key(let key): draft?.type(key)
        case .paste(let text): draft?.paste(text)
        case .mouse, .resize, .focus, .cursor: break
        }
        return []
    }

    private mutating func finishTyping(_ app: AppState) -> [Command] {
        guard let place, let change = draft?.change else {
            draft = nil
            return []
        }
        // Text that the list does not accept stays in the field, with the reason.
        if let reason = app.list(list).refusal ?? app.refusal(of: .edit, on: list)
            ?? draft?.refusal(app.list(list).hand.rules)
        {
            draft?.problem = reason
            return []
        }
        (draft, entered) = (nil, draft)
        return [.edit(list: list, Delta.editing(at: place, change))]
    }

    // MARK: Events

    mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        switch event {
        case .appeared:
            find(app)
            return [.follow(list)] + (item.map { history.ask(for: $0, in: list, app) } ?? [])
        case .model(.itemHistory(list, let item, let steps)) where item == self.item: history.take(steps)
        case .model(.connection(.online, _)): return item.map { history.ask(for: $0, in: list, app) } ?? []
        case .input(let input): return type(input, app)
        case .model(.list(list, .changed(_, let update))):
            let delta = update.delta
            if let old = place {
                place = delta.map(index: old)
                isGone = place == nil
                if isGone { deleter = app.list(list).name(of: update.origin) }
                let (hand, name) = (app.list(list).hand, app.list(list).name(of: update.origin) ?? "somebody")
                if draft?.follow(delta, to: hand, by: name) == false { return rescue(&app) }
            } else if !isSearched || delta.insertedItems.contains(where: { isMeant($0.id) }) {
                // An undone deletion brings the item back under its id.
                find(app)
            }
            if let item, let place { return history.follow(delta, to: place, of: item, in: list, app) }
        case .model(.failed(.edit(list, _), let reason)):
            draft = draft ?? entered
            draft?.problem = reason
            entered = nil
        case .model(.done(.edit(list, _))): entered = nil
        case .model(.editedOutside(let text)):
            draft?.comeBack(with: text, app.list(list).hand.rules)
            return rescue(&app)
        case .model(.failed(.editOutside, let reason)):
            draft?.comeBack(without: reason)
            return rescue(&app)
        default: break
        }
        return []
    }

    /// If the item is deleted, continues with the typed text on the list's screen, unless another editor still has the
    /// text.
    private mutating func rescue(_ app: inout AppState) -> [Command] {
        guard isGone, let draft, draft.outside == nil else { return [] }
        self.draft = nil
        let summary = "\(deleter ?? "somebody") deleted this item"
        guard let kept = draft.kept(in: list, app.list(list)) else { return [.say(summary)] }
        app.drafts.append(kept)
        return [.open(.list(list)), .say("\(summary); Enter adds what you typed as a new one")]
    }

    private func isMeant(_ other: ItemID) -> Bool {
        item.map { $0 == other } ?? (ItemID.range(ofPrefix: id)?.contains(other) ?? false)
    }

    /// Finds the item by its id. O(n), so this is done only if the item may be in the list.
    private mutating func find(_ app: AppState) {
        let hand = app.list(list).hand
        isSearched = app.list(list).state.isLoaded
        if let item {
            place = hand.index(of: item)
            guard let place else { return }
            isGone = false
            // The draft is still here, because another editor had its text while the item was deleted.
            if case .existing(_, _, let field)? = draft?.target { draft?.target = .existing(place, hand[place], field) }
            return
        }
        do {
            place = try ItemReference("@" + id).position(in: hand)
            item = place.map { hand[$0].id }
        } catch {
            problem = error.description
        }
    }

    // MARK: Drawing

    private mutating func scroll(by lines: Int, _ app: AppState) {
        // The text may have become shorter, or the terminal larger, since the last key.
        let last = maxScrolled(app)
        scrolled = min(max(0, min(scrolled, last) + lines), last)
    }

    private func maxScrolled(_ app: AppState) -> Int {
        max(0, lines(app, width: app.size.columns - 2).count - app.bodyRows)
    }

    func draw(on canvas: inout Canvas, _ app: AppState) {
        guard current(app) != nil else { return ScreenFrame.write(missing(app), on: &canvas, app) }
        let all = lines(app, width: canvas.size.columns - 2)
        for (row, line) in all.dropFirst(min(scrolled, maxScrolled(app))).prefix(app.bodyRows).enumerated() {
            canvas.write(line, at: Point(row: row + ScreenFrame.titleRows, column: 1))
        }
        if let draft { draw(draft, on: &canvas, app) }
    }

    private func draw(_ draft: Draft, on canvas: inout Canvas, _ app: AppState) {
        let (width, cell) = (canvas.size.columns, EditorCell(draft: draft, room: app.bodyRows))
        let lines = cell.lines(width: width, RowState())
        let (cursor, top) = (cell.cursor(width: width), ScreenFrame.titleRows + app.bodyRows - lines.count)
        for (row, line) in lines.enumerated() {
            canvas.write(line.padded(to: width), at: Point(row: top + row, column: 0))
        }
        canvas.cursor = Point(row: top + cursor.row, column: min(cursor.column, width - 1))
    }

    private func missing(_ app: AppState) -> [Line] {
        let data = app.list(list)
        guard data.state.isLoaded, data.refusal == nil else { return ListText.empty(data, app) }
        if isGone {
            let undo = data.state.canUndo ? " \(app.keys.symbol(for: .undo)) undoes your last edit." : ""
            return [
                Line(deleter.map { "\($0) deleted this item." } ?? "This item was deleted.", .bold),
                Line("\(app.keys.symbol(for: .back)) goes back.\(undo)", .dim),
            ]
        }
        return [
            Line(problem ?? "This item is not in the list.", .bold),
            Line(
                "The list has \(Amount.count(data.hand.count, "item")); \(app.keys.symbol(for: .back)) shows them.",
                .dim),
        ]
    }

    private func lines(_ app: AppState, width: Int) -> [Line] {
        guard let item = current(app) else { return [] }
        let data = app.list(list)
        var lines = [Line(), Line("\(item.content.kind.name)  \(item.id)", .dim)]
        if data.unsent.contains(item.id) { lines[1].append("  • not saved yet", Style(.yellow)) }
        lines.append(Line())
        lines += item.content.accept(ItemText(width: max(1, width)))
        let others = data.others { $0 == item.id }
        if !others.isEmpty {
            var line = Line("also here: ", .dim)
            for (index, other) in others.enumerated() {
                let mark = (index > 0 ? ", " : "") + (other.person.isEditing ? "✎ " : "")
                line.append(mark + other.person.name, Style(PersonColor.of(other.author), [.bold]))
            }
            lines += [Line(), line]
        }
        return lines + history.lines(app)
    }
}
