/// A line of Markdown, and the block that the line starts according to CommonMark.
struct MarkdownLine {
    private let bytes: ArraySlice<UInt8>
    /// The columns of the blanks at the start. A tab goes to the next multiple of four.
    let indent: Int
    /// The line without blanks at its ends.
    let text: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        text = bytes.trimmed(\.isBlank)
        indent = Self.columns(of: bytes.prefix(while: \.isBlank))
    }

    private static func columns(of blanks: ArraySlice<UInt8>, from start: Int = 0) -> Int {
        blanks.reduce(start) { $1 == 0x09 ? ($0 / 4 + 1) * 4 : $0 + 1 }
    }

    /// Returns the line without that many columns of blanks at its start.
    func dropping(_ columns: Int) -> [UInt8] {
        var (column, rest) = (0, bytes)
        while column < columns, let byte = rest.first, byte.isBlank {
            column = Self.columns(of: rest.prefix(1), from: column)
            rest.removeFirst()
        }
        return [UInt8](repeating: 0x20, count: max(0, column - columns)) + rest
    }

    var isBlank: Bool { text.isEmpty }

    // MARK: Headings

    /// The number of `#` before a heading, and its text; nil if the line is no heading.
    var heading: (level: Int, text: ArraySlice<UInt8>)? {
        let marks = text.prefix { $0 == UInt8(ascii: "#") }
        let rest = text[marks.endIndex...]
        guard indent < 4, (1...6).contains(marks.count), rest.first?.isBlank ?? true else { return nil }
        return (marks.count, rest.trimmed(\.isBlank))
    }

    /// Whether the line makes a heading of the paragraph above it.
    var isUnderline: Bool {
        guard indent < 4, let first = text.first, first == UInt8(ascii: "=") || first == UInt8(ascii: "-") else {
            return false
        }
        return text.allSatisfy { $0 == first }
    }

    /// Whether the line is a horizontal rule.
    var isBreak: Bool {
        guard let first = text.first, "-*_".utf8.contains(first) else { return false }
        return text.count { $0 == first } >= 3 && text.allSatisfy { $0 == first || $0.isBlank }
    }

    // MARK: List items

    struct Marker {
        /// The marker, such as `-` or `12.`
        let text: ArraySlice<UInt8>
        /// The column where the item's text begins. Further lines of the item are indented to this column.
        let offset: Int
        let content: ArraySlice<UInt8>

        var isNumber: Bool { text.count > 1 }
    }

    var marker: Marker? {
        guard let first = text.first, !isBreak else { return nil }
        let digits = text.prefix(while: \.isDigit)
        var length = digits.count + 1
        if "-*+".utf8.contains(first) {
            length = 1
        } else if !(1...9).contains(digits.count) || !".)".utf8.contains(text[digits.endIndex...].first ?? 0) {
            return nil
        }
        let rest = bytes[(text.startIndex + length)...]
        let blanks = rest.prefix(while: \.isBlank)
        guard rest.isEmpty || !blanks.isEmpty else { return nil }
        let end = indent + length
        let column = Self.columns(of: blanks, from: end)
        let isFar = column > end + 4 || blanks.count == rest.count
        return Marker(text: text.prefix(length), offset: isFar ? end + 1 : column, content: rest[blanks.endIndex...])
    }

    // MARK: Code

    /// The fence that opens a block of code: a row of one character. The closing fence has at least as many characters.
    struct Fence {
        fileprivate let mark: UInt8
        fileprivate let count: Int
    }

    var fence: Fence? {
        guard indent < 4, let mark = text.first, mark == UInt8(ascii: "`") || mark == UInt8(ascii: "~") else {
            return nil
        }
        let marks = text.prefix { $0 == mark }
        // If more backticks follow later in the line, the first ones enclose code within the line.
        let isInline = mark == UInt8(ascii: "`") && text[marks.endIndex...].contains(mark)
        return marks.count >= 3 && !isInline ? Fence(mark: mark, count: marks.count) : nil
    }

    func closes(_ fence: Fence) -> Bool {
        indent < 4 && text.count >= fence.count && text.allSatisfy { $0 == fence.mark }
    }

    // MARK: HTML

    enum HTMLEnd: Equatable {
        case blankLine
        /// After the line that contains this text.
        case text(String)
    }

    /// The end of the block of HTML that this line starts; nil if the line starts no such block.
    var html: HTMLEnd? {
        guard indent < 4, text.first == UInt8(ascii: "<") else { return nil }
        for (start, end) in [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">")]
        where text.starts(with: start.utf8) {
            return .text(end)
        }
        guard let (name, isClosing) = tag else { return nil }
        if ["pre", "script", "style", "textarea"].contains(name), !isClosing { return .text("</\(name)>") }
        return Self.blocks.contains(name) ? .blankLine : nil
    }

    /// Whether the line is nothing but a tag of HTML. Such a line starts a block, but does not end a paragraph.
    var isLoneTag: Bool {
        indent < 4 && tag != nil && text.firstIndex(of: UInt8(ascii: ">")) == text.endIndex - 1
    }

    /// The name of the tag at the start, in lower case.
    private var tag: (name: String, isClosing: Bool)? {
        guard text.first == UInt8(ascii: "<") else { return nil }
        let isClosing = text.dropFirst().first == UInt8(ascii: "/")
        let rest = text.dropFirst(isClosing ? 2 : 1)
        let name = rest.prefix { !$0.isBlank && !"/>".utf8.contains($0) }
        guard let first = name.first, !first.isDigit, first != UInt8(ascii: "-"),
            name.allSatisfy({ $0 == UInt8(ascii: "-") || Unicode.Scalar($0).isAlphanumeric })
        else {
            return nil
        }
        return (String(decoding: name, as: UTF8.self).lowercased(), isClosing)
    }

    private static let blocks: Set<String> = Set(
        """
        address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl \
        dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend \
        li link main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td \
        tfoot th thead title tr track ul
        """.split(separator: " ").map(String.init))

    // MARK: Paragraphs

    /// Whether the line starts another block, although a paragraph before it could continue.
    var interrupts: Bool {
        if indent >= 4 { return false }
        if heading != nil || fence != nil || html != nil || isBreak { return true }
        guard let marker, !marker.content.allSatisfy(\.isBlank), !isDelimiterRow else { return false }
        return !marker.isNumber || marker.text.dropLast().elementsEqual("1".utf8)
    }

    /// Whether the line is the second line of a table.
    private var isDelimiterRow: Bool {
        text.contains(UInt8(ascii: "|")) && text.allSatisfy { "|-: \t".utf8.contains($0) }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is an ASCII letter or digit.
    var isAlphanumeric: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}
