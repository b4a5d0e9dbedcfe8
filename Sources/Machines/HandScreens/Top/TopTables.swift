import HandFormats
import HandSync

/// A table of `hand top`: a name, which is shortened if there is little room, and figures.
struct TopTable<Row> {
    struct Column {
        let head: String
        let figure: (Row) -> Double
        let text: (Row) -> String

        init(_ head: String, _ figure: @escaping (Row) -> Double = { _ in 0 }, _ text: @escaping (Row) -> String) {
            (self.head, self.figure, self.text) = (head, figure, text)
        }
    }

    let title: String
    let name: (Row) -> String
    let columns: [Column]
    /// The head of the column by which the rows are sorted, or `name`.
    let order: String

    private static var figureWidth: Int { 12 }
    private static var widestName: Int { 32 }
    private static var narrowestName: Int { 12 }

    func head(width: Int) -> String {
        line(
            title + (order == "name" ? "▾" : ""), columns.map { $0.head + ($0.head == order ? "▾" : "") }, width: width)
    }

    func line(of row: Row, width: Int) -> String { line(name(row), columns.map { $0.text(row) }, width: width) }

    private func line(_ name: String, _ values: [String], width: Int) -> String {
        // The name is shortened first, then the gaps between the figures.
        let left = width - columns.count * Self.figureWidth
        let room = min(Self.widestName, max(Self.narrowestName, left))
        let figure = min(Self.figureWidth, max(1, (width - room) / max(1, columns.count)))
        let short = Columns.width(of: name) > room ? Wrapping.lines(name, width: room, limit: 1).first ?? "" : name
        let padding = String(repeating: " ", count: max(0, room - Columns.width(of: short)))
        return short + padding
            + values.map { String(repeating: " ", count: max(1, figure - Columns.width(of: $0))) + $0 }.joined()
    }

    /// The rows. The rows with the largest figures come first. Rows with equal figures are sorted by `isBefore`.
    func sorted(_ rows: [Row], _ isBefore: (Row, Row) -> Bool) -> [Row] {
        guard let column = columns.first(where: { $0.head == order }) else { return rows }
        let figures = rows.map { (row: $0, figure: column.figure($0)) }
        return figures.sorted { $0.figure == $1.figure ? isBefore($0.row, $1.row) : $0.figure > $1.figure }.map(\.row)
    }
}

extension TopView {
    private func matches(_ texts: [String]) -> Bool {
        let query = choice.query.text.lowercased()
        return query.isEmpty || texts.contains { $0.lowercased().contains(query) }
    }

    /// The lists that match the filter, in the chosen order.
    var lists: [ListReport] {
        let found = report.lists.filter { matches([$0.name]) }
        return choice.listOrder == .name
            ? found.sorted { $0.name < $1.name } : listTable.sorted(found) { $0.name < $1.name }
    }

    var listTable: TopTable<ListReport> {
        TopTable(
            title: "list", name: { Printable.clean($0.name) },
            columns: [
                .init("items", { Double($0.items) }) { Quantity.count($0.items) },
                .init("revision", { Double($0.revision) }) { Quantity.count($0.revision) },
                .init("followers", { Double($0.followers) }) { Quantity.count($0.followers) },
                .init("commits/s", { rate(of: $0) ?? 0 }) { rate(of: $0).map { Quantity.count($0) } ?? "–" },
                .init("waiting", { Double($0.pending) }) { Quantity.count($0.pending) },
            ], order: choice.listOrder.rawValue)
    }

    /// The connections that match the filter, in the chosen order.
    package var connections: [ConnectionReport] {
        let found = report.connections.filter { matches([$0.person, $0.peer] + $0.lists) }
        return choice.connectionOrder == .name
            ? found.sorted { ($0.person, $0.number) < ($1.person, $1.number) }
            : connectionTable.sorted(found) { $0.number < $1.number }
    }

    var connectionTable: TopTable<ConnectionReport> {
        TopTable(
            title: "connection", name: Self.name,
            columns: [
                .init("behind", { Double($0.behind) }) { Quantity.count($0.behind) },
                .init("not taken", { Double($0.queuedBytes) }) { Quantity.bytes($0.queuedBytes) },
                .init("silent", { Double($0.silence ?? 0) }) {
                    $0.silence.map { Quantity.time(milliseconds: $0) } ?? "–"
                }, .init("") { $0.isSlowed ? "slowed" : "" },
            ], order: choice.connectionOrder.rawValue)
    }

    static func name(of connection: ConnectionReport) -> String {
        let person = connection.person.isEmpty ? "(no hello yet)" : Printable.clean(connection.person)
        return "\(connection.number) \(person) \(Printable.clean(connection.peer))"
    }
}
