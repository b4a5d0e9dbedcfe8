import HandCore

/// The choice of a cell for each kind of content. A program that knows more kinds has its own, and hands the rest on to
/// `StandardCells`.
package protocol ContentCells: Sendable {
    func cell(for content: Content, in pool: inout CellPool) -> any TableCell
}

/// The cells of the kinds that this program knows.
package struct StandardCells: ContentCells {
    package init() {}

    package func cell(for content: Content, in pool: inout CellPool) -> any TableCell {
        content.accept(Chooser())(&pool)
    }

    /// Visitors do not change, so what one returns takes the pool.
    private struct Chooser: ContentVisitor {
        typealias Output = (inout CellPool) -> any TableCell

        func visit(card: Card) -> Output { { $0.dequeue(CardCell.self, for: card) } }
        func visit(note text: String) -> Output { { $0.dequeue(NoteCell.self, for: text) } }
        func visit(task text: String, done: Bool) -> Output {
            { $0.dequeue(TaskCell.self, for: TaskCell.Task(text: text, isDone: done)) }
        }
        func visit(link text: String, url: String) -> Output {
            { $0.dequeue(LinkCell.self, for: LinkCell.Link(text: text, address: url)) }
        }
        func visit(heading text: String) -> Output { { $0.dequeue(HeadingCell.self, for: text) } }
        func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> Output {
            { $0.dequeue(UnknownCell.self, for: UnknownCell.Unknown(kind: kind, size: bytes.count)) }
        }
    }
}
