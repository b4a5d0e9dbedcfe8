import HandCore

/// What became of one's edits that one did not wish, newest first.
struct NoticesScreen: TableScreen, ListScreens {
    static let kind = ScreenKind.notices

    var list: String
    var table = TableView()
    var prompt: Prompt?

    init(list: String) {
        self.list = list
    }

    var route: Route { .notices(list) }

    func rows(_ world: World) -> RowsOfText {
        let width = max(1, world.size.columns - 4)
        let data = world.list(list)
        return RowsOfText(data.notices.count) { row in
            let notice = data.notices[data.notices.count - 1 - row]
            return Wrapping.lines(notice.text(in: data), width: width).map { Line($0) }
                + [Line(notice.recovery == nil ? "nothing to get back" : "can be got back", .dim)]
        }
    }

    func title(_ world: World) -> Line { Line(list, .bold) + Line("  overridden or rejected") }
    func emptyText(_ world: World) -> [Line] { [Line("Nothing of yours was overridden.", .dim)] }

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
