/// The user's edits that were overridden or rejected, newest first.
struct NoticesScreen: TableScreen, ListScreens {
    var list: String
    var table = TableView()

    var route: Route { .notices(list) }

    func rows(_ app: AppState) -> RowsOfText {
        let width = max(1, app.size.columns - 4)
        let data = app.list(list)
        return RowsOfText(data.notices.count) { row in
            let notice = data.notices[data.notices.count - 1 - row]
            return Wrapping.lines(notice.text(in: data), width: width).map { Line($0) }
                + [Line(notice.canRetrieve ? "can be got back" : "nothing to get back", .dim)]
        }
    }

    func title(_ app: AppState) -> Line { Line(list, .bold) + Line("  overridden or rejected") }
    func emptyText(_ app: AppState) -> [Line] { [Line("Nothing of yours was overridden.", .dim)] }

    /// The index of the current row's notice. The newest notice has the first row.
    private func index(_ app: AppState) -> Int? {
        let index = app.list(list).notices.count - 1 - table.cursor
        return index >= 0 ? index : nil
    }

    func refusal(of action: Action, _ app: AppState) -> String? {
        guard action == .retrieve else { return nil }
        let canRetrieve = index(app).map { app.list(list).notices[$0].canRetrieve } ?? false
        return canRetrieve ? nil : "there is nothing to get back"
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        guard action == .retrieve else { return nil }
        return index(app).map { Retrieval.retrieve($0, of: list, &app) }
    }

    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        if case .appeared = event {
            app.withList(list) { $0.markNoticesSeen() }
            return [.follow(list)]
        }
        table.settle(in: geometry(app))
        return []
    }
}
