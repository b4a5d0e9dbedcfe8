import HandCore

/// Text from other people, made safe for a terminal.
public enum Printable {
    /// The text without control characters and without those that turn the direction of writing around. A line break or a
    /// tab becomes a space, anything else that is dangerous becomes `�`.
    public static func clean(_ text: String) -> String {
        if text.unicodeScalars.allSatisfy({ isHarmless($0) }) { return text }
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHarmless(scalar) {
                clean.append(scalar)
            } else {
                clean.append(scalar == "\n" || scalar == "\t" ? " " : "\u{FFFD}")
            }
        }
        return String(clean)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: false
        // Embeddings, overrides, isolates, marks of direction; separators of lines and paragraphs.
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029: false
        default: true
        }
    }

    /// One item in one line, without its id: `[x] milk`, `## heading`, `Q♠`.
    public static func line(of content: Content) -> String {
        clean(content.accept(OneLine()))
    }

    private struct OneLine: ContentVisitor {
        func visit(card: Card) -> String { card.description }
        func visit(note text: String) -> String { text }
        func visit(task text: String, done: Bool) -> String { (done ? "[x] " : "[ ] ") + text }
        func visit(link text: String, url: String) -> String { text.isEmpty ? url : "\(text) <\(url)>" }
        func visit(heading text: String) -> String { "## " + text }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> String {
            "(an item of kind \(kind.rawValue), \(bytes.count) bytes)"
        }
    }
}
