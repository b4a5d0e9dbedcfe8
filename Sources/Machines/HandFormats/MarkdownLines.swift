import HandCore
import HandWire

/// Items as lines of Markdown. They look right wherever Markdown is shown, and can be read back exactly.
///
///     ## heading
///     - [ ] task to do
///     - [x] task done
///     - note
///     - [link](https://example.org)
///     - Q♠ <!--card-->
///     <!--kind 900 AAEC-->
///
/// Texts have the escapes of CommonMark: `\` before punctuation, `<br>` for a line break, `&#N;` for other control
/// characters and for spaces at the ends. In files of other programs any bullet (`-`, `*`, `+`), indentation and
/// heading level is accepted; any other line is a note.
struct MarkdownLines: LineSyntax {
    private static let cardMark = " <!--card-->"

    func line(for item: Item) -> String {
        item.content.accept(Writer())
    }

    private struct Writer: ContentVisitor {
        func visit(card: Card) -> String { "- \(card)\(cardMark)" }
        func visit(note text: String) -> String {
            // A bracket at the start would be a checkbox or a link.
            let isBracket = text.utf8.first == UInt8(ascii: "[")
            return "- " + (isBracket ? "\\" : "") + MarkdownEscapes.escaped(text)
        }
        func visit(task text: String, done: Bool) -> String {
            "- [\(done ? "x" : " ")] " + MarkdownEscapes.escaped(text)
        }
        func visit(link text: String, url: String) -> String {
            "- [\(MarkdownEscapes.escaped(text, "[]"))](\(MarkdownEscapes.escaped(url, "()<", spaces: .everywhere)))"
        }
        func visit(heading text: String) -> String {
            // A run of # at the end would be read as a closing mark.
            let isClosed = text.utf8.last == UInt8(ascii: "#")
            return "## "
                + (isClosed
                    ? MarkdownEscapes.escaped(String(text.unicodeScalars.dropLast())) + "\\#"
                    : MarkdownEscapes.escaped(text))
        }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> String {
            "<!--kind \(kind.rawValue) \(Base64.text(bytes))-->"
        }
    }

    func entry(in line: String) -> (id: ItemID?, content: Content) {
        (nil, content(of: Array(line.utf8)[...]))
    }

    // MARK: Reading

    // By bytes, not characters: a space and a combining mark after it are one character.

    private func content(of line: ArraySlice<UInt8>) -> Content {
        if let text = heading(line) { return .heading(MarkdownEscapes.text(text)) }
        if let unknown = unknown(line) { return unknown }
        guard let first = line.first, "-*+".utf8.contains(first), let rest = afterBlank(line.dropFirst()) else {
            return .note(MarkdownEscapes.text(line))
        }
        if let task = task(rest) ?? link(rest) ?? card(rest) { return task }
        return .note(MarkdownEscapes.text(rest))
    }

    /// Returns what follows the blanks at the start. There must be at least one blank, unless the line ends here.
    private func afterBlank(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let rest = line.drop { $0 == 0x20 || $0 == 0x09 }
        return rest.isEmpty || rest.startIndex > line.startIndex ? rest : nil
    }

    private func heading(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let isMark = { (byte: UInt8) in byte == UInt8(ascii: "#") }
        let level = line.prefix(while: isMark)
        guard (1...6).contains(level.count), var text = afterBlank(line[level.endIndex...]) else { return nil }
        // In `## text ##` the closing marks are not text.
        let open = text.lastIndex { !isMark($0) }
        let end = open.map { $0 + 1 } ?? text.startIndex
        if end < text.endIndex, open.map({ text[$0] == 0x20 || text[$0] == 0x09 }) ?? true { text = text[..<end] }
        return text.trimmed { $0 == 0x20 || $0 == 0x09 }
    }

    private func unknown(_ line: ArraySlice<UInt8>) -> Content? {
        guard line.starts(with: "<!--kind ".utf8), line.suffix(3).elementsEqual("-->".utf8), line.count >= 12 else {
            return nil
        }
        let words = line.dropFirst(9).dropLast(3).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 2, let kind = Content.Kind(unknownName: String(decoding: words[0], as: UTF8.self)),
            let bytes = Base64.bytes(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        return .unknown(kind, bytes)
    }

    private func task(_ line: ArraySlice<UInt8>) -> Content? {
        for (box, done) in [("[ ]", false), ("[x]", true), ("[X]", true)] where line.starts(with: box.utf8) {
            guard let text = afterBlank(line.dropFirst(3)) else { return nil }
            return .task(MarkdownEscapes.text(text), done: done)
        }
        return nil
    }

    private func card(_ line: ArraySlice<UInt8>) -> Content? {
        let mark = Self.cardMark.utf8
        guard line.count > mark.count, line.suffix(mark.count).elementsEqual(mark) else { return nil }
        return Card(String(decoding: line.dropLast(mark.count), as: UTF8.self)).map(Content.card)
    }

    /// Parses a link that fills the line. With any other text in the line it stays a note.
    private func link(_ line: ArraySlice<UInt8>) -> Content? {
        guard line.first == UInt8(ascii: "["), line.last == UInt8(ascii: ")"),
            let close = end(of: line.dropFirst(), open: "[", close: "]"),
            line[(close + 1)...].first == UInt8(ascii: "("),
            end(of: line[(close + 2)...], open: "(", close: ")") == line.endIndex - 1
        else { return nil }
        let url = line[(close + 2)..<(line.endIndex - 1)]
        guard !url.contains(0x20), !url.contains(0x09) else { return nil }
        return .link(
            MarkdownEscapes.text(line[(line.startIndex + 1)..<close]), url: MarkdownEscapes.text(url))
    }

    /// Returns the position of the closing bracket for one opened before the start. Inner pairs and escaped brackets
    /// do not count.
    private func end(of line: ArraySlice<UInt8>, open: Unicode.Scalar, close: Unicode.Scalar) -> Int? {
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
