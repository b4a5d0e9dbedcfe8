import HandCore

/// How removed and inserted words are marked within a line.
package enum ChangeMarks: Sendable {
    /// `[-milk-]{+oat milk+}`.
    case plain
    /// Red and green, for a terminal.
    case colored

    /// Returns the new text, with the removed and inserted words marked.
    func text(from former: String, to text: String) -> Printable {
        let change = TextChange(from: former, to: text)
        let bytes = Array(former.utf8)
        func kept(_ range: Range<Int>) -> Printable { "\(String(decoding: bytes[range], as: UTF8.self))" }
        var line: Printable = ""
        var end = 0
        for splice in change.splices {
            line = line + kept(end..<splice.at)
            if !splice.removed.isEmpty { line = line + removed(splice.removed) }
            if !splice.inserted.isEmpty { line = line + inserted(splice.inserted) }
            end = splice.at + splice.removed.utf8.count
        }
        return line + kept(end..<bytes.count)
    }

    private func removed(_ text: String) -> Printable {
        switch self {
        case .plain: "[-\(text)-]"
        case .colored: "\u{1B}[31;9m\(text)\u{1B}[0m"
        }
    }

    private func inserted(_ text: String) -> Printable {
        switch self {
        case .plain: "{+\(text)+}"
        case .colored: "\u{1B}[32m\(text)\u{1B}[0m"
        }
    }
}
