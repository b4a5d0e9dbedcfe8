/// All keys: those of the screen beneath on one page of a usual terminal, and then all of them with their meanings.
struct HelpScreen: TableScreen {
    let subject: ScreenKind
    var table = TableView()

    var route: Route { .help }

    private struct Section {
        let title: String
        var rows: [(keys: String, meaning: String)]
    }

    private func sections(_ app: AppState) -> [Section] {
        var listed: Set<Action> = []
        func section(_ title: String, _ actions: [Action]) -> Section {
            let new = actions.filter { listed.insert($0).inserted }
            return Section(
                title: title,
                rows: new.map { (app.keys.keys(for: $0).joined(separator: "  "), $0.manual.long) })
        }
        let others = ScreenKind.allCases.filter { $0 != subject }
        let isTyping = subject == .list || subject == .item
        var sections = [section("Here, \(Self.place(subject))", subject.own)]
        if isTyping { sections.append(Self.typing) }
        sections += [
            section("In every list and table", ScreenKind.moving), section("Everywhere", ScreenKind.everywhere),
        ]
        sections +=
            others.map { section(Self.place($0).capitalizedFirst, $0.own) } + (isTyping ? [] : [Self.typing]) + [
                Self.mouse
            ]
        return sections.filter { !$0.rows.isEmpty }
    }

    private static let typing = Section(
        title: "While you type an item",
        rows: [
            ("enter", "add it and continue below; if empty: stop adding"), ("esc", "leave it as it was"),
            ("tab  shift-tab", "another kind: task, note, heading, link"),
            ("alt-enter", "a line break within the text"), ("up  down", "to the row above or below"),
            ("ctrl-o", "open the text in your own editor: $VISUAL or $EDITOR"),
            ("# text", "makes a heading"), ("[ ] text  [x] text", "makes a task, to do or done"),
            ("text https://…", "makes a link"), ("ctrl-a  ctrl-e", "to the start or the end of the line"),
            ("ctrl-w  ctrl-u  ctrl-k", "delete the word before, the line before, or the line after the cursor"),
            ("ctrl-y", "put back what was deleted this way"), ("ctrl-_  alt-_", "undo and redo what you type"),
        ])

    private static let mouse = Section(
        title: "With the mouse",
        rows: [
            ("click", "go to an item; again: open it; on its box: tick it; on a key at the bottom: press the key"),
            ("drag", "move an item or the selected items; esc cancels"), ("wheel", "scroll"),
        ])

    private static func place(_ kind: ScreenKind) -> String {
        switch kind {
        case .lists: "among the lists"
        case .list: "in a list"
        case .item: "on an item"
        case .history: "in the history"
        case .revision: "in an earlier revision"
        case .people: "among the people"
        case .notices: "among what was overridden or rejected"
        case .share: "on a list's address"
        case .help: "in the help"
        case .connection: "on the connection"
        case .nowhere: "nowhere"
        }
    }

    func rows(_ app: AppState) -> RowsOfText {
        let sections = sections(app)
        // The cursor and the marks are in front of a row.
        let width = max(1, app.size.columns - RowFrame.leadWidth(RowState(), width: app.size.columns))
        let widest = sections.flatMap(\.rows).map { Columns.width(of: $0.keys) }.max() ?? 0
        let column = min(widest + 4, width / 2)
        var rows: [[Line]] = [[Line("Keys \(Self.place(subject))", .bold)] + glance(width: width, app)]
        for section in sections {
            rows.append([Line(), Line(section.title, .bold)])
            rows += section.rows.map { Self.row($0.keys, $0.meaning, column: column, width: width) }
        }
        return RowsOfText(rows.count) { [rows] in rows[$0] }
    }

    /// The first key of each action with a word for it, in columns, in as few lines as fit.
    private func glance(width: Int, _ app: AppState) -> [Line] {
        let cells = subject.actions.compactMap { action in
            app.keys.keys(for: action).first.map { _ in
                Line(app.keys.symbol(for: action), .bold) + Line(" " + action.manual.short)
            }
        }
        func columns(_ height: Int) -> [ArraySlice<Line>] {
            stride(from: 0, to: cells.count, by: height).map { cells[$0..<min($0 + height, cells.count)] }
        }
        func widths(_ height: Int) -> [Int] { columns(height).map { ($0.map(\.width).max() ?? 0) + 2 } }
        let height = (1..<max(2, cells.count)).first { widths($0).reduce(0, +) - 2 <= width } ?? cells.count
        var lines = Array(repeating: Line(), count: height)
        var start = 0
        for (column, columnWidth) in zip(columns(height), widths(height)) {
            for (row, cell) in column.enumerated() { lines[row] = lines[row].padded(to: start) + cell }
            start += columnWidth
        }
        return lines
    }

    /// The keys of an action, and what the action does: next to the keys, or below them if the keys are long.
    private static func row(_ keys: String, _ meaning: String, column: Int, width: Int) -> [Line] {
        let head = Line("  " + keys, .bold)
        let blank = Line(String(repeating: " ", count: column))
        var lines = Wrapping.lines(meaning, width: max(1, width - column)).map { blank + Line($0) }
        if head.width + 1 < column, let first = lines.first {
            lines[0] = head + Line(String(first.text.dropFirst(head.width)))
        } else {
            lines.insert(head, at: 0)
        }
        return lines
    }

    func title(_ app: AppState) -> Line { Line("Keys", .bold) + Line("  the configuration file can change them") }
    func emptyText(_ app: AppState) -> [Line] { [] }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
