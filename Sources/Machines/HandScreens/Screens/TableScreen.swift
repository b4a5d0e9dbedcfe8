import HandCore

/// A screen that is a table. What all tables do stands here; a screen adds what is its own.
protocol TableScreen: Screen {
    associatedtype Rows: TableDataSource
    var table: TableView { get set }
    func rows(_ world: World) -> Rows
    /// What stands where a table without rows would be.
    func emptyText(_ world: World) -> [Line]
    /// Puts the cursor on a row.
    mutating func select(row: Int, _ world: inout World) -> [Command]
    /// Does what the shared actions do not.
    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command]
}

extension TableScreen {
    func geometry(_ world: World) -> TableView.Geometry {
        let rows = rows(world)
        let width = world.size.columns
        return TableView.Geometry(count: rows.rowCount, lines: world.bodyRows) { row in
            var pool = CellPool()
            return rows.lines(ofRow: row, width: width, isCurrent: false, in: &pool).count
        }
    }

    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command] { [] }

    mutating func perform(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        guard let target = target(of: action, count: count, world) else {
            return performOwn(action, count: count, &world)
        }
        return select(row: target, &world)
    }

    mutating func select(row: Int, _ world: inout World) -> [Command] {
        table.move(to: row, in: geometry(world))
        return []
    }

    /// The row to which an action moves the cursor; nil if it moves nothing.
    private func target(of action: Action, count: Int?, _ world: World) -> Int? {
        let total = rows(world).rowCount
        let step = max(1, count ?? 1)
        switch action {
        case .up: return table.cursor - min(step, total)
        case .down: return table.cursor + min(step, total)
        case .halfPageUp: return table.cursor - max(1, visible(world) / 2)
        case .halfPageDown: return table.cursor + max(1, visible(world) / 2)
        case .pageUp: return table.cursor - max(1, visible(world) - 1)
        case .pageDown: return table.cursor + max(1, visible(world) - 1)
        case .top: return (count ?? 1) - 1
        case .end: return (count ?? total) - 1
        default: return nil
        }
    }

    /// Rows in the window.
    private func visible(_ world: World) -> Int { table.placed(in: geometry(world)).count }

    /// The row that is drawn on a line of the screen.
    func row(at point: Point, _ world: World) -> Int? { placed(at: point, world)?.row }

    func placed(at point: Point, _ world: World) -> TableView.Placed? {
        let line = point.row - Frame.titleRows
        guard line >= 0, line < world.bodyRows else { return nil }
        return table.placed(in: geometry(world)).first { $0.line <= line && line < $0.line + $0.height }
    }

    mutating func mouse(_ mouse: Mouse, _ world: inout World) -> [Command] {
        switch mouse.act {
        case .wheelUp: return scroll(by: -3, &world)
        case .wheelDown: return scroll(by: 3, &world)
        case .press:
            guard let row = row(at: mouse.point, world) else { return [] }
            // A click on the row that one is on opens it.
            return row == table.cursor ? perform(.open, count: nil, &world) : select(row: row, &world)
        case .drag, .release: break
        }
        return []
    }

    /// Moves the window; a cursor that would leave it comes along.
    mutating func scroll(by lines: Int, _ world: inout World) -> [Command] {
        table.scroll(by: lines, in: geometry(world))
        return select(row: table.cursor, &world)
    }

    func draw(on canvas: inout Canvas, _ world: World) { drawTable(on: &canvas, world) }

    func drawTable(on canvas: inout Canvas, _ world: World) {
        let rows = rows(world)
        guard rows.rowCount > 0 else { return drawEmpty(on: &canvas, world) }
        var pool = CellPool()
        for placed in table.placed(in: geometry(world)) {
            let isCurrent = placed.row == table.cursor
            let lines = rows.lines(ofRow: placed.row, width: canvas.size.columns, isCurrent: isCurrent, in: &pool)
            for (offset, line) in lines.enumerated() {
                let row = placed.line + offset
                guard row >= 0, row < world.bodyRows else { continue }
                canvas.write(line, at: Point(row: row + Frame.titleRows, column: 0))
            }
        }
    }

    private func drawEmpty(on canvas: inout Canvas, _ world: World) {
        Frame.write(emptyText(world), on: &canvas, world)
    }
}
