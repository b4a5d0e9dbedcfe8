import HandFormats
import HandSync

/// What `hand top` shows: a server's report, and what has changed since the one before it.
public struct TopView {
    private let report: ServerReport
    private let previous: ServerReport?

    public init(_ report: ServerReport, since previous: ServerReport? = nil) {
        self.report = report
        self.previous = previous
    }

    /// The screen; `problem` is why no newer report came.
    public func canvas(_ size: Size, problem: String? = nil) -> Canvas {
        var canvas = Canvas(size)
        canvas.write(title.padded(to: size.columns).restyled { $0.with(.reverse) }, at: Point(row: 0, column: 0))
        var row = 1
        for line in summary {
            canvas.write(line, at: Point(row: row, column: 1))
            row += 1
        }
        let room = size.rows - row - 2
        let forLists = min(report.lists.count, max(3, room - 2 - min(report.connections.count + 2, room / 2)))
        write(Self.listsHead, report.lists.prefix(forLists).map(line(of:)), on: &canvas, from: &row)
        let forConnections = max(0, size.rows - row - 3)
        write(Self.connectionsHead, report.connections.prefix(forConnections).map(line(of:)), on: &canvas, from: &row)
        let bottom =
            problem.map { Line(Printable.clean($0), Style(.red, [.bold])) } ?? Line("q", .bold) + Line(" quit", .dim)
        canvas.write(bottom, at: Point(row: size.rows - 1, column: 1))
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

    // MARK: The server

    private var title: Line {
        let up = Quantity.time(milliseconds: report.time - min(report.startedAt, report.time))
        return Line(" \(Printable.clean(report.version))", .bold) + Line("  up \(up)")
            + Line(report.isDraining ? "  takes no new connections" : "", .bold)
    }

    /// Seconds between both reports.
    private var seconds: Double? {
        guard let previous, report.time > previous.time else { return nil }
        return Double(report.time - previous.time) / 1_000
    }

    /// How fast a figure grows; `–` as long as that is not known.
    private func rate(_ figure: (ServerReport) -> Int, _ text: (Double) -> String = { Quantity.count($0) }) -> String {
        guard let previous, let seconds else { return "–" }
        return text(Double(max(0, figure(report) - figure(previous))) / seconds) + "/s"
    }

    private var summary: [Line] {
        let load = report.load
        let rejections = rate { $0.figures.rejections.values.reduce(0, +) }
        let times = previous.map { report.commitTimes.since($0.commitTimes) } ?? report.commitTimes
        let processor = seconds.flatMap { seconds in
            previous.map { Quantity.percent((report.processorSeconds - $0.processorSeconds) / seconds) }
        }
        return [
            fields([
                ("connections", Quantity.count(load.connections)), ("lists", Quantity.count(load.lists)),
                ("items", Quantity.count(load.items)), ("processor", processor ?? "–"),
                ("memory", Quantity.bytes(report.residentBytes)), ("store", Quantity.bytes(load.storeBytes)),
            ]),
            fields([
                ("commits", rate { $0.figures.commits }), ("delivered", rate { $0.figures.deliveries }),
                ("in", rate({ $0.figures.bytesReceived }, Quantity.bytes)),
                ("out", rate({ $0.figures.bytesSent }, Quantity.bytes)), ("rejected", rejections),
            ]),
            fields([
                ("durable in", "half \(Self.bound(times, 0.5)), 99 % \(Self.bound(times, 0.99))"),
                ("waiting", Quantity.count(load.pendingCommits)), ("lagging", Quantity.count(load.lagging)),
                ("slowed", Quantity.count(load.slowed)),
            ]),
        ]
    }

    private static func bound(_ times: ServerReport.Distribution, _ share: Double) -> String {
        times.bound(keptBy: share).map { $0.isFinite ? "≤ " + Quantity.time(seconds: $0) : "> 10 s" } ?? "–"
    }

    private func fields(_ fields: [(String, String)]) -> Line {
        var line = Line()
        for (name, value) in fields {
            line.append("\(name) ", .dim)
            line.append("\(value)   ", .bold)
        }
        return line
    }

    // MARK: Tables

    private static let listsHead = row("list", ["items", "revision", "followers", "commits/s", "waiting"])
    private static let connectionsHead = row("connection", ["behind", "not taken", "silent", ""])

    private static func row(_ name: String, _ values: [String]) -> String {
        let width = 32
        let short = Columns.width(of: name) > width ? Wrapping.lines(name, width: width, limit: 1).first ?? "" : name
        let padding = String(repeating: " ", count: max(0, width - Columns.width(of: short)))
        return short + padding
            + values.map { String(repeating: " ", count: max(1, 12 - Columns.width(of: $0))) + $0 }.joined()
    }

    private func line(of list: ListReport) -> Line {
        let before = previous?.lists.first { $0.name == list.name }?.revision
        let rate = before.flatMap { before in
            seconds.map { Quantity.count(Double(max(0, list.revision - before)) / $0) }
        }
        return Line(
            Self.row(
                Printable.clean(list.name),
                [
                    Quantity.count(list.items), Quantity.count(list.revision), Quantity.count(list.followers),
                    rate ?? "–", Quantity.count(list.pending),
                ]))
    }

    private func line(of connection: ConnectionReport) -> Line {
        let person = connection.person.isEmpty ? "(no hello yet)" : Printable.clean(connection.person)
        return Line(
            Self.row(
                "\(connection.number) \(person) \(Printable.clean(connection.peer))",
                [
                    Quantity.count(connection.behind), Quantity.bytes(connection.queuedBytes),
                    connection.silence.map { Quantity.time(milliseconds: $0) } ?? "–",
                    connection.isSlowed ? "slowed" : "",
                ]))
    }
}
