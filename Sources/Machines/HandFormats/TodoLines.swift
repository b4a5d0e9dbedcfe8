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
///
/// The tags are at the end of the line, in this order. `%XX` is a byte only in lines with `escaped:percent`, so lines
/// of other programs are read unchanged: their priorities, dates and tags stay in the task's text.
struct TodoLines: LineSyntax {
    private static let escapedTag = "escaped:percent"

    // MARK: Writing

    func line(for item: Item) -> String {
        item.content.accept(Writer())
    }

    private struct Writer: ContentVisitor {
        func visit(card: Card) -> String { line(card.description, kind: .card) }
        func visit(note text: String) -> String { line(text, kind: .note) }
        func visit(task text: String, done: Bool) -> String { line(text, kind: .task, done: done) }
        func visit(link text: String, url: String) -> String { line(text, url: url, kind: .link) }
        func visit(heading text: String) -> String { line(text, kind: .heading) }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> String {
            line("bytes:" + Base64.text(bytes), kind: kind)
        }

        private func line(_ text: String, url: String? = nil, kind: Content.Kind, done: Bool = false) -> String {
            // Unescaped, a text `x …` would be read as a completed task.
            let looksDone = !done && (text.utf8.starts(with: "x ".utf8) || text.utf8.elementsEqual("x".utf8))
            let isEscaped = Percent.isNeeded(text) || looksDone || url.map(Percent.isNeededInURL) ?? false
            var words: [String] = done ? ["x"] : []
            if !text.isEmpty { words.append(isEscaped ? Percent.escaped(text, first: looksDone) : text) }
            if let url { words.append("url:" + (isEscaped ? Percent.escaped(url, spaces: true) : url)) }
            let isPlain = kind == .task && !isEscaped && !text.isEmpty && !TodoLines.endsInTag(text)
            if !isPlain { words.append("kind:" + kind.name) }
            if isEscaped { words.append(TodoLines.escapedTag) }
            return words.joined(separator: " ")
        }
    }

    /// Whether the last word would be read as a tag.
    private static func endsInTag(_ text: String) -> Bool {
        let word = split(Array(text.utf8)[...]).word
        return word.starts(with: "kind:".utf8) || word.elementsEqual(escapedTag.utf8)
    }

    // MARK: Reading

    func entry(in line: String) -> (id: ItemID?, content: Content) {
        var text = Array(line.utf8)[...]
        let isDone = text.starts(with: "x ".utf8)
        if isDone { text = text.dropFirst(2) }
        return (nil, tagged(text, isDone: isDone) ?? .task(String(decoding: text, as: UTF8.self), done: isDone))
    }

    /// Returns the content of a line with tags, or nil if its tags are not ours, so that it is a plain task.
    private func tagged(_ line: ArraySlice<UInt8>, isDone: Bool) -> Content? {
        var (rest, word) = Self.split(line)
        let isEscaped = word.elementsEqual(Self.escapedTag.utf8)
        if isEscaped { (rest, word) = Self.split(rest) }
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
            let (words, tag) = Self.split(rest)
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
private enum Percent {
    static func isNeeded(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.contains { isControl($0) } || bytes.first == 0x20 || bytes.last == 0x20
            || bytes.starts(with: [0xEF, 0xBB, 0xBF])
    }

    static func isNeededInURL(_ url: String) -> Bool {
        url.utf8.contains { isControl($0) || $0 == 0x20 }
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// - Parameters:
    ///   - first: always escape the first byte.
    ///   - spaces: escape all spaces, not only those at the ends.
    static func escaped(_ text: String, first: Bool = false, spaces: Bool = false) -> String {
        let bytes = Array(text.utf8)
        // At the start of a file a byte order mark would be taken for the file's own.
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : first ? 1 : 0
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isAtEnd = index == 0 || index == bytes.count - 1
            if index < mark || isControl(byte) || byte == UInt8(ascii: "%") || (byte == 0x20 && (spaces || isAtEnd)) {
                result += ("%" + Hex.text([byte]).uppercased()).utf8
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
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
