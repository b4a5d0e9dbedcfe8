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
        return RowsOfText(rows.count) { [rows] in rows[$0] }
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
