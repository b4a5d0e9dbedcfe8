import HandCore
import HandFormats

/// Who is on a list, and on which item.
struct PeopleScreen: TableScreen, ListScreens {
    static let kind = ScreenKind.people

    var list: String
    var table = TableView()
    var prompt: Prompt?

    init(list: String) {
        self.list = list
    }

    var route: Route { .people(list) }

    /// Where the items are on which people are. Finding one is O(n), so it is done once and then carried along.
    private var places: [ItemID: Int] = [:]

    private func others(_ world: World) -> [(author: UInt64, person: ListData.Person)] {
        world.list(list).people.sorted { ($0.value.name, $0.key) < ($1.value.name, $1.key) }.map { ($0.key, $0.value) }
    }

    func rows(_ world: World) -> RowsOfText {
        let (others, hand, places) = (others(world), world.list(list).hand, places)
        return RowsOfText(1 + others.count) { row in
            if row == 0 { return [Line(world.person, .bold) + Line("  (you)", .dim)] }
            let (author, person) = others[row - 1]
            var line = Line(person.name, Style(PersonColor.of(author), [.bold]))
            if let place = person.item.flatMap({ places[$0] }), place < hand.count {
                line.append("  on \(place + 1): ", .dim)
                line.append(Printable.line(of: hand[place].content))
            }
            return [line]
        }
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

    mutating func appear(_ world: inout World) -> [Command] {
        find(world)
        return [.follow(list)]
    }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        switch event {
        case .list(list, .changed(_, let delta, _)): places = places.compactMapValues { delta.map(index: $0) }
        case .list(list, .presence): find(world)
        default: break
        }
        table.settle(in: geometry(world))
        return []
    }

    private mutating func find(_ world: World) {
        let data = world.list(list)
        for item in data.people.values.compactMap(\.item) where places[item] == nil {
            places[item] = data.hand.index(of: item)
        }
    }
}
