import HandCore

/// Lines of a long text that are shown in a list; the item's own screen shows all of it.
private let mostLines = 8

/// A card as it lies on the table.
package struct CardCell: TableCell {
    private var card = Card.faceDown

    package init() {}

    package mutating func configure(with card: Card) {
        self.card = card
    }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        let style = Self.style(of: card)
        let face = card == .faceDown ? "░░" : card.description
        let text = face + String(repeating: " ", count: max(0, 3 - Columns.width(of: face)))
        return [
            Line("╭────╮", .dim), Line("│", .dim) + Line(" \(text)", style) + Line("│", .dim), Line("╰────╯", .dim),
        ]
    }

    static func style(of card: Card) -> Style {
        switch card {
        case .faceDown: Style(.blue)
        case .faceUp(_, .hearts), .faceUp(_, .diamonds): Style(.red, [.bold])
        case .faceUp: .bold
        }
    }
}

/// A text of several lines.
package struct NoteCell: TableCell {
    private var text = ""

    package init() {}

    package mutating func configure(with text: String) {
        self.text = text
    }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        Wrapping.lines(text, width: width, limit: mostLines).map { Line($0) }
    }
}

/// A box to tick and a text that hangs beside it.
package struct TaskCell: TableCell {
    package struct Task: Sendable {
        package var text: String
        package var isDone: Bool
    }

    private var task = Task(text: "", isDone: false)
    /// Columns of the box in front of the text.
    static let boxWidth = 3

    package init() {}

    package mutating func configure(with task: Task) {
        self.task = task
    }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        let box = task.isDone ? Line("[x] ", Style(.green)) : Line("[ ] ")
        return Wrapping.lines(task.text, width: max(1, width - 4), limit: mostLines).enumerated().map { index, text in
            (index == 0 ? box : Line("    ")) + Line(text, task.isDone ? .dim : .plain)
        }
    }
}

/// A text, and below it the address to which it leads.
package struct LinkCell: TableCell {
    package struct Link: Sendable {
        package var text: String
        package var address: String
    }

    private var link = Link(text: "", address: "")

    package init() {}

    package mutating func configure(with link: Link) {
        self.link = link
    }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        let style = Style(.cyan, [.underline])
        let address = Wrapping.lines(link.address, width: width, limit: 1).map { Line($0, style) }
        if link.text.isEmpty || link.text == link.address { return address }
        return Wrapping.lines(link.text, width: width, limit: mostLines).map { Line($0) } + address
    }
}

/// The title of what follows, with room above it.
package struct HeadingCell: TableCell {
    private var text = ""

    package init() {}

    package mutating func configure(with text: String) {
        self.text = text
    }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        let lines = Wrapping.lines(text, width: width, limit: mostLines)
        let rule = String(repeating: "─", count: min(width, max(1, lines.map { Columns.width(of: $0) }.max() ?? 1)))
        return lines.map { Line($0, .bold) } + [Line(rule, .dim)]
    }
}

/// A kind that this program does not know: said so, and left alone.
package struct UnknownCell: TableCell {
    package struct Unknown: Sendable {
        package var kind: Content.Kind
        package var size: Int
    }

    private var unknown = Unknown(kind: Content.Kind(rawValue: 0), size: 0)

    package init() {}

    package mutating func configure(with unknown: Unknown) {
        self.unknown = unknown
    }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        [Line("(an item of kind \(unknown.kind.rawValue), \(unknown.size) bytes; a newer version shows it)", .dim)]
    }
}

/// One line of ready text, for rows that are no items.
package struct TextCell: TableCell {
    private var text: [Line] = []

    package init() {}

    package mutating func configure(with text: [Line]) {
        self.text = text
    }

    package func lines(width: Int, _ state: RowState) -> [Line] { text }
}

/// The field in which one types the text of an item.
package struct EditorCell: TableCell {
    package struct Field: Sendable {
        package var label: String
        package var editor: LineEditor
        package var hint: String?
    }

    private var field = Field(label: "", editor: LineEditor(), hint: nil)

    package init() {}

    package mutating func configure(with field: Field) {
        self.field = field
    }

    /// Columns in front of the text.
    static func lead(_ label: String) -> Int { Columns.width(of: label) + 1 }

    package func lines(width: Int, _ state: RowState) -> [Line] {
        let lead = Self.lead(field.label)
        let visible = field.editor.visible(width: max(1, width - lead - 1))
        var lines = [Line(field.label + " ", Style(.cyan)) + Line(visible.text, .bold)]
        if let hint = field.hint { lines.append(Line(hint, Style(.yellow))) }
        return lines
    }
}
