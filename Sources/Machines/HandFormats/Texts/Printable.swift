import HandCore

/// Text that a terminal may receive. Literals in the program's source are kept, with their line breaks, tabs and
/// colours; every value that is interpolated or appended is cleaned. A `String` becomes a `Printable` in no other way,
/// and all output for people is a `Printable`, so that no print can forget to clean.
package struct Printable: ExpressibleByStringInterpolation, CustomStringConvertible, Equatable, Sendable {
    package private(set) var text: String
    package var description: String { text }

    package init(stringLiteral text: String) { self.text = text }
    package init(stringInterpolation parts: StringInterpolation) { text = parts.text }

    /// Cleans each line of a text that the program has laid out itself, such as its help.
    package init(lines: some StringProtocol) {
        text = lines.split(separator: "\n", omittingEmptySubsequences: false)
            .map {
                $0.split(separator: "\t", omittingEmptySubsequences: false).map { Self.clean($0) }.joined(
                    separator: "\t")
            }
            .joined(separator: "\n")
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(2 * literalCapacity) }
        package mutating func appendLiteral(_ literal: String) { text += literal }
        package mutating func appendInterpolation(_ part: Printable) { text += part.text }
        package mutating func appendInterpolation(_ value: some Any) { text += Printable.clean("\(value)") }
    }

    package static func + (left: Self, right: Self) -> Self { "\(left)\(right)" }

    package mutating func append(_ other: some StringProtocol) {
        if Self.isPlain(other) { text += other } else { text += Self.clean(other) }
    }

    package mutating func removeAll() { text.removeAll(keepingCapacity: true) }
}

extension Printable {
    /// Returns the cleaned text without whitespace at its ends.
    package static func words(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        let end = start.reversed().prefix(while: \.isWhitespace).count
        return clean(String(start.dropLast(end)))
    }

    /// Says that somebody's words stay. The user's edit would have removed these words, but the user had not seen them.
    ///
    /// - Parameter item: the item, if the reader does not see which item is meant.
    package static func stays(_ loss: TextChange.Loss, in item: Content? = nil) -> String {
        let place = item.map { " in '\(clean($0.text))'" } ?? ""
        return "'\(words(loss.present))' stays\(place): somebody wrote it over '\(words(loss.original))'"
    }

    /// Returns the text without control characters, marks of writing direction, and invisible characters that have no
    /// meaning at their position. A line break or a tab becomes a space; any other such character becomes `�`.
    package static func clean(_ text: some StringProtocol) -> String {
        if isPlain(text) { return String(text) }
        var clean = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            let isHarmless = isHarmless(scalar, after: previous)
            let shown = isHarmless ? scalar : scalar == "\n" || scalar == "\t" ? " " : "\u{FFFD}"
            clean.append(shown)
            previous = shown
        }
        return String(clean)
    }

    /// Whether the text consists of printable ASCII, as most texts do.
    package static func isPlain(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }

    /// Whether a text has no character that acts on a terminal or is invisible, except tabs, and line breaks unless
    /// `isOneLine`.
    static func isShown(_ text: String, isOneLine: Bool = true) -> Bool {
        if isPlain(text) { return true }
        var previous: Unicode.Scalar?
        return text.unicodeScalars.allSatisfy { scalar in
            defer { previous = scalar }
            return scalar == "\t" || scalar == "\n" && !isOneLine || isHarmless(scalar, after: previous)
        }
    }

    /// Whether a character may be sent to a terminal after the previous one.
    package static func isHarmless(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: false
        // Embeddings, overrides, isolates, direction marks; line and paragraph separators.
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029: false
        // Zero-width spaces, obsolete format characters, fillers.
        case 0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2060...0x2065, 0x206A...0x206F: false
        case 0x3164, 0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A: false
        // Joiners, which are allowed in scripts that use them and between emoji; variation selectors.
        case 0x200C, 0x200D: previous.map { $0.value >= 0x600 && (!isSign($0) || $0 == "\u{FE0F}") } ?? false
        case 0xFE00...0xFE0F: previous.map { ($0.value >= 0x1000 || $0.properties.isEmoji) && !isSign($0) } ?? false
        case 0xE0100...0xE01EF: previous.map { $0.value >= 0x2E80 && !isSign($0) } ?? false
        // Tag characters of flag emoji, which are invisible elsewhere.
        case 0xE0020...0xE007F: previous.map { $0.value == 0x1F3F4 || (0xE0020...0xE007E).contains($0.value) } ?? false
        case 0xE0000...0xE0FFF: false
        case 0x180B...0x180F: previous.map { 0x1820...0x18AF ~= $0.value } ?? false
        case 0x13430...0x1343F: previous.map { 0x13000...0x1342F ~= $0.value } ?? false
        default: true
        }
    }

    /// Whether a scalar is a joiner or a selector, or stands in place of such a sign. A sign makes no sense after
    /// another sign.
    private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF, 0xFFFD, 0xE0000...0xE0FFF: true
        default: false
        }
    }

    /// Returns an item on one line, without its id: `[x] milk`, `## heading`, `Q♠`.
    package static func line(of content: Content) -> String {
        content.accept(OneLine { text, _ in "\(text)" }).text
    }

    /// Returns an edited item on one line, with the removed and inserted words of its texts marked.
    package static func line(of content: Content, from former: Content, _ marks: ChangeMarks) -> Printable {
        content.accept(OneLine { text, isURL in marks.text(from: isURL ? former.address : former.text, to: text) })
    }

    /// Appends `line(of:)` without a temporary string where possible, for lists of a million items.
    package mutating func append(_ content: Content) {
        if case .task(let text, let done) = content, Self.isPlain(text) {
            self.text += done ? "[x] " : "[ ] "
            self.text += text
        } else {
            text += Self.line(of: content)
        }
    }

    private struct OneLine: ContentVisitor {
        /// How a text, or the address of a link, is shown.
        let shown: (_ text: String, _ isURL: Bool) -> Printable

        func visit(card: Card) -> Printable { "\(card)" }
        func visit(note text: String) -> Printable { shown(text, false) }
        func visit(task text: String, done: Bool) -> Printable { (done ? "[x] " : "[ ] ") + shown(text, false) }
        func visit(link text: String, url: String) -> Printable {
            text.isEmpty ? shown(url, true) : "\(shown(text, false)) <\(shown(url, true))>"
        }
        func visit(heading text: String) -> Printable {
            // A heading of others' Markdown brings its own marks.
            let marks = text.utf8.prefix { $0 == UInt8(ascii: "#") }
            let isMarked = !marks.isEmpty && text.utf8.dropFirst(marks.count).first == 0x20
            return isMarked ? shown(text, false) : "## " + shown(text, false)
        }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> Printable {
            "(an item of kind \(kind.rawValue), \(bytes.count) bytes)"
        }
    }
}

extension Content {
    /// The address of a link; empty for other kinds.
    fileprivate var address: String { if case .link(_, let url) = self { url } else { "" } }
}

extension Change.Fields {
    /// The names of the fields in everyday words.
    package var words: [String] { names.map { ["done": "box to tick", "url": "address", "card": "face"][$0] ?? $0 } }
}
