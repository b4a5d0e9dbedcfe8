/// A screen that is a table. It adds its own actions to those of all tables.
protocol TableScreen: Screen {
    associatedtype Rows: TableDataSource
    var table: TableView { get set }
    func rows(_ app: AppState) -> Rows
    /// The text that is shown if the table has no rows.
    func emptyText(_ app: AppState) -> [Line]
    mutating func select(row: Int, _ app: inout AppState) -> [Command]
    /// Goes to the row with a number, counted from 1.
    mutating func go(toNumber number: Int, _ app: inout AppState) -> [Command]
    /// Carries out an action that not all tables share; returns nil if it is not one of the screen's own.
    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]?
    /// Handles an event that is not a mouse event.
    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command]
}

extension TableScreen {
    func geometry(_ app: AppState) -> TableView.Geometry {
        let rows = rows(app)
        let width = app.size.columns
        return TableView.Geometry(count: rows.rowCount, lines: app.bodyRows) { row in
            rows.height(ofRow: row, width: width)
        }
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? { nil }
    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command] { [] }

    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        if let count, action == .top || action == .end { return go(toNumber: count, &app) }
        guard let target = target(of: action, count: count, app) else {
            return performOwn(action, count: count, &app)
        }
        return select(row: target, &app)
    }

    mutating func select(row: Int, _ app: inout AppState) -> [Command] {
        table.move(to: row, in: geometry(app))
        return []
    }

    mutating func go(toNumber number: Int, _ app: inout AppState) -> [Command] { select(row: number - 1, &app) }

    /// The row to which an action moves the cursor; nil if it does not move the cursor.
    private func target(of action: Action, count: Int?, _ app: AppState) -> Int? {
        let total = rows(app).rowCount
        let step = max(1, count ?? 1)
        switch action {
        case .up: return table.cursor - min(step, total)
        case .down: return table.cursor + min(step, total)
        case .halfPageUp: return table.cursor - max(1, visible(app) / 2)
        case .halfPageDown: return table.cursor + max(1, visible(app) / 2)
        case .pageUp: return table.cursor - max(1, visible(app) - 1)
        case .pageDown: return table.cursor + max(1, visible(app) - 1)
        case .top: return 0
        case .end: return total - 1
        default: return nil
        }
    }

    /// The number of rows in the window.
    private func visible(_ app: AppState) -> Int { table.placed(in: geometry(app)).count }

    func row(at point: Point, _ app: AppState) -> Int? { placed(at: point, app)?.row }

    func placed(at point: Point, _ app: AppState) -> TableView.Placed? {
        let line = point.row - ScreenFrame.titleRows
        guard line >= 0, line < app.bodyRows else { return nil }
        return table.placed(in: geometry(app)).first { $0.line <= line && line < $0.line + $0.height }
    }

    mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        guard case .input(.mouse(let mouse)) = event else { return takeOwn(event, &app) }
        switch mouse.act {
        case .wheelUp: return scroll(by: -3, &app)
        case .wheelDown: return scroll(by: 3, &app)
        case .press:
            guard let row = row(at: mouse.point, app) else { return [] }
            // A click on the current row opens it.
            return row == table.cursor ? perform(.open, count: nil, &app) ?? [] : select(row: row, &app)
        case .drag, .release: break
        }
        return []
    }

    /// Scrolls; the cursor stays in the window.
    mutating func scroll(by lines: Int, _ app: inout AppState) -> [Command] {
        table.scroll(by: lines, in: geometry(app))
        return select(row: table.cursor, &app)
    }

    func draw(on canvas: inout Canvas, _ app: AppState) { drawTable(on: &canvas, app) }

    func drawTable(on canvas: inout Canvas, _ app: AppState) {
        let rows = rows(app)
        guard rows.rowCount > 0 else { return ScreenFrame.write(emptyText(app), on: &canvas, app) }
        for placed in table.placed(in: geometry(app)) {
            let isCurrent = placed.row == table.cursor
            // Screen readers and braille displays follow the terminal's cursor.
            if isCurrent { canvas.cursor = Point(row: placed.line + ScreenFrame.titleRows, column: 0) }
            let lines = rows.lines(ofRow: placed.row, width: canvas.size.columns, isCurrent: isCurrent)
            for (offset, line) in lines.enumerated() {
                let row = placed.line + offset
                guard row >= 0, row < app.bodyRows else { continue }
                canvas.write(line, at: Point(row: row + ScreenFrame.titleRows, column: 0))
            }
        }
    }
}
