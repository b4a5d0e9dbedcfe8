import HandCore
import HandWire

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
        text = lines.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
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
    package static func words(_ text: String) -> String { clean(text.trimmed(\.isWhitespace)) }

    /// Says that somebody's words stay. The user's edit would have removed these words, but the user had not seen them.
    ///
    /// - Parameter item: the item, if the reader does not see which item is meant.
    package static func stays(_ loss: TextChange.Loss, in item: Content? = nil) -> String {
        let place = item.map { " in '\(clean($0.text))'" } ?? ""
        return "'\(words(loss.present))' stays\(place): somebody wrote it over '\(words(loss.original))'"
    }

    /// Says that the server has an earlier state of the list.
    ///
    /// - Parameter gone: the number of items that are not in that state.
    package static func restored(gone: Int) -> String {
        "the server has an earlier state of this list now: it was restored from a backup"
            + (gone == 0 ? "" : "; \(Amount.count(gone, "item")) added since \(gone == 1 ? "is" : "are") gone")
    }

    /// Returns the text without control characters, marks of writing direction, and invisible characters that have no
    /// meaning at their position. A line break or a tab becomes a space; any other such character becomes `�`.
    package static func clean(_ text: some StringProtocol) -> String {
        if isPlain(text) { return String(text) }
        var clean = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            let isHarmless = VisibleText.isHarmless(scalar, after: previous)
            let shown = isHarmless ? scalar : scalar == "\n" || scalar == "\t" ? " " : "\u{FFFD}"
            clean.append(shown)
            previous = shown
        }
        return String(clean)
    }

    /// Whether the text consists of printable ASCII, as most texts do.
    package static func isPlain(_ text: some StringProtocol) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(arePlain) ?? text.utf8.allSatisfy(isPlain)
    }

    /// Not generic: through protocols, each byte takes several times as long.
    private static func arePlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool { bytes.allSatisfy(isPlain) }

    private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

    /// Whether a text has no character that acts on a terminal or is invisible, except tabs, and line breaks unless
    /// `isOneLine`.
    static func isShown(_ text: String, isOneLine: Bool = true) -> Bool {
        if isPlain(text) { return true }
        var previous: Unicode.Scalar?
        return text.unicodeScalars.allSatisfy { scalar in
            defer { previous = scalar }
            return scalar == "\t" || scalar == "\n" && !isOneLine || VisibleText.isHarmless(scalar, after: previous)
        }
    }

    /// Returns an item on one line, without its id: `[x] milk`, `## heading`, `Q♠`.
    package static func line(of content: Content) -> String { line(of: content) { text, _ in "\(text)" }.text }

    /// Returns an item on one line.
    ///
    /// - Parameter shown: how a text, or the address of a link, is shown.
    package static func line(
        of content: Content, _ shown: @escaping (_ text: String, _ isURL: Bool) -> Printable
    ) -> Printable {
        content.accept(OneLine(shown: shown))
    }

    /// Returns an edited item on one line, with the removed and inserted words of its texts marked.
    package static func line(of content: Content, from former: Content, _ marks: ChangeMarks) -> Printable {
        line(of: content) { text, isURL in marks.text(from: isURL ? former.address ?? "" : former.text, to: text) }
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

extension Change.Fields {
    /// The names of the fields in everyday words.
    package var words: [String] { names.map { ["done": "box to tick", "url": "address", "card": "face"][$0] ?? $0 } }
}
