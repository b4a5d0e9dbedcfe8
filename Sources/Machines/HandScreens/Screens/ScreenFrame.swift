/// The frame of every screen: the title at the top; the line of keys or of a question, and the status line, at the
/// bottom.
enum ScreenFrame {
    static let titleRows = 1
    static let rowsAround = 3

    /// Draws text into the body, wrapped.
    static func write(_ text: [Line], on canvas: inout Canvas, _ app: AppState) {
        let width = max(1, canvas.size.columns - 2)
        var row = titleRows + (app.bodyRows > text.count + 1 ? 1 : 0)
        for line in text {
            let style = line.spans.first?.style ?? .plain
            for part in Wrapping.lines(line.text, width: width) {
                guard row < titleRows + app.bodyRows else { return }
                canvas.write(Line(part, style), at: Point(row: row, column: 1))
                row += 1
            }
        }
    }

    static func draw(_ screen: any Screen, message: String?, on canvas: inout Canvas, _ app: AppState) {
        let width = canvas.size.columns
        let title = Line(" ") + screen.title(app)
        canvas.write(title.padded(to: width).restyled { $0.with(.reverse) }, at: Point(row: 0, column: 0))
        screen.draw(on: &canvas, app)
        let hints = Point(row: hintRow(app), column: 0)
        if let prompt = screen.prompt {
            let (line, cursor) = prompt.line(width: width)
            canvas.write(line, at: hints)
            canvas.cursor = Point(row: hints.row, column: min(cursor, width - 1))
        } else if let message {
            canvas.write(Line(Wrapping.sentence(message, width: width), .bold), at: hints)
        } else if let (notice, list) = notice(on: screen, app) {
            canvas.write(noticeLine(notice, of: list, app), at: hints)
        }
        if showsHints(on: screen, message: message, app) {
            for placed in HintLine.placed(on: screen, app) {
                canvas.write(placed.hint.line, at: Point(row: hints.row, column: placed.column))
            }
        }
        let state = StatusLine.line(of: screen, app, width: width)
        canvas.write(state, at: Point(row: canvas.size.rows - 1, column: 0))
    }

    static func hintRow(_ app: AppState) -> Int { app.size.rows - 2 }

    /// Whether the keys are shown. A message or a notice takes their place.
    static func showsHints(on screen: any Screen, message: String?, _ app: AppState) -> Bool {
        screen.prompt != nil || (message == nil && notice(on: screen, app) == nil)
    }

    /// The notice that is shown, on the screen whose keys it mentions. On other screens, these keys may mean something
    /// else.
    private static func notice(on screen: any Screen, _ app: AppState) -> (Notice, ListData)? {
        guard showsNotices(screen), let list = screen.route.list.map({ app.list($0) }), let notice = list.unseenNotice
        else { return nil }
        return (notice, list)
    }

    static func showsNotices(_ screen: any Screen) -> Bool { screen.route.kind.actions.contains(.notices) }

    private static func noticeLine(_ notice: Notice, of list: ListData, _ app: AppState) -> Line {
        let text = notice.text(in: list)
        let (back, all) = (app.keys.symbol(for: .retrieve), app.keys.symbol(for: .notices))
        func line(_ back: String, _ all: String) -> (line: Line, isWhole: Bool) {
            let keys = (notice.canRetrieve ? "  " + back : "") + "  " + all
            let room = max(8, app.size.columns - Columns.width(of: keys))
            let shown = Wrapping.sentence(text, width: room)
            return (Line(shown, Style(.red, [.bold])) + Line(keys, .dim), !shown.hasSuffix("…"))
        }
        // The text of the notice is more important than the words for its keys.
        let (long, short) = (line("\(back) get it back", "\(all) all"), line(back, all))
        let isNarrow = app.size.columns < 60
        return long.isWhole || !(short.isWhole || isNarrow) ? long.line : short.line
    }
}
