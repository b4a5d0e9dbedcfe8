import HandFormats
import HandSync

/// The screen of `hand top`: a server's report, and what has changed since the previous one.
package struct TopView {
    private let change: ReportChange
    let choice: TopChoice
    /// The revisions of the lists in the previous report.
    private let revisions: [String: Int]

    package init(_ report: ServerReport, since previous: ServerReport? = nil, _ choice: TopChoice = TopChoice()) {
        (change, self.choice) = (ReportChange(report, since: previous), choice)
        revisions = Dictionary(previous?.lists.map { ($0.name, $0.revision) } ?? []) { first, _ in first }
    }

    var report: ServerReport { change.report }

    /// - Parameter said: the result of the user's last action, or why no newer report came.
    package func canvas(_ size: Size, said: String? = nil) -> Canvas {
        var canvas = Canvas(size)
        canvas.write(title.padded(to: size.columns).restyled { $0.with(.reverse) }, at: Point(row: 0, column: 0))
        var row = 1
        for line in summary {
            canvas.write(line, at: Point(row: row, column: 1))
            row += 1
        }
        let (lists, connections, listTable, connectionTable) = (lists, connections, listTable, connectionTable)
        // One column is the left margin.
        let width = size.columns - 1
        let room = size.rows - row - 2
        let forLists = min(lists.count, max(3, room - 2 - min(connections.count + 2, room / 2)))
        let listLines = lists.prefix(forLists).map { Line(listTable.line(of: $0, width: width)) }
        write(listTable.head(width: width), listLines, on: &canvas, from: &row)
        let forConnections = max(0, size.rows - row - 3)
        // The chosen connection is always visible.
        let place = connections.firstIndex { $0.number == choice.chosen } ?? 0
        let first = max(0, place - max(0, forConnections - 1))
        let connectionLines = connections.dropFirst(first).prefix(forConnections).map { connection in
            Line(
                connectionTable.line(of: connection, width: width),
                connection.number == choice.chosen ? .reverse : .plain)
        }
        write(connectionTable.head(width: width), connectionLines, on: &canvas, from: &row)
        writeBottom(said, on: &canvas)
        return canvas
    }

    private func write(_ head: String, _ lines: [Line], on canvas: inout Canvas, from row: inout Int) {
        row += 1
        canvas.write(Line(head, .dim), at: Point(row: row, column: 1))
        for line in lines where row < canvas.size.rows - 2 {
            row += 1
            canvas.write(line, at: Point(row: row, column: 1))
        }
        row += 1
    }

    private func writeBottom(_ said: String?, on canvas: inout Canvas) {
        let bottom = Point(row: canvas.size.rows - 1, column: 1)
        if let number = choice.closing {
            let name = report.connections.first { $0.number == number }.map { Self.name(of: $0) } ?? "\(number)"
            // The question comes before the name, which may be long.
            let question = "close (y/n)? its client does not come back by itself: \(name)"
            return canvas.write(Line(question, .bold), at: bottom)
        }
        if choice.isTyping {
            let visible = choice.query.visible(width: max(1, canvas.size.columns - 4))
            canvas.write(Line("/ " + visible.text, .bold), at: bottom)
            canvas.cursor = Point(
                row: bottom.row, column: min(3 + visible.cursorColumn, max(0, canvas.size.columns - 1)))
            return
        }
        if let said { return canvas.write(Line(Printable.clean(said), Style(.red, [.bold])), at: bottom) }
        var keys = [("s S", "sort"), ("/", "filter"), ("j k", "choose"), ("x", "close"), ("q", "quit")]
        if choice.chosen == nil { keys.remove(at: 3) }
        let filter = choice.query.text.isEmpty ? Line() : Line("only '\(Printable.clean(choice.query.text))'  ", .bold)
        canvas.write(keys.reduce(filter) { $0 + Line($1.0, .bold) + Line(" \($1.1)  ", .dim) }, at: bottom)
    }

    // MARK: The server

    private var title: Line {
        let up = Quantity.time(milliseconds: report.time - min(report.startedAt, report.time))
        return Line(" \(Printable.clean(report.version))", .bold) + Line("  up \(up)")
            + Line(report.isDraining ? "  accepts no new connections" : "", .bold)
    }

    /// The commits of a list per second; nil while unknown.
    func rate(of list: ListReport) -> Double? {
        guard let before = revisions[list.name], let seconds = change.seconds else { return nil }
        return Double(max(0, list.revision - before)) / seconds
    }

    /// How fast a figure grows, per second; `–` while unknown.
    private func rate(_ figure: (ServerReport) -> Int, _ text: (Double) -> String = { Quantity.count($0) }) -> String {
        change.rate(figure).map { text($0) + "/s" } ?? "–"
    }

    private var summary: [Line] {
        let load = report.load
        let rejections = rate { $0.figures.rejections.values.reduce(0, +) }
        return [
            fields([
                ("connections", Quantity.count(load.connections)), ("lists", Quantity.count(load.lists)),
                ("items", Quantity.count(load.items)), ("processor", change.processor),
                ("memory", Quantity.bytes(report.residentBytes)), ("store", Quantity.bytes(load.storeBytes)),
            ]),
            fields([
                ("commits", rate { $0.figures.commits }), ("delivered", rate { $0.figures.deliveries }),
                ("in", rate({ $0.figures.bytesReceived }, Quantity.bytes)),
                ("out", rate({ $0.figures.bytesSent }, Quantity.bytes)), ("rejected", rejections),
            ]),
            fields([
                ("durable in", "half \(change.durable(0.5)), 99 % \(change.durable(0.99))"),
                ("waiting", Quantity.count(load.pendingCommits)), ("lagging", Quantity.count(load.lagging)),
                ("slowed", Quantity.count(load.slowed)),
            ]),
        ]
    }

    private func fields(_ fields: [(String, String)]) -> Line {
        var line = Line()
        for (name, value) in fields {
            line.append("\(name) ", .dim)
            line.append("\(value)   ", .bold)
        }
        return line
    }
}
