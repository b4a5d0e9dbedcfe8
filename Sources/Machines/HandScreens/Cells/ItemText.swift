import HandCore

/// An item in full, line by line.
struct ItemText: ContentVisitor {
    let width: Int

    private func wrapped(_ text: String, _ style: Style = .plain) -> [Line] {
        Wrapping.lines(text, width: width).map { Line($0, style) }
    }

    func visit(card: Card) -> [Line] { CardCell(card: card).lines(width: width, RowState()) }

    func visit(note text: String) -> [Line] { wrapped(text) }
    func visit(task text: String, done: Bool) -> [Line] {
        [Line(done ? "[x] done" : "[ ] to do", done ? Style(.green) : .plain), Line()] + wrapped(text)
    }
    func visit(link text: String, url: String) -> [Line] {
        wrapped(text) + [Line()] + wrapped(url, Style(.cyan, [.underline]))
    }
    func visit(heading text: String) -> [Line] { wrapped(text, .bold) }
    func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> [Line] {
        wrapped(
            "This program does not know kind \(kind.rawValue). A newer version shows its \(bytes.count) bytes.", .dim)
    }
}
