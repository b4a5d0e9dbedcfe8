import HandCore
import HandFormats

// Finding things, selecting them, and going elsewhere.

extension ListScreen {
    mutating func look(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .range:
            anchor = anchor == nil ? place(world) : nil
        case .selectUp, .selectDown:
            if anchor == nil { anchor = place(world) }
            return perform(action == .selectUp ? .up : .down, count: count, &world)
        case .selectAll:
            anchor = rows(world).place(ofRow: 0)
            return perform(.end, count: nil, &world)
        case .filter:
            (filterBefore, home) = (filter, place(world))
            prompt = Prompt(purpose: .filter, question: "/", editor: LineEditor(filter?.query ?? ""))
        case .hideTicked:
            hidesTicked.toggle()
            setQuery(filter?.query ?? "", &world)
            let key = world.keys.symbol(for: .hideTicked)
            return search(&world) + [.say(hidesTicked ? "what is ticked is hidden; \(key) shows it" : "all is shown")]
        case .jump: prompt = Prompt(purpose: .jump, question: "go to (number, id or person):")
        case .open: return currentItem(world).map { [.open(.item(list: list, id: $0.id.description))] } ?? []
        case .follow: return currentItem(world).map { LinkOpener.commands(for: $0, world) } ?? []
        case .history: return [.open(.history(list))]
        case .people: return [.open(.people(list))]
        case .notices: return [.open(.notices(list))]
        case .back: return leave(&world)
        default: break
        }
        return []
    }

    /// Leaves off dragging, then the range, then the filter, then the list.
    private mutating func leave(_ world: inout World) -> [Command] {
        if drag?.isMoving == true {
            drag = nil
        } else if anchor != nil {
            anchor = nil
        } else if filter?.query.isEmpty == false {
            setQuery("", &world)
            return search(&world)
        } else {
            return [.back]
        }
        return []
    }

    // MARK: Filter

    mutating func typed(_ prompt: Prompt, _ world: inout World) -> [Command] {
        guard prompt.purpose == .filter else { return [] }
        let query = prompt.editor.text
        let hand = world.list(list).hand
        if let filter, query.hasPrefix(filter.query), filter.matches.count <= Filter.portion {
            setFilter(Filter(query, narrowing: filter, hand), &world)
        } else {
            setQuery(query, &world)
        }
        return search(&world)
    }

    /// A filter for a text, and for what is not ticked; none if both are all.
    private mutating func setQuery(_ query: String, _ world: inout World) {
        setFilter(query.isEmpty && !hidesTicked ? nil : Filter(query, hidesTicked: hidesTicked), &world)
    }

    /// Looks at the next items; asks for more time if there are more.
    mutating func search(_ world: inout World) -> [Command] {
        guard var filter, !filter.isComplete(in: world.list(list).hand) else { return [] }
        self.filter = nil
        filter.scan(world.list(list).hand)
        self.filter = filter
        if let home { table.follow(to: row(ofPlace: home)) }
        table.settle(in: geometry(world))
        return filter.isComplete(in: world.list(list).hand) ? [] : [.workOn]
    }

    /// Another filter, or none; the cursor stays on its item if that is still shown, and else on the next one.
    private mutating func setFilter(_ new: Filter?, _ world: inout World) {
        let here = home ?? place(world)
        (filter, home) = (new, here)
        anchor = nil
        if let here { table.follow(to: row(ofPlace: here)) }
        table.settle(in: geometry(world))
    }

    mutating func cancelled(_ prompt: Prompt, _ world: inout World) -> [Command] {
        if prompt.purpose == .filter { setFilter(filterBefore, &world) }
        return search(&world)
    }

    mutating func answer(_ prompt: Prompt, _ world: inout World) -> [Command] {
        prompt.purpose == .jump ? jump(to: prompt.editor.text, &world) : []
    }

    // MARK: Jumping

    /// To an item by its number or the first characters of its id, or to a person's item.
    private mutating func jump(to text: String, _ world: inout World) -> [Command] {
        let data = world.list(list)
        let wanted = text.filter { $0 != " " }
        if wanted.isEmpty { return [] }
        let person = data.people.values.first { $0.name.lowercased().hasPrefix(text.lowercased()) }
        if let item = person?.item, let place = data.hand.index(of: item) { return jump(toPlace: place, &world) }
        do {
            return jump(toPlace: try ItemReference(wanted).position(in: data.hand), &world)
        } catch {
            return [.say("\(error)")]
        }
    }

    mutating func jump(toPlace place: Int, _ world: inout World) -> [Command] {
        if let filter, filter.row(ofIndex: place) == nil {
            hidesTicked = false
            setFilter(nil, &world)
        }
        return select(row: row(ofPlace: place), &world)
    }

    // MARK: Mouse

    mutating func mouse(_ mouse: Mouse, _ world: inout World) -> [Command] {
        guard draft == nil else { return [] }
        switch mouse.act {
        case .press:
            guard let row = row(at: mouse.point, world) else { return [] }
            let click: Action? = isOnBox(mouse.point, world) ? .tick : row == table.cursor ? .open : nil
            drag = Drag(from: row, over: row, click: click)
            // What is pressed within the range takes the range along.
            if selectedRows(world)?.contains(row) == true { return [] }
            anchor = nil
            return select(row: row, &world)
        case .drag: if let over = row(at: mouse.point, world) { drag?.over = over }
        case .release: return drop(at: row(at: mouse.point, world), &world)
        case .wheelUp: return scroll(by: -3, &world)
        case .wheelDown: return scroll(by: 3, &world)
        }
        return []
    }

    /// Whether that is the box of a task.
    private func isOnBox(_ point: Point, _ world: World) -> Bool {
        guard let placed = placed(at: point, world), placed.line == point.row - Frame.titleRows else { return false }
        let rows = rows(world)
        guard let place = rows.place(ofRow: placed.row), case .task = rows.list[place].content else { return false }
        let start = RowFrame.leadWidth(rows.state(ofRow: placed.row))
        return (start..<start + TaskCell.boxWidth).contains(point.column)
    }

    /// Lets go: on another row the item or the range goes there, on the same it was a click.
    private mutating func drop(at row: Int?, _ world: inout World) -> [Command] {
        guard let drag else { return [] }
        self.drag = nil
        guard let row else { return [] }
        if row == drag.from {
            guard let click = drag.click, click == .tick || anchor == nil else { return [] }
            if let refusal = refusal(of: click, world) { return [.say(refusal)] }
            return perform(click, count: nil, &world)
        }
        guard refusal(of: .moveDown, world) == nil, let place = rows(world).place(ofRow: row) else { return [] }
        let runs = selection(world)
        let delta = row > drag.from ? Delta.moving(runs, to: place + 1, .after) : Delta.moving(runs, to: place, .before)
        return delta.isIdentity ? [] : [.edit(list: list, delta)]
    }
}

/// Where a link leads: the web to the system's opener, a place on a server to its screen.
enum LinkOpener {
    static func commands(for item: Item, _ world: World) -> [Command] {
        guard case .link(_, let url) = item.content else { return [.bell] }
        let address = Printable.clean(url)
        if let location = try? Location(address) {
            return location.server == world.server ? [.open(location.route)] : [.visit(location)]
        }
        let isWeb = ["http://", "https://", "mailto:"].contains { address.lowercased().hasPrefix($0) }
        guard isWeb, !address.contains(where: \.isWhitespace) else {
            return [.say("'\(address)' is no address of the web or of a server")]
        }
        return [.openAddress(address)]
    }
}
