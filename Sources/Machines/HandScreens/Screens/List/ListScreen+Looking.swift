import HandCore
import HandFormats

// Finding items, selecting them, and opening other screens.

extension ListScreen {
    mutating func look(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        switch action {
        case .range:
            anchor = anchor == nil ? place(app) : nil
        case .selectUp, .selectDown:
            if anchor == nil { anchor = place(app) }
            return perform(action == .selectUp ? .up : .down, count: count, &app)
        case .selectAll:
            anchor = rows(app).place(ofRow: 0)
            return perform(.end, count: nil, &app)
        case .filter:
            home = place(app)
            let prompt = Prompt(purpose: .filter, question: "/", editor: LineEditor(filter?.query ?? ""))
            mode = .filtering(prompt, before: filter)
        case .hideTicked:
            hidesTicked.toggle()
            let key = app.keys.symbol(for: .hideTicked)
            return setQuery(filter?.query ?? "", &app) + search(&app) + [
                .say(hidesTicked ? "what is ticked is hidden; \(key) shows it" : "everything is shown")
            ]
        case .mine:
            let me = Filter.Scope.person(app.me)
            return show(scope == me ? .everything : me, &app)
        case .due:
            let (today, week) = (Filter.Scope.due(by: app.day()), Filter.Scope.due(by: app.day(in: 7)))
            return show(scope == today ? week : scope == week ? .everything : today, &app)
        case .tickedLast: return showTickedLast(app)
        case .jump:
            mode = .asking(Prompt(purpose: .jump, question: "go to (number, id or person):"), from: anchor)
        case .nextNew: return goToNews(&app) { place, here in place > here }
        case .previousNew: return goToNews(&app) { place, here in place < here }
        case .fold: return fold(&app)
        case .foldAll: return foldAll(&app)
        case .open: return current(app).map { [.open(.item(list: list, id: $0.id.description))] } ?? []
        case .follow: return current(app).map { LinkOpener.commands(for: $0, app) } ?? []
        case .history: return [.open(.history(list))]
        case .people: return [.open(.people(list))]
        case .notices: return [.open(.notices(list))]
        case .share: return [.open(.share(list))]
        case .back: return leave(&app)
        default: return nil
        }
        return []
    }

    /// Ends dragging, the selection, or the filter, whichever is active first; otherwise leaves the list.
    private mutating func leave(_ app: inout AppState) -> [Command] {
        if moving != nil {
            mode = .resting(from: anchor)
        } else if anchor != nil {
            anchor = nil
        } else if filter?.ignoresFolds == true {
            scope = .everything
            return setQuery("", &app) + search(&app)
        } else {
            return [.back]
        }
        return []
    }

    // MARK: Filter

    mutating func answer(_ prompt: Prompt, _ outcome: Prompt.Outcome, _ app: inout AppState) -> [Command] {
        let text = prompt.editor.text
        switch mode {
        case .asking(_, let place):
            mode = outcome == .typed ? .asking(prompt, from: place) : .resting(from: place)
            guard outcome == .answered else { return [] }
            switch prompt.purpose {
            case .sort: return ItemOrder(rawValue: text).map { sort(by: $0, &app) } ?? []
            case .send(let isMove, let items): return send(items, to: text, isMove: isMove, &app)
            case .jump, .filter, .newList, .deleteList, .renameList, .duplicateList, .undeleteList, .restore:
                return jump(to: text, &app)
            }
        case .filtering(let old, let before):
            mode = outcome == .typed ? .filtering(prompt, before: before) : .browsing
            switch outcome {
            case .typed where text == old.editor.text: return []
            case .typed:
                if let filter, text.hasPrefix(filter.query), filter.matches.count <= Filter.portion {
                    return setFilter(Filter(text, narrowing: filter, app.list(list).hand), &app) + search(&app)
                }
                return setQuery(text, &app) + search(&app)
            case .answered: return []
            case .left: return setFilter(before, &app) + search(&app)
            }
        case .browsing, .selecting, .dragging, .typing: return []
        }
    }

    /// Filters by a text, and by what else the user has chosen.
    private mutating func setQuery(_ query: String, _ app: inout AppState) -> [Command] {
        let isEverything = query.isEmpty && !hidesTicked && scope == .everything
        return setFilter(isEverything ? nil : Filter(query, hidesTicked: hidesTicked, scope), &app)
    }

    /// Shows only some of the tasks. The title says which.
    private mutating func show(_ new: Filter.Scope, _ app: inout AppState) -> [Command] {
        scope = new
        return setQuery(filter?.query ?? "", &app) + search(&app)
    }

    /// Searches the next items. Asks for more time if items remain.
    mutating func search(_ app: inout AppState) -> [Command] {
        let hand = app.list(list).hand
        if filter?.isComplete(in: hand) != false { return [] }
        shown.scan(hand)
        if let home { table.follow(to: row(ofPlace: home)) }
        table.settle(in: geometry(app))
        return filter?.isComplete(in: hand) == false ? [.workOn] : []
    }

    /// Sets another filter, or none. The cursor stays on its item if the item is still shown, or else moves to the next
    /// item. An item that was found in a folded one is unfolded.
    private mutating func setFilter(_ new: Filter?, _ app: inout AppState) -> [Command] {
        let (here, hand, old) = (home ?? place(app), app.list(list).hand, filter)
        shown.setFilter(new, in: hand)
        home = here
        anchor = nil
        let isRefolded = old?.ignoresFolds == true && here.map { shown.reveal($0, in: hand) } == true
        if let here { table.follow(to: row(ofPlace: here)) }
        table.settle(in: geometry(app))
        return isRefolded ? keepFolds(&app) : []
    }

    // MARK: Jumping

    /// Goes to an item by its number or the first characters of its id, or to a person's item.
    private mutating func jump(to text: String, _ app: inout AppState) -> [Command] {
        let data = app.list(list)
        let wanted = text.filter { $0 != " " }
        if wanted.isEmpty { return [] }
        let person = data.people.values.first { $0.name.lowercased().hasPrefix(text.lowercased()) }
        if let item = person?.focus?.item, let place = data.hand.index(of: item) { return jump(toPlace: place, &app) }
        do {
            return jump(toPlace: try ItemReference(wanted).position(in: data.hand), &app)
        } catch {
            return [.say("\(error)")]
        }
    }

    mutating func jump(toPlace place: Int, _ app: inout AppState) -> [Command] {
        if let filter, filter.row(ofIndex: place) == nil {
            (hidesTicked, scope) = (false, .everything)
            _ = setFilter(nil, &app)
        }
        _ = shown.reveal(place, in: app.list(list).hand)
        return select(row: row(ofPlace: place), &app) + keepFolds(&app)
    }

    /// Goes to the item with a number: the number in front of its row, unless a filter numbers the rows.
    mutating func go(toNumber number: Int, _ app: inout AppState) -> [Command] {
        if filter != nil { return select(row: number - 1, &app) }
        return jump(toPlace: max(0, min(number, app.list(list).hand.count) - 1), &app)
    }

    // MARK: News

    /// The items on the screen.
    func visibleItems(_ app: AppState) -> [ItemID] {
        let (rows, hand) = (rows(app), app.list(list).hand)
        return table.placed(in: geometry(app)).compactMap { rows.place(ofRow: $0.row).map { hand[$0].id } }
    }

    /// Goes to the next or the previous item that others have changed; after the last one, to the first.
    private mutating func goToNews(_ app: inout AppState, _ isAhead: (Int, Int) -> Bool) -> [Command] {
        let (data, here) = (app.list(list), place(app) ?? 0)
        let places = data.news.places(in: data.hand)
        let isDown = isAhead(1, 0)
        let ahead = places.filter { isAhead($0, here) }
        guard let place = (isDown ? ahead.first ?? places.first : ahead.last ?? places.last) else {
            return [.say("nothing is new")]
        }
        return jump(toPlace: place, &app)
    }

    // MARK: Mouse

    mutating func mouse(_ mouse: Mouse, _ app: inout AppState) -> [Command] {
        guard draft == nil else { return [] }
        switch mouse.act {
        case .press:
            guard let row = row(at: mouse.point, app) else { return [] }
            let click: Action? = isOnBox(mouse.point, app) ? .tick : row == table.cursor ? .open : nil
            // Dragging from within the range moves the range.
            let isInRange = selectedRows(app)?.contains(row) == true
            guard let item = item(ofRow: row, app) else { return [] }
            mode = .dragging(Drag(item: item, from: row, over: row, click: click), from: isInRange ? anchor : nil)
            return isInRange ? [] : select(row: row, &app)
        case .drag:
            guard case .dragging(var drag, let place) = mode, let over = row(at: mouse.point, app) else { return [] }
            drag.over = over
            mode = .dragging(drag, from: place)
        case .release: return drop(at: row(at: mouse.point, app), &app)
        case .wheelUp: return scroll(by: -3, &app)
        case .wheelDown: return scroll(by: 3, &app)
        }
        return []
    }

    private func isOnBox(_ point: Point, _ app: AppState) -> Bool {
        guard let placed = placed(at: point, app), placed.line == point.row - ScreenFrame.titleRows else {
            return false
        }
        let rows = rows(app)
        guard let place = rows.place(ofRow: placed.row), case .task = rows.list[place].content else { return false }
        let start = RowFrame.leadWidth(rows.state(ofRow: placed.row), width: app.size.columns)
        return (start..<start + TaskCell.boxWidth).contains(point.column)
    }

    /// Ends dragging. A drop on another row moves the items there; a drop on the same row was a click.
    private mutating func drop(at row: Int?, _ app: inout AppState) -> [Command] {
        guard case .dragging(let drag, let place) = mode else { return [] }
        mode = .resting(from: place)
        guard let row, let place = rows(app).place(ofRow: row) else { return [] }
        guard app.list(list).hand.index(of: drag.item) != nil else {
            return [.say("somebody deleted the item meanwhile; nothing was done")]
        }
        if item(ofRow: row, app) == drag.item {
            guard let click = drag.click, click == .tick || anchor == nil else { return [] }
            if let refusal = obstacle(to: click, app) { return [.say(refusal)] }
            return perform(click, count: nil, &app) ?? []
        }
        if let refusal = obstacle(to: .moveDown, app) { return [.say(refusal)] }
        let runs = branches(app)
        let isBelow = runs.first.map { place > $0.lowerBound } ?? false
        let gap = isBelow ? shown.end(ofPlace: place) : place
        let delta = shown.moving(runs, to: gap, isBelow ? .after : .before, in: app.list(list).hand)
        return delta.isIdentity ? [] : [.edit(list: list, delta)]
    }

    private func item(ofRow row: Int, _ app: AppState) -> ItemID? {
        let rows = rows(app)
        return rows.place(ofRow: row).map { rows.list[$0].id }
    }
}

/// Opens a link: a web address in the system's program, or a place on a server on its screen.
enum LinkOpener {
    static func commands(for item: Item, _ app: AppState) -> [Command] {
        guard let url = item.content.address else { return [.bell] }
        let address = Printable.clean(url)
        if let location = try? Location(address) {
            return location.server == app.server ? [.open(location.route)] : [.visit(location)]
        }
        let isWeb = ["http://", "https://", "mailto:"].contains { address.lowercased().hasPrefix($0) }
        guard isWeb, !address.contains(where: \.isWhitespace) else {
            return [.say("'\(address)' is neither a web address nor a server's address")]
        }
        return [.openAddress(withKnownFields(address))]
    }

    /// The address, with only the usual fields if it is one of mail: some mail programs obey others, such as `attach`.
    private static func withKnownFields(_ address: String) -> String {
        let parts = address.split(separator: "?", maxSplits: 1)
        guard address.lowercased().hasPrefix("mailto:"), parts.count == 2 else { return address }
        let fields = parts[1].split(separator: "&").filter { field in
            ["subject", "body", "cc", "bcc"].contains(field.prefix { $0 != "=" }.lowercased())
        }
        return parts[0] + (fields.isEmpty ? "" : "?" + fields.joined(separator: "&"))
    }
}
