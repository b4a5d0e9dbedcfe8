import HandCore
import HandFormats
import HandSync

/// Who is on a list, and on which item.
struct PeopleScreen: TableScreen {
    static let kind = ScreenKind.people

    let list: String
    var table = TableView()
    var prompt: Prompt?

    init(list: String) {
        self.list = list
    }

    var route: Route { .people(list) }

    private func others(_ world: World) -> [(author: UInt64, person: ListData.Person)] {
        world.list(list).people.sorted { ($0.value.name, $0.key) < ($1.value.name, $1.key) }.map { ($0.key, $0.value) }
    }

    func rows(_ world: World) -> RowsOfText {
        let hand = world.list(list).hand
        return RowsOfText(
            [[Line(world.person, .bold) + Line("  (you)", .dim)]]
                + others(world).map { author, person in
                    var line = Line(person.name, Style(PersonColor.of(author), [.bold]))
                    // Finding an item is O(n), for the few who are here.
                    if let item = person.item, let place = hand.index(of: item) {
                        line.append("  on \(place + 1): ", .dim)
                        line.append(CommitText.words(of: hand[place].content))
                    }
                    return [line]
                })
    }

    func title(_ world: World) -> Line { Line(list, .bold) + Line("  people") }
    func emptyText(_ world: World) -> [Line] { [] }

    func refusal(of action: Action, _ world: World) -> String? {
        action == .open && item(world) == nil ? "that person is on no item" : nil
    }

    private func item(_ world: World) -> ItemID? {
        let others = others(world)
        return others.indices.contains(table.cursor - 1) ? others[table.cursor - 1].person.item : nil
    }

    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .open: item(world).map { [.open(.item(list: list, id: $0.description))] } ?? []
        case .back: [.back]
        default: []
        }
    }

    mutating func appear(_ world: inout World) -> [Command] { [.follow(list)] }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        table.settle(in: geometry(world))
        return []
    }
}

/// What became of one's edits that one did not wish, newest first.
struct NoticesScreen: TableScreen {
    static let kind = ScreenKind.notices

    let list: String
    var table = TableView()
    var prompt: Prompt?

    init(list: String) {
        self.list = list
    }

    var route: Route { .notices(list) }

    func rows(_ world: World) -> RowsOfText {
        let width = max(1, world.size.columns - 4)
        return RowsOfText(
            world.list(list).notices.reversed().map { notice in
                Wrapping.lines(notice.text, width: width).map { Line($0) }
                    + [Line(notice.recovery == nil ? "nothing to get back" : "can be got back", .dim)]
            })
    }

    func title(_ world: World) -> Line { Line(list, .bold) + Line("  overridden and not taken") }
    func emptyText(_ world: World) -> [Line] { [Line("Everything that you did stands.", .dim)] }

    /// The place of the row's notice, which are shown newest first.
    private func index(_ world: World) -> Int? {
        let index = world.list(list).notices.count - 1 - table.cursor
        return index >= 0 ? index : nil
    }

    func refusal(of action: Action, _ world: World) -> String? {
        guard action == .retrieve else { return nil }
        return index(world).flatMap { world.list(list).notices[$0].recovery } == nil
            ? "there is nothing to get back" : nil
    }

    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .retrieve: index(world).map { Retrieval.retrieve($0, of: list, &world) } ?? []
        case .back: [.back]
        default: []
        }
    }

    mutating func appear(_ world: inout World) -> [Command] {
        world.withList(list) { $0.markNoticesSeen() }
        return [.follow(list)]
    }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        table.settle(in: geometry(world))
        return []
    }
}

/// All keys, screen by screen.
struct HelpScreen: TableScreen {
    static let kind = ScreenKind.help

    var table = TableView()
    var prompt: Prompt?

    var route: Route { .help }

    func rows(_ world: World) -> RowsOfText {
        var rows: [[Line]] = []
        var told: Set<Action> = []
        for kind in ScreenKind.allCases {
            let new = kind.actions.filter { told.insert($0).inserted }
            if new.isEmpty { continue }
            rows.append([Line(), Line(Self.title(of: kind), .bold)])
            rows += new.map { action in
                let keys = world.keys.keys(for: action).joined(separator: "  ")
                return [Line("  " + keys, .bold).padded(to: 24) + Line(action.manual.long)]
            }
        }
        return RowsOfText(rows)
    }

    private static func title(of kind: ScreenKind) -> String {
        switch kind {
        case .lists: "Everywhere, and among the lists"
        case .list: "In a list"
        default: "On the screen '\(kind.rawValue)'"
        }
    }

    func title(_ world: World) -> Line { Line("Keys", .bold) + Line("  the configuration file can change them") }
    func emptyText(_ world: World) -> [Line] { [] }

    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        action == .back ? [.back] : []
    }
}

/// The connection, and what waits for it.
struct ConnectionScreen: Screen {
    static let kind = ScreenKind.connection

    var prompt: Prompt?

    var route: Route { .connection }

    func title(_ world: World) -> Line { Line("Connection", .bold) }

    mutating func perform(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .refresh: [.reconnect]
        case .back: [.back]
        default: []
        }
    }

    func refusal(of action: Action, _ world: World) -> String? {
        action == .refresh && world.isOnline ? "the server is there" : nil
    }

    func draw(on canvas: inout Canvas, _ world: World) {
        var lines = [Line("server   \(world.server)"), Line("you      \(world.person)"), state(world)]
        if let latency = world.latency, world.isOnline {
            lines.append(Line("answers  in \(latency == 0 ? "<1" : "\(latency)") ms"))
        }
        lines.append(Line())
        for list in world.lists.values.sorted(by: { $0.name < $1.name }) {
            let waiting = list.standing.unconfirmed
            lines.append(
                Line(
                    "\(list.name): revision \(list.standing.revision), \(waiting) edit\(waiting == 1 ? "" : "s") not saved"
                ))
        }
        Frame.write(lines, on: &canvas, world)
    }

    private func state(_ world: World) -> Line {
        switch world.connection {
        case .online: return Line("state    online", Style(.green))
        case .connecting: return Line("state    connecting", Style(.yellow))
        case .offline(let reason, _):
            let retry =
                world.retryAt.map { "; next try in \(($0 - min($0, world.now) + 999) / 1_000) s" } ?? "; given up"
            return Line("state    offline: \(reason)\(retry)", Style(.yellow, [.bold]))
        }
    }

    func deadline(_ world: World) -> UInt64? { world.isOnline ? nil : world.now + 1_000 }
}

/// An address that leads nowhere: says so, and what there is.
struct NowhereScreen: Screen {
    static let kind = ScreenKind.nowhere

    let path: String
    var prompt: Prompt?

    init(path: String) {
        self.path = path
    }

    var route: Route { .nowhere(path) }

    func title(_ world: World) -> Line { Line("Nowhere", .bold) }

    mutating func appear(_ world: inout World) -> [Command] { [.fetchLists] }

    mutating func perform(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        action == .back ? [.back] : []
    }

    func draw(on canvas: inout Canvas, _ world: World) {
        var lines = [Line("There is nothing at \(path).", Style(.yellow, [.bold])), Line()]
        lines.append(
            Line(
                "An address is \(world.server)/LIST, and behind it nothing, /items/ID, /history, /history/REVISION, /people or /notices."
            ))
        let names = (world.catalog ?? []).map(\.name).joined(separator: ", ")
        if !names.isEmpty { lines += [Line(), Line("Lists here: \(names).")] }
        lines += [Line(), Line("\(world.keys.symbol(for: .back)) leads to the lists.", .dim)]
        Frame.write(lines, on: &canvas, world)
    }
}

extension CommitText {
    /// An item in one line.
    static func words(of content: Content) -> String { Printable.line(of: content) }
}
