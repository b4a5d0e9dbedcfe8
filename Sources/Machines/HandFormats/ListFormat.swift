import HandCore

/// A file format for a whole list, with one line for each item.
///
/// Law: `read` returns what `export` wrote, with the same contents in the same order, and with the same ids in formats
/// that keep them (`jsonl`).
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

    /// Creates the format for a file's extension; fails if it is none of these.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        let ending = fileName[fileName.index(after: dot)...].lowercased()
        guard let format = Self.allCases.first(where: { $0.fileExtensions.contains(ending) }) else { return nil }
        self = format
    }

    /// Whether items keep their ids when they are read.
    package enum Identity: Sendable {
        /// Ids in the text are kept; missing ones are generated.
        case kept
        /// All ids are generated, so that the items can be added to the list that they came from.
        case minted
    }

    private var syntax: any LineSyntax {
        switch self {
        case .jsonl: JSONLines()
        case .markdown: MarkdownLines()
        case .todotxt: TodoLines()
        }
    }
}

/// How one item is written on one line.
protocol LineSyntax {
    /// Returns the item's line, without a line break.
    func line(for item: Item) -> String

    /// Parses a line into the id, if it has one, and the content of its item.
    ///
    /// - Parameter line: not blank, without a line break, and without spaces or tabs at its ends.
    func entry(in line: String) throws(FormatError) -> (id: ItemID?, content: Content)
}

// MARK: - Writing and reading

extension ListFormat {
    /// Writes the items line by line; every line ends with `\n`.
    package func export<Failure: Error>(
        _ items: some Sequence<Item>, write: (String) throws(Failure) -> Void
    ) throws(Failure) {
        let syntax = syntax
        for item in items { try write(syntax.line(for: item) + "\n") }
    }

    /// Reads the items of a text in UTF-8. Lines end with LF or CR LF. Blank lines and a byte order mark at the start
    /// are ignored.
    ///
    /// - Parameter generator: the random number generator for missing ids.
    /// - Throws: `FormatError` with the number of the line that is not in this format, is not UTF-8, or repeats an id.
    package func read(
        _ bytes: some Sequence<UInt8>, ids identity: Identity = .kept,
        using generator: inout some RandomNumberGenerator
    ) throws(FormatError) -> [Item] {
        let syntax = syntax
        var items: [Item] = []
        var known: Set<ItemID> = []
        var lines = Lines(bytes)
        while let line = try lines.next() {
            let entry: (id: ItemID?, content: Content)
            do { entry = try syntax.entry(in: line) } catch { throw error.inLine(lines.number) }
            // Generated ids practically never collide (64 random bits), so only those in the text are compared.
            let kept = identity == .kept ? entry.id : nil
            if let kept, !known.insert(kept).inserted {
                throw FormatError(
                    line: lines.number, place: "id", expected: "an id that no earlier line has", found: "\(kept)")
            }
            items.append(Item(id: kept ?? .random(using: &generator), content: entry.content))
        }
        return items
    }
}

/// The lines of a text that are not blank, without line breaks and without spaces and tabs at their ends.
private struct Lines {
    private let bytes: [UInt8]
    private var position = 0
    /// The number of the line that `next` returned last, counted from 1.
    private(set) var number = 0

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        if self.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func next() throws(FormatError) -> String? {
        while position < bytes.count {
            let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let line = bytes[position..<end].trimmed { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            position = end + 1
            number += 1
            if line.isEmpty { continue }
            guard let text = String(validating: line, as: UTF8.self) else {
                throw FormatError(line: number, place: "", expected: "text in UTF-8", found: "other bytes")
            }
            return text
        }
        return nil
    }
}

extension BidirectionalCollection {
    /// Returns the elements without the blank ones at both ends.
    package func trimmed(_ isBlank: (Element) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}

/// One JSON object per line.
private struct JSONLines: LineSyntax {
    func line(for item: Item) -> String {
        JSON.item(item).line
    }

    func entry(in line: String) throws(FormatError) -> (id: ItemID?, content: Content) {
        let field = JSONField(try JSONValue.parse(line))
        return (
            try field["id"].ifPresent { (id) throws(FormatError) in try id.id() },
            try JSON.content(from: field)
        )
    }
}
