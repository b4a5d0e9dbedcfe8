/// An address that does not name a place. Shows the possible addresses.
struct NowhereScreen: Screen {
    let path: String

    var route: Route { .nowhere(path) }

    func title(_ app: AppState) -> Line { Line("Nowhere", .bold) }

    mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        if case .appeared = event { [.fetchLists] } else { [] }
    }

    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? { nil }

    func draw(on canvas: inout Canvas, _ app: AppState) {
        var lines = [Line("There is nothing at \(path).", Style(.yellow, [.bold])), Line()]
        lines.append(
            Line(
                "An address is \(app.server)/LIST, and behind it nothing, /items/ID, /history, /history/REVISION, /people or /notices."
            ))
        let names = (app.catalog ?? []).map(\.name).joined(separator: ", ")
        if !names.isEmpty { lines += [Line(), Line("Lists here: \(names).")] }
        lines += [Line(), Line("\(app.keys.symbol(for: .back)) leads to the lists.", .dim)]
        ScreenFrame.write(lines, on: &canvas, app)
    }
}
