import HandCore
import HandFormats

/// Who has a list open, and which item they are on or edit.
struct PeopleScreen: TableScreen, ListScreens {
    var list: String
    var table = TableView()

    init(list: String) { self.list = list }

    var route: Route { .people(list) }

    private var places = ItemPlaces()

    private func others(_ app: AppState) -> [(author: AuthorID, person: ListData.Participant)] {
        app.list(list).people.sorted { ($0.value.name, $0.key) < ($1.value.name, $1.key) }.map { ($0.key, $0.value) }
    }

    func rows(_ app: AppState) -> RowsOfText {
        let (others, hand, places) = (others(app), app.list(list).hand, places)
        return RowsOfText(1 + others.count) { row in
            if row == 0 { return [Line(app.me, .bold) + Line("  (you)", .dim)] }
            let (author, person) = others[row - 1]
            var line = Line(person.name, Style(PersonColor.of(author), [.bold]))
            if person.focus == .away { line.append("  away", .dim) }
            if let focus = person.focus, let item = focus.item, let place = places[item], place < hand.count {
                line.append("  \(focus.isEditing ? "✎ edits" : "on") \(place + 1): ", .dim)
                line.append(Printable.line(of: hand[place].content))
            }
            return [line]
        }
    }

    func title(_ app: AppState) -> Line { Line(list, .bold) + Line("  people") }
    func emptyText(_ app: AppState) -> [Line] { [] }

    func refusal(of action: Action, _ app: AppState) -> String? {
        action == .open && item(app) == nil ? "that person is on no item" : nil
    }

    private func item(_ app: AppState) -> ItemID? {
        let others = others(app)
        return others.indices.contains(table.cursor - 1) ? others[table.cursor - 1].person.focus?.item : nil
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        guard action == .open else { return nil }
        return item(app).map { [.open(.item(list: list, id: $0.description))] }
    }

    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        switch event {
        case .appeared:
            places.find(in: app.list(list))
            return [.follow(list)]
        case .model(.list(list, .changed(_, let update))):
            places.follow(update.delta)
        case .model(.list(list, .presence)): places.find(in: app.list(list))
        default: break
        }
        table.settle(in: geometry(app))
        return []
    }
}
