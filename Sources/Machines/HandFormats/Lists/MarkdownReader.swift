import HandCore

/// Reads Markdown (see `MarkdownWriter`) item by item.
///
/// List items become tasks, links, cards and notes. Any other block (a paragraph, code, a table, HTML) becomes a note
/// with its lines as they are, and a line break at the end.
struct MarkdownReader: ItemReader {
    /// Marks a line or a block in which characters are written as `&#N;`. The mark is the end of the line, or the last
    /// line of the block.
    static let escapedMark = "<!--escaped-->"
    static let cardMark = " <!--card-->"
    /// Separates a list from an indented block after it.
    static let separator = "<!---->"
    /// The line before an item whose level is not that of its place in a list.
    static func levelMark(_ level: UInt8) -> String { "<!--level \(level)-->" }

    var lines: Lines
    /// Whether the previous item was in a list. Indented lines after it then belong to the list, too.
    private var isInList = false
    /// The list items that enclose the next line: their levels, and the columns where their texts begin.
    private var enclosing: [(level: Int, column: Int)] = []
    /// The level of the next item, if the line before it says so.
    private var nextLevel: Int?
    private let bullets: ListFormat.Bullets

    init(_ lines: Lines, bullets: ListFormat.Bullets = .notes) { (self.lines, self.bullets) = (lines, bullets) }

    mutating func items() throws(FormatError) -> [ReadItem] { try item().map { [$0] } ?? [] }

    /// Reads the item that begins in the current line; nil if the line only separates items.
    mutating func item() throws(FormatError) -> ReadItem? {
        guard let line = lines.current.map(MarkdownLine.init) else { return nil }
        if let marker = line.marker, isInList || line.indent < 4 {
            let level = level(of: line, marker)
            return ReadItem(level: level, content: try item(line, marker))
        }
        if let level = Self.level(line) {
            (isInList, nextLevel) = (false, level)
            try lines.advance()
            return nil
        }
        return try block(line).map { content in
            defer { nextLevel = nil }
            return ReadItem(level: nextLevel ?? 0, content: content)
        }
    }

    /// Returns the level of a list item: one more than that of the item that encloses it.
    private mutating func level(of line: MarkdownLine, _ marker: MarkdownLine.Marker) -> Int {
        enclosing.removeAll { !isInList || line.indent < $0.column }
        let level = nextLevel ?? enclosing.last.map { $0.level + 1 } ?? 0
        enclosing.append((level, marker.offset))
        nextLevel = nil
        return level
    }

    private static func level(_ line: MarkdownLine) -> Int? {
        (1...Item.maxLevel).first { line.text.elementsEqual(levelMark($0).utf8) && line.indent == 0 }.map(Int.init)
    }

    /// Whether a content comes from Markdown of other programs. People do not type such contents.
    static func isOfOthers(_ content: Content) -> Bool {
        switch content {
        case .note(let text): text.utf8.last == 0x0A
        case .heading(let text): text.utf8.first == UInt8(ascii: "#") || text.utf8.contains(0x0A)
        default: false
        }
    }

    // MARK: Lists

    private mutating func item(_ first: MarkdownLine, _ marker: MarkdownLine.Marker) throws(FormatError) -> Content {
        isInList = true
        var text = Array(marker.content)
        var source = first.dropping(first.indent)
        let isOneLine = try !takeFurtherLines(of: first, marker, &text, &source)
        let whole = text[...].trimmingEnd()
        let (words, read) = isOneLine && !marker.isNumber ? Self.unmarked(whole) : (whole, Self.string)
        if let task = Self.task(words, read) { return task }
        if marker.isNumber, bullets == .tasks { return .task(read(words), done: false) }
        if marker.isNumber { return .note(Self.string(marker.text + (words.isEmpty ? [] : [0x20] + words))) }
        if isOneLine, let content = Self.link(words, read) ?? Self.card(words) { return content }
        if bullets == .tasks { return .task(read(words), done: false) }
        // After `- 1. text`, a note `1. text` would be written without the `-`. So the note keeps the source.
        if words.endIndex == whole.endIndex, MarkdownLine(words).marker?.isNumber == true {
            return .note(Self.string(source[...].trimmingEnd()) + "\n")
        }
        return .note(read(words))
    }

    /// Takes the further lines of an item: lines that are indented to the item's text, also after blank lines, and
    /// lines that continue its paragraph. Items in lists within lists are items of their own. Returns whether the item
    /// has further lines.
    private mutating func takeFurtherLines(
        of first: MarkdownLine, _ marker: MarkdownLine.Marker, _ text: inout [UInt8], _ source: inout [UInt8]
    ) throws(FormatError) -> Bool {
        var fence = MarkdownLine(marker.content).fence
        var isParagraph = fence == nil
        var isFurther = false
        try lines.advance()
        while true {
            var ahead = lines
            try ahead.skipBlanks()
            guard let bytes = ahead.current else { return isFurther }
            let (line, blanks) = (MarkdownLine(bytes), ahead.number - lines.number)
            let isInside = line.indent >= marker.offset
            let isCode = fence != nil || blanks > 0 && line.indent >= marker.offset + 4
            let isNew = line.marker != nil && !isCode
            let rest = line.dropping(isInside ? marker.offset : line.indent)
            let inner = MarkdownLine(rest[...])
            let isContinued = isInside || blanks == 0 && isParagraph && !inner.interrupts
            if isNew || !isContinued { return isFurther }
            let breaks = [UInt8](repeating: 0x0A, count: blanks + 1)
            text += breaks + rest
            source += breaks + line.dropping(first.indent)
            if let open = fence {
                if inner.closes(open) { fence = nil }
                isParagraph = false
            } else {
                fence = inner.fence
                isParagraph = fence == nil
            }
            isFurther = true
            lines = ahead
            try lines.advance()
        }
    }

    static func task(_ words: ArraySlice<UInt8>, _ read: (ArraySlice<UInt8>) -> String) -> Content? {
        for (box, done) in [("[ ]", false), ("[x]", true), ("[X]", true)] where words.starts(with: box.utf8) {
            let rest = words.dropFirst(3)
            return rest.first?.isBlank ?? true ? .task(read(rest.drop(while: \.isBlank)), done: done) : nil
        }
        return nil
    }

    private static func card(_ line: ArraySlice<UInt8>) -> Content? {
        let mark = cardMark.utf8
        guard line.count > mark.count, line.suffix(mark.count).elementsEqual(mark) else { return nil }
        return Card(String(decoding: line.dropLast(mark.count), as: UTF8.self)).map(Content.card)
    }

    /// Parses a link that fills the line. If the line has any other text, the item stays a note.
    private static func link(_ line: ArraySlice<UInt8>, _ read: (ArraySlice<UInt8>) -> String) -> Content? {
        guard line.first == UInt8(ascii: "["), line.last == UInt8(ascii: ")"),
            let close = end(of: line.dropFirst(), open: "[", close: "]"),
            line[(close + 1)...].first == UInt8(ascii: "("),
            end(of: line[(close + 2)...], open: "(", close: ")") == line.endIndex - 1
        else { return nil }
        let url = line[(close + 2)..<(line.endIndex - 1)]
        return url.contains(where: \.isBlank) ? nil : .link(read(line[(line.startIndex + 1)..<close]), url: read(url))
    }

    /// Returns the position of the bracket that closes a bracket opened before the start. Inner pairs and brackets
    /// after a `\` do not count.
    private static func end(of line: ArraySlice<UInt8>, open: Unicode.Scalar, close: Unicode.Scalar) -> Int? {
        var depth = 1
        var isEscaped = false
        for (index, byte) in zip(line.indices, line) {
            if !isEscaped {
                if UInt32(byte) == open.value { depth += 1 }
                if UInt32(byte) == close.value { depth -= 1 }
                if depth == 0 { return index }
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return nil
    }

    // MARK: Other blocks

    /// Returns the content of the block that starts at the current line; nil for a separator.
    private mutating func block(_ line: MarkdownLine) throws(FormatError) -> Content? {
        // After a list item, an indented block belonged to an outer item.
        let dropped = isInList ? line.indent : 0
        let first = MarkdownLine(line.dropping(dropped)[...])
        isInList = false
        if let content = Self.unknown(first.text) {
            try lines.advance()
            return content
        }
        if let (level, text) = first.heading {
            try lines.advance()
            return Self.heading(first.text, level, text)
        }
        var text: [UInt8] = []
        if try takeFrontMatter(&text) { return .note(Self.string(text[...])) }
        guard try takeBlock(first, dropped, &text) else { return .heading(Self.string(text.dropLast())) }
        if text.elementsEqual("\(Self.separator)\n".utf8) { return nil }
        // After code, the mark of escapes is a block of its own.
        if let next = lines.current, next.elementsEqual(Self.escapedMark.utf8) {
            text += next + [0x0A]
            try lines.advance()
        }
        let (block, read) = Self.unmarked(text.dropLast())
        return .note(read(block) + "\n")
    }

    private static func heading(_ line: ArraySlice<UInt8>, _ level: Int, _ text: ArraySlice<UInt8>) -> Content {
        let (words, read) = level == 2 ? unmarked(text) : (text, string)
        if words.endIndex != text.endIndex { return .heading(read(words)) }
        let isPlain =
            level == 2 && line.elementsEqual("##".utf8 + (text.isEmpty ? [] : [0x20] + text))
            && text.last != UInt8(ascii: "#") && MarkdownLine(text).heading == nil
        return .heading(string(isPlain ? text : line))
    }

    /// Takes the front matter: settings between lines `---`, which some programs write at the start of a file.
    private mutating func takeFrontMatter(_ text: inout [UInt8]) throws(FormatError) -> Bool {
        guard lines.number == 1, lines.current?.elementsEqual("---".utf8) == true else { return false }
        var (ahead, taken) = (lines, [UInt8]())
        repeat {
            taken += (ahead.current ?? []) + [0x0A]
            try ahead.advance()
            guard let line = ahead.current, ahead.number > 2 || !MarkdownLine(line).isBlank else { return false }
        } while !["---", "..."].contains(where: { ahead.current?.elementsEqual($0.utf8) == true })
        text = taken + (ahead.current ?? []) + [0x0A]
        lines = ahead
        try lines.advance()
        return true
    }

    /// Takes the lines of a block. Returns false if the block is a heading that is underlined.
    private mutating func takeBlock(
        _ first: MarkdownLine, _ dropped: Int, _ text: inout [UInt8]
    ) throws(FormatError) -> Bool {
        var line = first
        /// Takes the line. Returns false if no line follows.
        func take() throws(FormatError) -> Bool {
            text += line.dropping(0) + [0x0A]
            try lines.advance()
            guard let next = lines.current else { return false }
            line = MarkdownLine(MarkdownLine(next).dropping(dropped)[...])
            return true
        }
        if let fence = first.fence {
            repeat { if try !take() { return true } } while !line.closes(fence)
            _ = try take()
            return true
        }
        if first.indent >= 4 {
            while try take() {
                guard line.isBlank else {
                    if line.indent < 4 { return true }
                    continue
                }
                // Blank lines belong to the block if it goes on behind them.
                var ahead = lines
                try ahead.skipBlanks()
                guard let next = ahead.current, MarkdownLine(next).indent >= 4 else { return true }
                while lines.number < ahead.number - 1 { if try !take() { return true } }
            }
            return true
        }
        if case .text(let end) = first.html {
            while !Self.contains(end, line) { if try !take() { return true } }
            if try !take() { return true }
        } else if first.html != nil || first.isLoneTag {
            repeat { if try !take() { return true } } while !line.isBlank
            return true
        } else {
            if try !take() || first.isBreak { return true }
        }
        let canBeHeading = first.html == nil && first.text.first != UInt8(ascii: ">")
        while !line.isBlank, canBeHeading && line.isUnderline || !line.interrupts {
            let isUnderline = canBeHeading && line.isUnderline
            let isMore = try take()
            if isUnderline { return false }
            if !isMore { break }
        }
        return true
    }

    private static func contains(_ text: String, _ line: MarkdownLine) -> Bool {
        String(decoding: line.text, as: UTF8.self).lowercased().contains(text.lowercased())
    }

    private static func unknown(_ line: ArraySlice<UInt8>) -> Content? {
        guard line.starts(with: "<!--kind ".utf8), line.suffix(3).elementsEqual("-->".utf8), line.count >= 12 else {
            return nil
        }
        let words = line.dropFirst(9).dropLast(3).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 2, let kind = Content.Kind(unknownName: String(decoding: words[0], as: UTF8.self)),
            let bytes = Base64.bytes(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        return .unknown(kind, bytes)
    }
}

extension Content.Kind {
    /// Creates the kind with that number; fails if this program knows that kind.
    init?(unknownName name: String) {
        guard let kind = Content.Kind(name: name), !Self.known.contains(kind), kind.rawValue <= UInt32(Int32.max) else {
            return nil
        }
        self = kind
    }
}
