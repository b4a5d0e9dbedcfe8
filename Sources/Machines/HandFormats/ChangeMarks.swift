import HandCore

/// How removed and inserted words are marked within a line.
package enum ChangeMarks: Sendable {
    /// `[-milk-]{+oat milk+}`.
    case plain
    /// Red and green, for a terminal.
    case colored

    /// Returns the new text, safe for a terminal, with the removed and inserted words marked.
    func text(from former: String, to text: String) -> String {
        let change = TextChange(from: former, to: text)
        if change.isIdentity { return Printable.clean(text) }
        let bytes = Array(former.utf8)
        func kept(_ range: Range<Int>) -> String { Printable.clean(String(decoding: bytes[range], as: UTF8.self)) }
        var line = ""
        var end = 0
        for splice in change.splices {
            line += kept(end..<splice.at)
            if !splice.removed.isEmpty { line += removed(Printable.clean(splice.removed)) }
            if !splice.inserted.isEmpty { line += inserted(Printable.clean(splice.inserted)) }
            end = splice.at + splice.removed.utf8.count
        }
        return line + kept(end..<bytes.count)
    }

    private func removed(_ text: String) -> String {
        switch self {
        case .plain: "[-\(text)-]"
        case .colored: "\u{1B}[31;9m\(text)\u{1B}[0m"
        }
    }

    private func inserted(_ text: String) -> String {
        switch self {
        case .plain: "{+\(text)+}"
        case .colored: "\u{1B}[32m\(text)\u{1B}[0m"
        }
    }
}
