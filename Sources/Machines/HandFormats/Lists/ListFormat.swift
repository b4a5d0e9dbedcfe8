import HandCore

/// A file format for a whole list.
///
/// Law: `read` returns the items that `export` wrote, with the same contents and levels in the same order, and with the
/// same ids in formats that keep them (`jsonl`).
package enum ListFormat: String, CaseIterable, Sendable {
    /// One JSON object per line (`JSON.item`); the only format that keeps ids.
    case jsonl
    /// A Markdown list: `- [x] task`, `- note`, `## heading`, `- [link](url)`.
    case markdown
    /// todo.txt: `x task`; other kinds have tags such as `kind:note`.
    case todotxt

    /// The name in options and messages.
    package var name: String { rawValue }

    /// The file extensions, the usual one first.
    package var fileExtensions: [String] {
        switch self {
        case .jsonl: ["jsonl", "ndjson"]
        case .markdown: ["md", "markdown"]
        case .todotxt: ["txt"]
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

    private var writer: any ItemWriter {
        switch self {
        case .jsonl: JSONLines.Writer()
        case .markdown: MarkdownWriter()
        case .todotxt: TodoLines.Writer()
        }
    }

    fileprivate func reader(_ lines: Lines) -> any ItemReader {
        switch self {
        case .jsonl: JSONLines(lines: lines)
        case .markdown: MarkdownReader(lines)
        case .todotxt: TodoLines(lines: lines)
        }
    }
}

protocol ItemWriter {
    /// Returns the item's lines, each with its line break.
    mutating func lines(for item: Item) -> String
}

protocol ItemReader {
    var lines: Lines { get set }

    /// Reads the item that begins in the current line, and goes to the line after the item. The current line is not
    /// blank. Returns nil if the line only separates items.
    mutating func item() throws(FormatError) -> ReadItem?
}

/// An item as a text has it, perhaps without an id.
struct ReadItem: Equatable {
    var id: ItemID?
    var level: UInt8 = 0
    var content: Content
}

// MARK: - Writing and reading

extension ListFormat {
    /// Writes the items one by one; every line ends with `\n`.
    package func export<Failure: Error>(
        _ items: some Sequence<Item>, write: (String) throws(Failure) -> Void
    ) throws(Failure) {
        var writer = writer
        for item in items { try write(writer.lines(for: item)) }
    }

    /// Reads the items of a text. Arguments and errors are those of `ListReader`.
    package func read(
        _ bytes: some Sequence<UInt8>, ids identity: Identity = .kept,
        using generator: inout some RandomNumberGenerator
    ) throws(FormatError) -> [Item] {
        var items: [Item] = []
        var reader = try ListReader(Array(bytes), in: self, ids: identity)
        while let item = try reader.next(using: &generator) { items.append(item) }
        return items
    }

    /// Whether an export may replace a file without a question: whether the file is itself an export, as far as its
    /// contents show. Markdown of other programs is no export, even if `read` and `export` would leave it unchanged.
    package func isExport(_ bytes: [UInt8]) -> Bool {
        var (writer, random, position) = (writer, SplitMix64(seed: 0), 0)
        guard var reader = try? ListReader(bytes, in: self) else { return false }
        do throws(FormatError) {
            while let item = try reader.next(using: &random) {
                let lines = writer.lines(for: item).utf8
                let isOthers = self == .markdown && MarkdownReader.isOfOthers(item.content)
                if isOthers || !bytes[position...].starts(with: lines) { return false }
                position += lines.count
            }
        } catch {
            return false
        }
        return position == bytes.count
    }
}

/// Reads the items of a text in UTF-8, one after another. Lines end with LF or CR LF. Blank lines between items and a
/// byte order mark at the start are ignored.
package struct ListReader {
    private var reader: any ItemReader
    private let identity: ListFormat.Identity
    private var known: Set<ItemID> = []
    /// The number of the first line of the item that `next` returned last, counted from 1.
    package private(set) var line = 0

    package init(
        _ bytes: [UInt8], in format: ListFormat, ids identity: ListFormat.Identity = .kept
    ) throws(FormatError) {
        reader = format.reader(try Lines(bytes))
        self.identity = identity
    }

    /// Returns the next item; nil at the end.
    ///
    /// - Parameter generator: the random number generator for missing ids.
    /// - Throws: `FormatError` with the number of the line that is not in this format, is not UTF-8, or repeats an id.
    package mutating func next(using generator: inout some RandomNumberGenerator) throws(FormatError) -> Item? {
        while true {
            try reader.lines.skipBlanks()
            guard reader.lines.current != nil else { return nil }
            line = reader.lines.number
            let entry: ReadItem?
            do { entry = try reader.item() } catch { throw error.line == nil ? error.inLine(line) : error }
            guard let entry else { continue }
            // Generated ids practically never collide (64 random bits), so only the ids in the text are compared.
            let kept = identity == .kept ? entry.id : nil
            if let kept, !known.insert(kept).inserted {
                throw FormatError(
                    line: line, place: "id", expected: "an id that no earlier line has", found: "\(kept)")
            }
            return Item(id: kept ?? .random(using: &generator), level: entry.level, content: entry.content)
        }
    }
}

private struct JSONLines: ItemReader {
    var lines: Lines

    struct Writer: ItemWriter {
        func lines(for item: Item) -> String { JSON.item(item).line + "\n" }
    }

    mutating func item() throws(FormatError) -> ReadItem? {
        guard let line = lines.current else { return nil }
        let field = JSONField(try JSONValue.parse(String(decoding: line.trimmed(\.isBlank), as: UTF8.self)))
        let entry = ReadItem(
            id: try field["id"].ifPresent { (id) throws(FormatError) in try id.id() },
            level: try JSON.level(from: field["level"]), content: try JSON.content(from: field))
        try lines.advance()
        return entry
    }
}
