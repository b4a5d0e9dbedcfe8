import HandFormats
import HandSync

/// The screen of `hand top --all`: the reports of several servers, and what has changed since their previous reports.
package struct FleetView {
    /// A server, as seen through the database.
    package struct Server {
        package let address: String
        /// Milliseconds since the server's last report.
        let silence: Int
        /// The report; nil if it cannot be decoded: the server may have another version.
        let change: ReportChange?

        package init(address: String, silence: Int, report: ServerReport?, since previous: ServerReport?) {
            (self.address, self.silence) = (address, silence)
            change = report.map { ReportChange($0, since: previous) }
        }

        var report: ServerReport? { change?.report }
    }

    private let servers: [Server]

    package init(_ servers: [Server]) {
        self.servers = servers
    }

    /// - Parameter said: why there is no newer report.
    package func canvas(_ size: Size, said: String? = nil) -> Canvas {
        var canvas = Canvas(size)
        let title = Line(" \(servers.count) \(servers.count == 1 ? "server" : "servers")", .bold) + Line(totals)
        canvas.write(title.padded(to: size.columns).restyled { $0.with(.reverse) }, at: Point(row: 0, column: 0))
        let width = size.columns - 1
        canvas.write(Line(table.head(width: width), .dim), at: Point(row: 2, column: 1))
        for (index, server) in servers.enumerated() where 3 + index < size.rows - 1 {
            let style: Style = server.isSilent ? Style(.red, [.bold]) : .plain
            canvas.write(Line(table.line(of: server, width: width), style), at: Point(row: 3 + index, column: 1))
        }
        let bottom = Point(row: size.rows - 1, column: 1)
        if let said {
            canvas.write(Line(Printable.clean(said), Style(.red, [.bold])), at: bottom)
        } else {
            canvas.write(Line("q", .bold) + Line(" quit", .dim), at: bottom)
        }
        return canvas
    }

    private var totals: String {
        func sum(_ value: (Server) -> Double?) -> Double { servers.compactMap(value).reduce(0, +) }
        return "   connections \(Quantity.count(sum { $0.report.map { Double($0.load.connections) } }))"
            + "   commits \(Quantity.count(sum { $0.change?.rate(\.figures.commits) }))/s"
            + "   delivered \(Quantity.count(sum { $0.change?.rate(\.figures.deliveries) }))/s"
    }

    private var table: TopTable<Server> {
        func count(_ figure: @escaping (ServerReport) -> Int) -> (Server) -> String {
            { $0.report.map { Quantity.count(figure($0)) } ?? "–" }
        }
        func rate(_ figure: @escaping (ServerReport) -> Int) -> (Server) -> String {
            { $0.change?.rate(figure).map { Quantity.count($0) } ?? "–" }
        }
        return TopTable(
            title: "server", name: { Printable.clean($0.address) },
            columns: [
                .init("connections") { count(\.load.connections)($0) }, .init("lists") { count(\.load.lists)($0) },
                .init("commits/s") { rate(\.figures.commits)($0) },
                .init("delivered/s") { rate(\.figures.deliveries)($0) },
                .init("99 % durable") { $0.change?.durable(0.99) ?? "–" },
                .init("processor") { $0.change?.processor ?? "–" },
                .init("memory") { $0.report.map { Quantity.bytes($0.residentBytes) } ?? "–" },
                .init("state") { $0.state },
            ], order: "")
    }
}

extension FleetView.Server {
    /// Whether the server's report is overdue.
    fileprivate var isSilent: Bool { silence > 5_000 }

    fileprivate var state: String {
        if isSilent { return "silent \(Quantity.time(milliseconds: UInt64(silence)))" }
        return report?.isDraining == true ? "draining" : "up"
    }
}
