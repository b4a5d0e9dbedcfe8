import HandCore

/// Chooses the cell for each kind of content. A program that knows more kinds has its own implementation, which passes
/// the other kinds on to `StandardCells`.
package protocol ContentCells: Sendable {
    func cell(for content: Content) -> any TableCell
}

/// The cells of the kinds that this program knows.
package struct StandardCells: ContentCells, ContentVisitor {
    package init() {}

    package func cell(for content: Content) -> any TableCell { content.accept(self) }

    package func visit(card: Card) -> any TableCell { CardCell(card: card) }
    package func visit(note text: String) -> any TableCell { NoteCell(text: text) }
    package func visit(task text: String, done: Bool) -> any TableCell { TaskCell(text: text, isDone: done) }
    package func visit(link text: String, url: String) -> any TableCell { LinkCell(text: text, address: url) }
    package func visit(heading text: String) -> any TableCell { HeadingCell(text: text) }
    package func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> any TableCell {
        UnknownCell(kind: kind, size: bytes.count)
    }
}
