import HandCore

/// A form in which a whole list stands in a file, one line an item.
///
/// Law: what `export` writes, `read` gives back with the same contents in the same order; with the same ids too where
/// the form keeps them (`jsonl`).
package enum ListFormat: String, CaseIterable, Sendable {
    /// One JSON object a line (`JSON.item`); the only form that keeps ids.
    case jsonl
    /// A Markdown list: `- [x] task`, `- note`, `## heading`, `- [link](url)`.
    case markdown
    /// todo.txt: `x task`, other kinds with tags such as `kind:note`.
    case todotxt

    /// How people call it, in options and messages.
    package var name: String { rawValue }

    /// Endings of files in this form, the usual one first.
    package var fileExtensions: [String] {
        switch self {
        case .jsonl: ["jsonl", "ndjson"]
        case .markdown: ["md", "markdown"]
        case .todotxt: ["txt"]
        }
    }

    /// The form that a file's ending suggests; nil if it suggests none.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        let ending = fileName[fileName.index(after: dot)...].lowercased()
        guard let format = Self.allCases.first(where: { $0.fileExtensions.contains(ending) }) else { return nil }
        self = format
    }

    /// Whether a list's items keep their ids when they are read.
    package enum Identity: Sendable {
        /// Ids that the text has are kept; others are minted.
        case kept
        /// All ids are minted, so that the items can be added to a list that they came from.
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
    /// The item's line, without its end.
    func line(for item: Item) -> String

    /// The item of a line that is not blank.
    ///
    /// - Parameter line: the line without its end, with no spaces and tabs around it.
    /// - Returns: no id if the line has none.
    func entry(in line: String) throws(FormatError) -> (id: ItemID?, content: Content)
}

// MARK: - Writing and reading

extension ListFormat {
    /// Writes the items line by line; every line ends with `\n`. What `write` throws is handed on.
    package func export<Failure: Error>(
        _ items: some Sequence<Item>, write: (String) throws(Failure) -> Void
    ) throws(Failure) {
        let syntax = syntax
        for item in items { try write(syntax.line(for: item) + "\n") }
    }

    /// The items of a text in UTF-8. Lines end with LF or CR LF; a byte order mark at the start and blank lines are
    /// passed over.
    ///
    /// - Parameters:
    ///   - generator: mints the ids that the text does not have.
    /// - Throws: `FormatError` with the number of the line that is not in this form, is not UTF-8, or repeats an id.
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
            // Two minted ids meet as good as never (64 random bits), so only those of the text are compared.
            let kept = identity == .kept ? entry.id : nil
            if let kept, !known.insert(kept).inserted {
                throw FormatError(
                    line: lines.number, place: "id", expected: "an id that no line before has", found: "\(kept)")
            }
            items.append(Item(id: kept ?? .random(using: &generator), content: entry.content))
        }
        return items
    }
}

/// Cuts a text into its lines that are not blank, without their ends and the spaces and tabs around them.
private struct Lines {
    private let bytes: [UInt8]
    private var position = 0
    /// The number of the line that `next` gave last, counted from 1.
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
    /// Without the elements at both ends that `isBlank` is true for.
    func trimmed(_ isBlank: (Element) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}

/// One JSON object a line.
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
