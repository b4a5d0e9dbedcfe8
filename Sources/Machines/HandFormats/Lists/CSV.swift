import HandCore

/// Items as comma-separated values (RFC 4180), for spreadsheets.
///
///     text,done,level,kind,url,escaped
///     milk,true,0,task,,
///     "oats, rolled",false,1,task,,
///     Swift,,0,link,https://swift.org,
///     AAEC,,0,900,,
///
/// The first line names the columns. A reader takes them in any order, and needs only `text`. Values may be separated
/// by `;` or tabs, too, as the first line shows. `%XX` is a byte only in rows with `percent` in `escaped`. A reader
/// also takes other programs' names of columns, and the column `due`, which becomes `due:2026-12-01` in the text.
struct CSV: ItemReader {
    var lines: Lines
    private(set) var notKept: [String] = []
    /// The columns in the file's order; nil for those that are not known. Empty before the first line.
    private var columns: [Column?] = []
    private var separator = UInt8(ascii: ",")
    private let offset: @Sendable (Int) -> Int

    init(_ lines: Lines, offset: @escaping @Sendable (Int) -> Int) { (self.lines, self.offset) = (lines, offset) }

    private enum Column: String, CaseIterable {
        case text, done, level, kind, url, escaped, due

        static let written: [Column] = [.text, .done, .level, .kind, .url, .escaped]

        /// The column's names in files of other programs, the likeliest first.
        var names: [String] {
            switch self {
            case .text: ["text", "task", "title", "name", "summary", "content", "item", "description"]
            case .done: ["done", "completed", "complete", "checked", "ticked", "status"]
            case .url: ["url", "link", "address"]
            case .due: ["due", "due date", "deadline"]
            case .level, .kind, .escaped: [rawValue]
            }
        }
    }

    // MARK: Writing

    struct Writer: ItemWriter, ContentVisitor {
        let header = CSV.Column.written.map(\.rawValue).joined(separator: ",") + "\r\n"
        /// The level of the item that is being written.
        private var level: UInt8 = 0

        mutating func lines(for item: Item) -> String {
            level = item.level
            return item.content.accept(self)
        }

        func visit(card: Card) -> String { row(card.description, .card) }
        func visit(note text: String) -> String { row(text, .note) }
        func visit(task text: String, done: Bool) -> String { row(text, .task, done: done ? "true" : "false") }
        func visit(link text: String, url: String) -> String { row(text, .link, url: url) }
        func visit(heading text: String) -> String { row(text, .heading) }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> String { row(Base64.text(bytes), kind) }

        private func row(_ text: String, _ kind: Content.Kind, done: String = "", url: String = "") -> String {
            let isEscaped = [text, url].contains { !Printable.isShown($0, isOneLine: false) }
            let texts = [text, url].map { cell(isEscaped ? Percent.escaped($0) : $0) }
            return "\(texts[0]),\(done),\(level),\(kind.name),\(texts[1]),\(isEscaped ? "percent" : "")\r\n"
        }

        private func cell(_ text: String) -> String {
            let bytes = text.utf8
            let isQuoted =
                bytes.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A } || bytes.first?.isBlank ?? false
                || bytes.last?.isBlank ?? false
            if !isQuoted { return text }
            // A quote may be part of a longer character.
            let inner = bytes.flatMap { $0 == 0x22 ? [0x22, 0x22] : [$0] }
            return "\"\(String(decoding: inner, as: UTF8.self))\""
        }
    }

    // MARK: Reading

    mutating func items() throws(FormatError) -> [ReadItem] {
        if columns.isEmpty {
            try readHeader()
            return []
        }
        let cells = try record()
        if cells.allSatisfy(\.isEmpty) { return [] }
        guard cells.count == columns.count else {
            throw FormatError(
                place: "", expected: "\(columns.count) values, as the first line has", found: "\(cells.count)")
        }
        return [try Row(cells, columns, offset).item()]
    }

    private mutating func readHeader() throws(FormatError) {
        let line = lines.current ?? []
        separator = Self.separator(of: line)
        let names = try record().map { String($0.lowercased().trimmed(\.isWhitespace)) }
        columns = names.map { _ in nil }
        for column in Column.allCases {
            guard let name = column.names.first(where: names.contains), let place = names.firstIndex(of: name) else {
                continue
            }
            columns[place] = column
            guard names.lastIndex(of: name) == place else {
                throw FormatError(place: name, expected: "each column once", found: "two")
            }
        }
        guard columns.contains(.text) else {
            throw JSONField(.string(String(decoding: line, as: UTF8.self))).mismatch(
                "the names of the columns, with one of " + Column.text.names.joined(separator: ", "))
        }
        notKept = zip(names, columns).filter { !$0.isEmpty && $1 == nil }.map { "the column \($0.0)" }
    }

    private static func separator(of line: ArraySlice<UInt8>) -> UInt8 {
        let counts = [",", ";", "\t"].map { mark in line.count { $0 == mark.utf8.first } }
        let most = counts.max() ?? 0
        return Array(",;\t".utf8)[counts.firstIndex(of: most) ?? 0]
    }

    /// Whether a line names columns of tasks.
    static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        let words = line.split(separator: separator(of: line)).map {
            String(decoding: $0, as: UTF8.self).lowercased().trimmed { $0.isWhitespace || $0 == "\"" }
        }
        let known = Column.allCases.filter { $0.names.contains { words.contains($0[...]) } }
        return known.contains(.text) && known.count > 1
    }

    /// Takes the values of the current row. A value in quotes may have several lines.
    private mutating func record() throws(FormatError) -> [String] {
        var cells: [String] = []
        var rest = lines.current ?? []
        while true {
            var cell: [UInt8] = []
            if rest.first == UInt8(ascii: "\"") {
                rest.removeFirst()
                try takeQuoted(&rest, &cell, in: cells.count)
            } else {
                let end = rest.firstIndex(of: separator) ?? rest.endIndex
                cell += rest[..<end]
                rest = rest[end...]
            }
            cells.append(String(decoding: cell, as: UTF8.self))
            guard rest.popFirst() != nil else {
                try lines.advance()
                return cells
            }
        }
    }

    /// Takes a value after its opening quote, and the closing quote.
    private mutating func takeQuoted(
        _ rest: inout ArraySlice<UInt8>, _ cell: inout [UInt8], in place: Int
    ) throws(FormatError) {
        let quote = UInt8(ascii: "\"")
        func mismatch(_ found: String) -> FormatError {
            let name = columns.indices.contains(place) ? columns[place]?.rawValue : nil
            return FormatError(
                place: name ?? "value \(place + 1)", expected: "a quote and then '\(Unicode.Scalar(separator))'",
                found: found)
        }
        while true {
            if let end = rest.firstIndex(of: quote) {
                cell += rest[..<end]
                rest = rest[(end + 1)...]
                if rest.first != quote { break }
                cell.append(quote)
                rest.removeFirst()
            } else {
                cell += rest + [0x0A]
                try lines.advance()
                guard let next = lines.current else { throw mismatch("the end of the file") }
                rest = next
            }
        }
        guard rest.isEmpty || rest.first == separator else {
            throw mismatch(JSONValue.string(String(decoding: rest.prefix(20), as: UTF8.self)).line)
        }
    }

    /// The values of one row.
    private struct Row {
        private var values: [Column: String] = [:]
        private let offset: (Int) -> Int

        init(_ cells: [String], _ columns: [Column?], _ offset: @escaping (Int) -> Int) {
            self.offset = offset
            for (cell, column) in zip(cells, columns) where !cell.isEmpty {
                if let column { values[column] = cell }
            }
        }

        private func field(_ column: Column) -> JSONField {
            JSONField(values[column].map(JSONValue.string), path: column.rawValue)
        }

        func item() throws(FormatError) -> ReadItem {
            guard let level = UInt8(values[.level] ?? "0"), level <= Item.maxLevel else {
                throw field(.level).mismatch("a level from 0 to \(Item.maxLevel)")
            }
            return ReadItem(level: Int(level), content: try content())
        }

        private func content() throws(FormatError) -> Content {
            let (done, url) = (try done(), try text(.url))
            var text = try text(.text)
            if let due = values[.due] {
                guard let day = Day(due, offset: offset) else { throw field(.due).mismatch("a day such as 2026-12-01") }
                text = day.added(to: text)
            }
            guard let name = values[.kind] else {
                if url.isEmpty { return .task(text, done: done) }
                // Only a task has a box to tick.
                return values[.done] == nil ? .link(text, url: url) : .task("\(text) \(url)", done: done)
            }
            guard let kind = Content.Kind(name: name), kind.rawValue > 0, kind.rawValue <= UInt32(Int32.max) else {
                throw field(.kind).mismatch("the name of a kind or a number")
            }
            if done, kind != .task { throw field(.done).mismatch("nothing in a \(kind.name)") }
            if !url.isEmpty, kind != .link { throw field(.url).mismatch("nothing in a \(kind.name)") }
            switch kind {
            case .card:
                guard let card = Card(text) else { throw field(.text).mismatch("a card such as \"Q♠\" or \"??\"") }
                return .card(card)
            case .note: return .note(text)
            case .task: return .task(text, done: done)
            case .link: return .link(text, url: url)
            case .heading: return .heading(text)
            default: return .unknown(kind, try JSONField(.string(text), path: Column.text.rawValue).base64())
            }
        }

        private func done() throws(FormatError) -> Bool {
            switch values[.done]?.lowercased() ?? "" {
            case "true", "yes", "1", "x", "✓", "✔", "done", "completed", "complete": return true
            case "", "false", "no", "0", "open", "todo", "to do", "pending", "not started", "needs-action": return false
            default: throw field(.done).mismatch("true or false")
            }
        }

        private func text(_ column: Column) throws(FormatError) -> String {
            let text = values[column] ?? ""
            switch values[.escaped] {
            case nil: return text
            case "percent":
                guard let text = Percent.text(Array(text.utf8)[...]) else {
                    throw field(column).mismatch("two hexadecimal digits after each %")
                }
                return text
            default: throw field(.escaped).mismatch("\"percent\" or nothing")
            }
        }
    }
}
