import HandCore
import HandFormats
import HandSync
import HandWire

/// One item in full. It does what the list screen does with the item under its cursor.
struct ItemScreen: ListScreens {
    static let kind = ScreenKind.item

    var list: String
    /// The first characters of the item's id, as the address says them.
    let id: String
    var prompt: Prompt?
    /// Lines that are scrolled away above.
    private var scrolled = 0
    /// Where the item was found; nil as long as it is not.
    private var place: Int?
    private var item: ItemID?
    private var isGone = false
    /// Who deleted it, if that is known.
    private var deleter: String?
    /// Whether the whole list was searched for the item.
    private var isSearched = false
    private var field: Field?
    private var problem: String?

    /// What is being typed.
    private struct Field: Sendable {
        var editor: LineEditor
        let target: Draft.Field
        let original: String
        let content: Content

        var change: Change {
            let text = LineBreaks.meant(editor.text)
            return target == .text ? Change(text: text) : Change(url: text)
        }
    }

    init(list: String, id: String) {
        self.list = list
        self.id = id
    }

    var route: Route { .item(list: list, id: id) }
    var isTyping: Bool { field != nil }

    func title(_ world: World) -> Line {
        let data = world.list(list)
        let number = place.map { "  item \($0 + 1) of \(data.hand.count)" } ?? ""
        return Line(list, .bold) + Line(number)
    }

    func current(_ world: World) -> Item? {
        let hand = world.list(list).hand
        return place.flatMap { $0 < hand.count ? hand[$0] : nil }
    }

    func focus(_ world: World) -> Focus? { Focus(list: list, item: current(world)?.id) }

    func refusal(of action: Action, _ world: World) -> String? {
        let standing = world.list(list).standing
        switch action {
        case .edit, .editAddress, .tick, .follow, .delete:
            guard let item = current(world) else { return "there is no item here" }
            if action == .tick, !item.content.kind.fields.contains(.done) { return "only tasks can be ticked" }
            return ListScreen.refusal(of: action, for: item.content)
        case .undo: return standing.canUndo ? nil : "there is nothing to undo"
        case .redo: return standing.canRedo ? nil : "there is nothing to redo"
        default: return nil
        }
    }

    mutating func perform(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .up: scrolled = max(0, scrolled - max(1, count ?? 1))
        case .down: scrolled = min(mostScrolled(world), scrolled + max(1, count ?? 1))
        case .halfPageUp: scrolled = max(0, scrolled - world.bodyRows / 2)
        case .halfPageDown: scrolled = min(mostScrolled(world), scrolled + world.bodyRows / 2)
        case .undo: return [.undo(list)]
        case .redo: return [.redo(list)]
        case .history: return [.open(.history(list))]
        case .back: return [.back]
        default: return current(world).map { act(action, on: $0, &world) } ?? []
        }
        return []
    }

    private mutating func act(_ action: Action, on item: Item, _ world: inout World) -> [Command] {
        guard let place else { return [] }
        switch action {
        case .edit: beginTyping(.text, item.content.text, of: item.content)
        case .editAddress:
            if case .link(_, let url) = item.content { beginTyping(.address, url, of: item.content) }
        case .tick:
            guard case .task(_, let done) = item.content else { return [] }
            return [.edit(list: list, Operation.edit(at: place, Change(done: !done)).delta)]
        case .follow: return LinkOpener.commands(for: item, world)
        case .delete:
            let what = Deed.name([place..<place + 1], of: world.list(list).hand)
            let key = world.keys.symbol(for: .undo)
            return [.edit(list: list, .deleting([place..<place + 1])), .back, .say("\(what) deleted; \(key) undoes")]
        default: break
        }
        return []
    }

    // MARK: Typing

    private mutating func beginTyping(_ target: Draft.Field, _ text: String, of content: Content) {
        let line = LineBreaks.shown(text)
        field = Field(editor: LineEditor(line), target: target, original: line, content: content)
    }

    mutating func type(_ key: Key, _ world: inout World) -> [Command] {
        guard let field else { return [] }
        switch key {
        case Key(.escape), .control("c"): self.field = nil
        case Key(.enter):
            self.field = nil
            guard let place, field.editor.text != field.original else { return [] }
            return [.edit(list: list, Operation.edit(at: place, field.change).delta)]
        case Key(.enter, .alt): self.field?.editor.insert(LineBreaks.sign)
        default: _ = self.field?.editor.handle(key)
        }
        return []
    }

    mutating func paste(_ text: String, _ world: inout World) -> [Command] {
        field?.editor.insert(LineBreaks.shown(text))
        return []
    }

    // MARK: Events

    mutating func appear(_ world: inout World) -> [Command] {
        find(world)
        return [.follow(list)]
    }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        switch event {
        case .list(list, .changed(_, let delta, let origin)):
            if let old = place {
                place = delta.map(index: old)
                isGone = place == nil
                deleter = world.list(list).name(of: origin)
                if isGone, let field {
                    // What was typed is not lost with the item that it was meant for.
                    self.field = nil
                    world.clipboard = World.Clipboard([field.content.applying(field.change) ?? field.content])
                    return [.say("\(deleter ?? "somebody") deleted this item; what you typed can be pasted in a list")]
                }
            } else if !isSearched || delta.insertedItems.contains(where: { isMeant($0.id) }) {
                // What is taken back comes under its own id again.
                find(world)
            }
        case .list(list, .standing): if !isSearched { find(world) }
        default: break
        }
        return []
    }

    private func isMeant(_ other: ItemID) -> Bool {
        item.map { $0 == other } ?? (ItemID.range(ofPrefix: id)?.contains(other) ?? false)
    }

    /// Looks for the item by its id. O(n), so only when it may be there.
    private mutating func find(_ world: World) {
        let hand = world.list(list).hand
        isSearched = world.list(list).standing.isLoaded
        if let item {
            place = hand.index(of: item)
            if place != nil { isGone = false }
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

    private func mostScrolled(_ world: World) -> Int {
        max(0, lines(world, width: world.size.columns - 2).count - world.bodyRows)
    }

    func draw(on canvas: inout Canvas, _ world: World) {
        guard current(world) != nil else { return Frame.write(missing(world), on: &canvas, world) }
        let all = lines(world, width: canvas.size.columns - 2)
        for (row, line) in all.dropFirst(min(scrolled, mostScrolled(world))).prefix(world.bodyRows).enumerated() {
            canvas.write(line, at: Point(row: row + Frame.titleRows, column: 1))
        }
        guard let field else { return }
        let row = Frame.titleRows + world.bodyRows - 1
        let label = field.target == .text ? "✎" : "✎ address ▸"
        let lead = Columns.width(of: label) + 1
        let visible = field.editor.visible(width: max(1, canvas.size.columns - lead - 1))
        let line = Line(label + " ", Style(.cyan)) + Line(visible.text, .bold)
        canvas.write(line.padded(to: canvas.size.columns), at: Point(row: row, column: 0))
        canvas.cursor = Point(row: row, column: min(lead + visible.cursorColumn, canvas.size.columns - 1))
    }

    private func missing(_ world: World) -> [Line] {
        let data = world.list(list)
        guard data.standing.isLoaded, data.refusal == nil else { return ListText.empty(data, world) }
        if isGone {
            let undo = data.standing.canUndo ? " \(world.keys.symbol(for: .undo)) undoes your last edit." : ""
            return [
                Line(deleter.map { "\($0) deleted this item." } ?? "This item was deleted.", .bold),
                Line("\(world.keys.symbol(for: .back)) goes back.\(undo)", .dim),
            ]
        }
        return [
            Line(problem ?? "This item is not in the list.", .bold),
            Line(
                "The list has \(Words.count(data.hand.count, "item")); \(world.keys.symbol(for: .back)) shows them.",
                .dim),
        ]
    }

    private func lines(_ world: World, width: Int) -> [Line] {
        guard let item = current(world) else { return [] }
        let data = world.list(list)
        var lines = [Line(), Line("\(item.content.kind.name)  \(item.id)", .dim)]
        if data.unsent.contains(item.id) { lines[1].append("  • not saved yet", Style(.yellow)) }
        lines.append(Line())
        lines += item.content.accept(ItemText(width: max(1, width)))
        let others = data.others(on: item.id)
        if !others.isEmpty {
            var line = Line("also here: ", .dim)
            for (index, other) in others.enumerated() {
                line.append((index > 0 ? ", " : "") + other.person.name, Style(PersonColor.of(other.author), [.bold]))
            }
            lines += [Line(), line]
        }
        return lines
    }
}
