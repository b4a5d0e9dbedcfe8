import HandCore

/// A file format for a whole list.
///
/// Law: `read` returns the items that `export` wrote, with the same contents and levels in the same order, and with the
/// same ids in formats that keep them (`jsonl`). Formats of other programs are only read.
package enum ListFormat: String, CaseIterable, Sendable {
    /// One JSON object per line (`JSON.item`); the only format that keeps ids.
    case jsonl
    /// A Markdown list: `- [x] task`, `- note`, `## heading`, `- [link](url)`.
    case markdown
    /// todo.txt: `x task`; other kinds have tags such as `kind:note`.
    case todotxt
    /// Comma-separated values.
    case csv
    /// The JSON of `task export`.
    case taskwarrior
    /// The to-dos of a calendar (`VTODO`).
    case icalendar
    /// An outline of Org.
    case org

    /// The formats that are written, too.
    package static let written: [ListFormat] = [.jsonl, .markdown, .todotxt, .csv]

    /// The name in options.
    package var name: String { rawValue }

    /// The name in messages.
    package var title: String {
        switch self {
        case .jsonl: "JSON Lines"
        case .markdown: "Markdown"
        case .todotxt: "todo.txt"
        case .csv: "CSV"
        case .taskwarrior: "an export of Taskwarrior"
        case .icalendar: "iCalendar"
        case .org: "Org"
        }
    }

    /// The file extensions, the usual one first.
    package var fileExtensions: [String] {
        switch self {
        case .jsonl: ["jsonl", "ndjson"]
        case .markdown: ["md", "markdown"]
        case .todotxt: ["txt"]
        case .csv: ["csv"]
        case .taskwarrior: ["json"]
        case .icalendar: ["ics"]
        case .org: ["org"]
        }
    }

    /// Creates the format for a file's extension; fails if no format has that extension.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        let ending = fileName[fileName.index(after: dot)...].lowercased()
        guard let format = Self.allCases.first(where: { $0.fileExtensions.contains(ending) }) else { return nil }
        self = format
    }

    /// Whether items keep their ids when they are read.
    package enum Identity: Sendable {
        /// Ids in the text are kept; missing ids are generated.
        case kept
        /// All ids are generated, so that the items can be added to the list that they came from.
        case minted
    }

    /// What list items of Markdown and Org become that are neither tasks nor links.
    package enum Bullets: Sendable {
        case notes, tasks
    }

    /// How a text is read.
    package struct Reading: Sendable {
        package var ids: Identity
        package var bullets: Bullets
        /// Returns how many seconds the local time is ahead of UTC at a time, in seconds since 1970.
        package var offset: @Sendable (Int) -> Int

        package init(
            ids: Identity = .kept, bullets: Bullets = .notes, offset: @escaping @Sendable (Int) -> Int = { _ in 0 }
        ) {
            (self.ids, self.bullets, self.offset) = (ids, bullets, offset)
        }
    }

    /// Nil for a format that is only read.
    private var writer: (any ItemWriter)? {
        switch self {
        case .jsonl: JSONLines.Writer()
        case .markdown: MarkdownWriter()
        case .todotxt: TodoLines.Writer()
        case .csv: CSV.Writer()
        case .taskwarrior, .icalendar, .org: nil
        }
    }

    fileprivate func reader(_ bytes: [UInt8], _ reading: Reading) throws(FormatError) -> any ItemReader {
        let lines = try Lines(bytes, isFolded: self == .icalendar)
        return switch self {
        case .jsonl: JSONLines(lines: lines)
        case .markdown: MarkdownReader(lines, bullets: reading.bullets)
        case .todotxt: TodoLines(lines: lines)
        case .csv: CSV(lines, offset: reading.offset)
        case .taskwarrior: TaskwarriorReader(lines, offset: reading.offset)
        case .icalendar: ICalendarReader(lines, offset: reading.offset)
        case .org: OrgReader(lines, bullets: reading.bullets)
        }
    }
}

protocol ItemWriter {
    /// The lines before the first item, each with its line break.
    var header: String { get }

    /// Returns the item's lines, each with its line break.
    mutating func lines(for item: Item) -> String
}

extension ItemWriter {
    var header: String { "" }
}

protocol ItemReader {
    var lines: Lines { get set }
    /// What was in the file and is in no item, in words of the file's format.
    var notKept: [String] { get }

    /// Reads what begins in the current line, which is not blank, and goes on. Returns an empty array if that only
    /// separates items.
    mutating func items() throws(FormatError) -> [ReadItem]
}

extension ItemReader {
    var notKept: [String] { [] }
}

extension [String] {
    mutating func addIfNew(_ text: String) {
        if !contains(text) { append(text) }
    }
}

/// An item as a text has it, perhaps without an id.
struct ReadItem: Equatable {
    var id: ItemID?
    /// Texts may have higher levels than lists have.
    var level = 0
    var content: Content
    /// The line where the item begins, if it is not the one where the reader was.
    var line: Int?
}

// MARK: - Writing and reading

extension ListFormat {
    /// Writes the items one by one; every line ends with `\n`.
    ///
    /// - Precondition: The format is one of `written`.
    package func export<Failure: Error>(
        _ items: some Sequence<Item>, write: (String) throws(Failure) -> Void
    ) throws(Failure) {
        guard var writer else { preconditionFailure("\(self) is only read") }
        if !writer.header.isEmpty { try write(writer.header) }
        for item in items { try write(writer.lines(for: item)) }
    }

    /// Reads the items of a text. Arguments and errors are those of `ListReader`.
    package func read(
        _ bytes: some Sequence<UInt8>, as reading: Reading = Reading(),
        using generator: inout some RandomNumberGenerator
    ) throws(FormatError) -> [Item] {
        var items: [Item] = []
        var reader = try ListReader(Array(bytes), in: self, as: reading)
        while let item = try reader.next(using: &generator) { items.append(item) }
        return items
    }

    /// Whether an export of some items may replace a file without a question: whether the file is itself an export, as
    /// far as its contents show. Plain text may be anybody's: at least half of the file's items must be in the new
    /// export, and so must all headings and paragraphs that only other programs write. O(bytes + items)
    package func isExport(_ bytes: [UInt8], of items: some Sequence<Item>) -> Bool {
        guard var writer, var reader = try? ListReader(bytes, in: self), bytes.starts(with: writer.header.utf8) else {
            return false
        }
        let isPlainText = [.markdown, .todotxt].contains(self)
        var known: Set<Substring> = []
        if isPlainText { export(items) { known.insert($0.trimmed(\.isNewline)) } }
        var (random, position, surplus) = (SplitMix64(seed: 0), writer.header.utf8.count, 0)
        do throws(FormatError) {
            while let item = try reader.next(using: &random) {
                let lines = writer.lines(for: item)
                guard bytes[position...].starts(with: lines.utf8) else { return false }
                position += lines.utf8.count
                let isKnown = known.contains(lines.trimmed(\.isNewline))
                if !isKnown, self == .markdown, MarkdownReader.isOfOthers(item.content) { return false }
                surplus += isKnown ? -1 : 1
            }
        } catch {
            return false
        }
        return position == bytes.count && (!isPlainText || surplus <= 0)
    }
}

/// Reads the items of a text in UTF-8, one after another. Lines end with LF or CR LF. Blank lines between items and a
/// byte order mark at the start are ignored.
package struct ListReader {
    private var reader: any ItemReader
    private let identity: ListFormat.Identity
    private var known: Set<ItemID> = []
    /// Items that were read and not yet returned.
    private var waiting: ArraySlice<ReadItem> = []
    /// The number of the first line of the item that `next` returned last, counted from 1.
    package private(set) var line = 0

    /// What was in the text so far and is in no item.
    package var notKept: [String] { reader.notKept + (isFlattened ? ["levels above \(Item.maxLevel)"] : []) }
    private var isFlattened = false

    package init(
        _ bytes: [UInt8], in format: ListFormat, as reading: ListFormat.Reading = .init()
    ) throws(FormatError) {
        reader = try format.reader(bytes, reading)
        identity = reading.ids
    }

    /// Returns the next item; nil at the end.
    ///
    /// - Parameter generator: the random number generator for missing ids.
    /// - Throws: `FormatError` with the number of the line that is not in this format, is not UTF-8, or repeats an id.
    package mutating func next(using generator: inout some RandomNumberGenerator) throws(FormatError) -> Item? {
        while waiting.isEmpty {
            try reader.lines.skipBlanks()
            guard reader.lines.current != nil else { return nil }
            line = reader.lines.number
            do { waiting = try reader.items()[...] } catch { throw error.line == nil ? error.inLine(line) : error }
        }
        let entry = waiting.removeFirst()
        line = entry.line ?? line
        // Generated ids practically never collide (64 random bits), so only the ids in the text are compared.
        let kept = identity == .kept ? entry.id : nil
        if let kept, !known.insert(kept).inserted {
            throw FormatError(line: line, place: "id", expected: "an id that no earlier line has", found: "\(kept)")
        }
        let level = min(entry.level, Int(Item.maxLevel))
        if level < entry.level { isFlattened = true }
        return Item(id: kept ?? .random(using: &generator), level: UInt8(level), content: entry.content)
    }
}

private struct JSONLines: ItemReader {
    var lines: Lines
    private(set) var notKept: [String] = []

    struct Writer: ItemWriter {
        func lines(for item: Item) -> String { JSON.item(item).line + "\n" }
    }

    mutating func items() throws(FormatError) -> [ReadItem] {
        guard let line = lines.current else { return [] }
        let value = try JSONValue.parse(String(decoding: line.trimmed(\.isBlank), as: UTF8.self))
        if case .object(let members) = value {
            for member in members where !JSON.names.contains(member.key) { notKept.addIfNew(member.key) }
        }
        let field = JSONField(Self.completed(value))
        let entry = ReadItem(
            id: try field["id"].ifPresent { (id) throws(FormatError) in try id.id() },
            level: Int(try JSON.level(from: field["level"])), content: try JSON.content(from: field))
        try lines.advance()
        return [entry]
    }

    /// Adds what a line may leave out: its other fields tell the kind, and a task is not done.
    private static func completed(_ item: JSONValue) -> JSONValue {
        guard case .object(var members) = item else { return item }
        let guess = item["card"] != nil ? Content.Kind.card : item["url"] != nil ? .link : .task
        let kind = item["kind"] ?? JSON.kind(guess)
        if item["kind"] == nil { members.append(.init("kind", kind)) }
        if kind == "task", item["done"] == nil { members.append(.init("done", false)) }
        return .object(members)
    }
}
