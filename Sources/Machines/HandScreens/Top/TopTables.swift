import HandFormats
import HandSync

/// A table of `hand top`: a name, which gives way where room is short, and figures.
struct TopTable {
    let name: String
    let heads: [String]
    /// The figure, or -1 for the name, by which the rows are sorted; nil if they are not.
    let sorted: Int?

    private static let figureWidth = 12
    private static let widestName = 32
    private static let narrowestName = 12

    func head(width: Int) -> String {
        let marked = heads.enumerated().map { $0.element + ($0.offset == sorted ? "▾" : "") }
        return row(name + (sorted == -1 ? "▾" : ""), marked, width: width)
    }

    func row(_ name: String, _ values: [String], width: Int) -> String {
        // First the name becomes shorter, then the gaps between the figures.
        let left = width - heads.count * Self.figureWidth
        let room = min(Self.widestName, max(Self.narrowestName, left))
        let figure = min(Self.figureWidth, max(1, (width - room) / max(1, heads.count)))
        let short = Columns.width(of: name) > room ? Wrapping.lines(name, width: room, limit: 1).first ?? "" : name
        let padding = String(repeating: " ", count: max(0, room - Columns.width(of: short)))
        return short + padding
            + values.map { String(repeating: " ", count: max(1, figure - Columns.width(of: $0))) + $0 }.joined()
    }
}

extension TopView {
    private func matches(_ texts: [String]) -> Bool {
        let query = choice.query.text.lowercased()
        return query.isEmpty || texts.contains { $0.lowercased().contains(query) }
    }

    // MARK: Lists

    /// The lists that are looked for, in the order that is asked for.
    var lists: [ListReport] {
        let found = report.lists.filter { matches([$0.name]) }
        func by(_ figure: (ListReport) -> Double) -> [ListReport] {
            let figures = found.map { (report: $0, figure: figure($0)) }
            return figures.sorted { ($1.figure, $0.report.name) < ($0.figure, $1.report.name) }.map(\.report)
        }
        switch choice.listOrder {
        case .unsorted: return found
        case .rate: return by { rate(of: $0) ?? 0 }
        case .items: return by { Double($0.items) }
        case .revision: return by { Double($0.revision) }
        case .followers: return by { Double($0.followers) }
        case .waiting: return by { Double($0.pending) }
        case .name: return found.sorted { $0.name < $1.name }
        }
    }

    var listTable: TopTable {
        let sorted: Int? =
            switch choice.listOrder {
            case .unsorted: nil
            case .name: -1
            case .items: 0
            case .revision: 1
            case .followers: 2
            case .rate: 3
            case .waiting: 4
            }
        return TopTable(
            name: "list", heads: ["items", "revision", "followers", "commits/s", "waiting"], sorted: sorted)
    }

    func values(of list: ListReport) -> [String] {
        [
            Quantity.count(list.items), Quantity.count(list.revision), Quantity.count(list.followers),
            rate(of: list).map { Quantity.count($0) } ?? "–", Quantity.count(list.pending),
        ]
    }

    // MARK: Connections

    /// The connections that are looked for, in the order that is asked for.
    package var connections: [ConnectionReport] {
        let found = report.connections.filter { matches([$0.person, $0.peer] + $0.lists) }
        func by(_ figure: (ConnectionReport) -> UInt64) -> [ConnectionReport] {
            found.sorted { (figure($1), $0.number) < (figure($0), $1.number) }
        }
        switch choice.connectionOrder {
        case .behind: return by { UInt64($0.behind) }
        case .notTaken: return by { UInt64($0.queuedBytes) }
        case .silent: return by { $0.silence ?? 0 }
        case .name: return found.sorted { ($0.person, $0.number) < ($1.person, $1.number) }
        }
    }

    var connectionTable: TopTable {
        let sorted =
            switch choice.connectionOrder {
            case .name: -1
            case .behind: 0
            case .notTaken: 1
            case .silent: 2
            }
        return TopTable(name: "connection", heads: ["behind", "not taken", "silent", ""], sorted: sorted)
    }

    static func name(of connection: ConnectionReport) -> String {
        let person = connection.person.isEmpty ? "(no hello yet)" : Printable.clean(connection.person)
        return "\(connection.number) \(person) \(Printable.clean(connection.peer))"
    }

    static func values(of connection: ConnectionReport) -> [String] {
        [
            Quantity.count(connection.behind), Quantity.bytes(connection.queuedBytes),
            connection.silence.map { Quantity.time(milliseconds: $0) } ?? "–", connection.isSlowed ? "slowed" : "",
        ]
    }
}
