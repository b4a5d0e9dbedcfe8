import HandCore

/// Items as Markdown. The items look right wherever Markdown is shown, and can be read back exactly.
///
///     ## heading
///
///     - [ ] task to do
///       - [x] task of level 1, done
///     - note
///       with a second line
///     - [link](https://example.org)
///     1. note that begins with a number
///     - Q♠ <!--card-->
///     <!--kind 900 AAEC-->
///
///     a note that ends with a line break
///
/// The level of a list item is that of its place in the list. If that is not possible, as for a heading, or a level 2
/// below a level 0, the line `<!--level 2-->` stands before the item.
///
/// A text is written unchanged if the line is then read back as the same item. Otherwise some characters are written as
/// `&#N;`, and the line ends with `<!--escaped-->`. So other programs' Markdown comes back as it was: a heading that is
/// not `## text` keeps its marks in its text, and any block that is no list item is a note with a line break at its
/// end. Not kept are blank lines and indentation outside of such blocks, spaces at the ends of list items, `*` and `+`
/// before list items, the numbers of tasks, and `X` in their boxes.
struct MarkdownWriter: ItemWriter {
    /// The shape of the item that was written last, as far as it matters for the next item.
    private enum Shape {
        case nothing, item, code, block

        /// The shortest text with this shape.
        var sample: String {
            switch self {
            case .nothing: ""
            case .item: "- x\n"
            case .code: "    x\n"
            case .block: "# x\n"
            }
        }
    }

    private var previous = Shape.nothing
    /// The list items that may enclose the next item: their levels, and the columns where their texts begin.
    private var enclosing: [(level: UInt8, column: Int)] = []

    mutating func lines(for item: Item) -> String {
        let content = item.content
        // The last choice is always read back as the same content.
        let choice =
            Choices.plain(content)
            ?? { ways in ways.first { isRead($0, as: content) } ?? ways[ways.count - 1] }(content.accept(Choices()))
        defer { previous = choice.shape }
        return gap(before: choice.shape) + placed(choice, at: item.level)
    }

    /// Returns the lines of an item where its level requires them.
    private mutating func placed(_ choice: Choice, at level: UInt8) -> String {
        let marker = Self.marker(of: choice)
        enclosing.removeAll { $0.level >= level || marker == nil }
        let outer = enclosing.last
        defer { if let marker { enclosing.append((level, (enclosing.last?.column ?? 0) + marker.offset)) } }
        if marker != nil, level == outer.map({ $0.level + 1 }) ?? 0 {
            return indented(choice.text, by: outer?.column ?? 0)
        }
        enclosing = []
        return (level > 0 ? MarkdownReader.levelMark(level) + "\n" : "") + choice.text
    }

    private func indented(_ lines: String, by columns: Int) -> String {
        if columns == 0 { return lines }
        let blanks = String(repeating: " ", count: columns)
        return lines.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { ($0.isEmpty ? "" : blanks) + String(Substring($0)) }.joined(separator: "\n")
    }

    /// The blank line before an item; empty at the start, and between neighbours in a list.
    private func gap(before shape: Shape) -> String {
        previous == .nothing || previous == .item && shape == .item ? "" : "\n"
    }

    /// Whether the choice is read as one item with that content, between the previous item, a sub-item if it can have
    /// any, and a next one.
    private func isRead(_ choice: Choice, as content: Content) -> Bool {
        let before = previous.sample + gap(before: choice.shape)
        let after = Self.subItem(of: choice) + (choice.shape == .item ? "" : "\n") + Shape.item.sample
        guard Printable.isShown(choice.text, isOneLine: false),
            let lines = try? Lines(Array((before + choice.text + after).utf8))
        else {
            return false
        }
        var reader = MarkdownReader(lines)
        var contents: [Content] = []
        while (try? reader.lines.skipBlanks()) != nil, reader.lines.current != nil {
            if let content = try? reader.item()?.content { contents.append(content) }
        }
        let index = previous == .nothing ? 0 : 1
        return contents.count == index + (Self.marker(of: choice) == nil ? 2 : 3) && contents[index] == content
    }

    /// The shortest sub-item. An item with an open fence, for example, would swallow it.
    private static func subItem(of choice: Choice) -> String {
        guard let marker = marker(of: choice) else { return "" }
        return String(repeating: " ", count: marker.offset) + Shape.item.sample
    }

    private static func marker(of choice: Choice) -> MarkdownLine.Marker? {
        choice.shape == .item ? MarkdownLine(Array(choice.text.utf8.prefix { $0 != 0x0A })[...]).marker : nil
    }

    // MARK: The ways to write an item

    private struct Choice {
        let text: String
        let shape: Shape

        /// - Parameter text: the lines, the last one without a line break.
        init(_ text: String, _ shape: Shape) { (self.text, self.shape) = (text + "\n", shape) }
    }

    /// Returns the ways to write a content, the best one first.
    private struct Choices: ContentVisitor {
        func visit(card: Card) -> [Choice] { [Choice("- \(card)\(MarkdownReader.cardMark)", .item)] }

        func visit(note text: String) -> [Choice] {
            block(text) + [numbered(text), indented("- ", text), escaped("- ", text)].compactMap { $0 }
        }

        func visit(task text: String, done: Bool) -> [Choice] {
            let box = "- [\(done ? "x" : " ")] "
            return [indented(box, text), escaped(box, text)]
        }

        func visit(link text: String, url: String) -> [Choice] {
            [
                Choice("- [\(text)](\(url))", .item),
                marked("- [" + escape(text, in: .line) + "](" + escape(url, in: .address) + ")", .item),
            ]
        }

        func visit(heading text: String) -> [Choice] {
            [Choice("## " + text, .block), Choice(text, .block), escaped("## ", text, .block)]
        }

        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> [Choice] {
            [Choice("<!--kind \(kind.rawValue) \(Base64.text(bytes))-->", .item)]
        }

        /// The only way to write that is tried for most items; nil if the text is not plain.
        static func plain(_ content: Content) -> Choice? {
            switch content {
            case .task(let text, let done) where isPlain(text): Choice("- [\(done ? "x" : " ")] \(text)", .item)
            case .note(let text) where isPlain(text): Choice("- \(text)", .item)
            case .heading(let text) where isPlain(text): Choice("## \(text)", .block)
            default: nil
            }
        }

        /// Whether a text begins with a letter, and does not end with a mark or a blank.
        private static func isPlain(_ text: String) -> Bool {
            let bytes = text.utf8
            guard let first = bytes.first, let last = bytes.last else { return false }
            return first > 0x40 && Unicode.Scalar(first).isAlphanumeric && !"># ".utf8.contains(last)
                && Printable.isPlain(text)
        }

        private func block(_ text: String) -> [Choice] {
            guard text.utf8.last == 0x0A else { return [] }
            let lines = String(text.unicodeScalars.dropLast())
            // Bytes: a blank and a mark that combines with it are one character.
            let isCode = ["    ", "\t"].contains { lines.utf8.starts(with: $0.utf8) }
            let choice = Choice(lines, isCode ? .code : .block)
            let separated = Choice("\(MarkdownReader.separator)\n\n\(lines)", choice.shape)
            return [choice, separated, marked(escape(lines, in: .block), .block, "\n")]
        }

        private func numbered(_ text: String) -> Choice? {
            let line = MarkdownLine(Array(text.utf8.prefix { $0 != 0x0A })[...])
            guard let marker = line.marker, marker.isNumber, line.indent == 0 else { return nil }
            return indented("", text, columns: marker.offset)
        }

        private func indented(_ start: String, _ text: String, columns: Int = 2) -> Choice {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let further = lines.dropFirst().map { $0.isEmpty ? "" : String(repeating: " ", count: columns) + $0 }
            return Choice(start + ([String(lines.first ?? "")] + further).joined(separator: "\n"), .item)
        }

        private func escaped(_ start: String, _ text: String, _ shape: Shape = .item) -> Choice {
            marked(start + escape(text, in: .line), shape)
        }

        private func escape(_ text: String, in place: MarkdownEscapes.Place) -> String {
            MarkdownEscapes.escaped(text, in: place)
        }

        private func marked(_ text: String, _ shape: Shape, _ gap: String = " ") -> Choice {
            Choice(text + gap + MarkdownReader.escapedMark, shape)
        }
    }
}
