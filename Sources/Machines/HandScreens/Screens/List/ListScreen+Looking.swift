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

    /// Leaves off the range, then the filter, then the list.
    private mutating func leave(_ world: inout World) -> [Command] {
        if anchor != nil {
            anchor = nil
        } else if filter != nil {
            setFilter(nil, &world)
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
        if query.isEmpty {
            setFilter(nil, &world)
        } else if let filter, query.hasPrefix(filter.query), filter.matches.count <= Filter.portion {
            setFilter(Filter(query, narrowing: filter, hand), &world)
        } else {
            setFilter(Filter(query), &world)
        }
        return search(&world)
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
        filter = new
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
        if let filter, filter.row(ofIndex: place) == nil { setFilter(nil, &world) }
        return select(row: row(ofPlace: place), &world)
    }

    // MARK: Mouse

    mutating func mouse(_ mouse: Mouse, _ world: inout World) -> [Command] {
        guard draft == nil else { return [] }
        switch mouse.act {
        case .press:
            guard let row = row(at: mouse.point, world) else { return [] }
            drag = Drag(from: row, over: row, opens: row == table.cursor)
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

    /// Lets go: on another row the item or the range goes there; a click on the row that one was on already opens it.
    private mutating func drop(at row: Int?, _ world: inout World) -> [Command] {
        guard let drag else { return [] }
        self.drag = nil
        guard let row else { return [] }
        if row == drag.from { return drag.opens && anchor == nil ? perform(.open, count: nil, &world) : [] }
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
