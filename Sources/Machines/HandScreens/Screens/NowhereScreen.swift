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
