import HandCore
import HandWire

/// Items as lines of todo.txt. Tags in the `key:value` form of todo.txt represent what the format does not have.
///
///     task to do
///     x task done
///     note kind:note
///     heading kind:heading
///     link url:https://example.org kind:link
///     Q♠ kind:card
///     bytes:AAEC kind:900
///     two%0Alines kind:task escaped:percent
///     step kind:task level:1
///
/// The tags are at the end of the line, in this order. `%XX` is a byte only in lines with `escaped:percent`, so lines
/// of other programs are read unchanged: their priorities, dates, tags and indentation stay in the task's text. Blank
/// lines and spaces at the ends of lines are not kept.
struct TodoLines: ItemReader {
    var lines: Lines
    private static let escapedTag = "escaped:percent"
    private static let levelTag = "level:"

    // MARK: Writing

    struct Writer: ItemWriter, ContentVisitor {
        /// The level of the item that is being written.
        private var level: UInt8 = 0
        private var isFirst = true

        mutating func lines(for item: Item) -> String {
            level = item.level
            defer { isFirst = false }
            return item.content.accept(self) + "\n"
        }

        func visit(card: Card) -> String { line(card.description, kind: .card) }
        func visit(note text: String) -> String { line(text, kind: .note) }
        func visit(task text: String, done: Bool) -> String { line(text, kind: .task, done: done) }
        func visit(link text: String, url: String) -> String { line(text, url: url, kind: .link) }
        func visit(heading text: String) -> String { line(text, kind: .heading) }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> String {
            line("bytes:" + Base64.text(bytes), kind: kind)
        }

        private func line(_ text: String, url: String? = nil, kind: Content.Kind, done: Bool = false) -> String {
            if kind == .task, level == 0, !text.isEmpty, !Percent.isNeeded(text) {
                let line = (done ? "x " : "") + text
                // A line that looks like another format gets tags, by which an import knows the file.
                if !FileKind.mayLookLikeOne(line, isFirst: isFirst),
                    TodoLines.item(in: Array(line.utf8)[...]) == ReadItem(content: .task(text, done: done))
                {
                    return line
                }
            }
            // Unescaped, a text `x …` would be read as a completed task.
            let looksDone = !done && (text.utf8.starts(with: "x ".utf8) || text.utf8.elementsEqual("x".utf8))
            let isEscaped = Percent.isNeeded(text) || looksDone || url.map(Percent.isNeededInURL) ?? false
            var words: [String] = done ? ["x"] : []
            if !text.isEmpty { words.append(isEscaped ? Percent.escaped(text, first: looksDone) : text) }
            if let url { words.append("url:" + (isEscaped ? Percent.escaped(url, spaces: true) : url)) }
            words.append("kind:" + kind.name)
            if isEscaped { words.append(TodoLines.escapedTag) }
            if level > 0 { words.append(TodoLines.levelTag + "\(level)") }
            return words.joined(separator: " ")
        }
    }

    // MARK: Reading

    /// Whether lines have tags that only these lines have.
    static func hasTags(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.firstRange(of: Array(" kind:".utf8)) != nil }

    mutating func items() throws(FormatError) -> [ReadItem] {
        guard let line = lines.current else { return [] }
        try lines.advance()
        return [Self.item(in: line.trimmingEnd())]
    }

    private static func item(in line: ArraySlice<UInt8>) -> ReadItem {
        let isDone = line.starts(with: "x ".utf8)
        let text = isDone ? line.dropFirst(2) : line
        let (rest, word) = split(text)
        let level = word.starts(with: levelTag.utf8) ? Self.level(word.dropFirst(levelTag.utf8.count)) : nil
        if let content = tagged(level == nil ? text : rest, isDone: isDone) {
            return ReadItem(level: Int(level ?? 0), content: content)
        }
        return ReadItem(content: .task(String(decoding: text, as: UTF8.self), done: isDone))
    }

    private static func level(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let text = String(decoding: digits, as: UTF8.self)
        return UInt8(text).flatMap { (1...Item.maxLevel).contains($0) && "\($0)" == text ? $0 : nil }
    }

    /// Returns the content of a line with tags, or nil if the tags are not those of this format: then the line is a
    /// plain task.
    private static func tagged(_ line: ArraySlice<UInt8>, isDone: Bool) -> Content? {
        var (rest, word) = split(line)
        let isEscaped = word.elementsEqual(escapedTag.utf8)
        if isEscaped { (rest, word) = split(rest) }
        guard word.starts(with: "kind:".utf8),
            let kind = Content.Kind(name: String(decoding: word.dropFirst(5), as: UTF8.self))
        else { return nil }
        func text(_ bytes: ArraySlice<UInt8>) -> String? {
            isEscaped ? Percent.text(bytes) : String(decoding: bytes, as: UTF8.self)
        }
        switch kind {
        case .task: return text(rest).map { .task($0, done: isDone) }
        case _ where isDone: return nil
        case .card: return text(rest).flatMap(Card.init).map(Content.card)
        case .note: return text(rest).map(Content.note)
        case .heading: return text(rest).map(Content.heading)
        case .link:
            let (words, tag) = split(rest)
            guard tag.starts(with: "url:".utf8), let words = text(words), let url = text(tag.dropFirst(4)) else {
                return nil
            }
            return .link(words, url: url)
        default:
            guard rest.starts(with: "bytes:".utf8), Content.Kind(unknownName: kind.name) != nil else { return nil }
            return Base64.bytes(String(decoding: rest.dropFirst(6), as: UTF8.self)).map { .unknown(kind, $0) }
        }
    }

    /// Splits a line into its last word and the text before it.
    private static func split(_ line: ArraySlice<UInt8>) -> (rest: ArraySlice<UInt8>, word: ArraySlice<UInt8>) {
        guard let space = line.lastIndex(of: 0x20) else { return (line.prefix(0), line) }
        return (line[..<space], line[(space + 1)...])
    }
}

/// The escape `%XX` for bytes that a line cannot contain.
enum Percent {
    static func isNeeded(_ text: String) -> Bool {
        guard let last = text.utf8.last else { return false }
        return last.isBlank || !Printable.isShown(text)
    }

    static func isNeededInURL(_ url: String) -> Bool {
        url.utf8.contains(where: \.isBlank) || !Printable.isShown(url)
    }

    /// - Parameters:
    ///   - first: always escape the first byte.
    ///   - spaces: escape all spaces, not only those at the ends.
    static func escaped(_ text: String, first: Bool = false, spaces: Bool = false) -> String {
        var result = ""
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isBlank = scalar == " " || scalar == "\t"
            let isLost =
                isBlank
                ? spaces || index == scalars.count - 1
                : !VisibleText.isHarmless(scalar, after: index > 0 ? scalars[index - 1] : nil)
            if isLost || scalar == "%" || first && index == 0 {
                for byte in String(scalar).utf8 { result += "%" + Hex.text([byte]).uppercased() }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns the unescaped text, or nil if a `%` is not followed by two digits, or the bytes are not UTF-8.
    static func text(_ escaped: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = escaped
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hex.digit(_:)), let low = rest.popFirst().flatMap(Hex.digit(_:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
