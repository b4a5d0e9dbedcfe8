import HandCore
import HandFormats

/// A list shows at most this many lines of a text. The item's own screen shows all of them.
private let maxLines = 8

struct CardCell: TableCell {
    let card: Card

    func lines(width: Int, _ state: RowState) -> [Line] {
        let face = card == .faceDown ? "░░" : card.description
        let text = face + String(repeating: " ", count: max(0, 3 - Columns.width(of: face)))
        return [
            Line("╭────╮", .dim), Line("│", .dim) + Line(" \(text)", style) + Line("│", .dim), Line("╰────╯", .dim),
        ]
    }

    private var style: Style {
        switch card {
        case .faceDown: Style(.blue)
        case .faceUp(_, .hearts), .faceUp(_, .diamonds): Style(.red, [.bold])
        case .faceUp: .bold
        }
    }
}

struct NoteCell: TableCell {
    let text: String

    func lines(width: Int, _ state: RowState) -> [Line] {
        Wrapping.lines(text, width: width, limit: maxLines).map { Line($0) }
    }
}

/// A box to tick, with the text indented next to it.
struct TaskCell: TableCell {
    let text: String
    let isDone: Bool
    /// The columns of the box in front of the text.
    static let boxWidth = 3

    func lines(width: Int, _ state: RowState) -> [Line] {
        let box = isDone ? Line("[x] ", Style(.green)) : Line("[ ] ")
        return Wrapping.lines(text, width: max(1, width - 4), limit: maxLines).enumerated().map { index, text in
            (index == 0 ? box : Line("    ")) + (isDone ? Line(text, .dim) : Self.line(text, state))
        }
    }

    /// A line of the text, with the names of people and the day that the task is due in colours.
    private static func line(_ text: String, _ state: RowState) -> Line {
        guard let today = state.today else { return Line(text) }
        var (line, end) = (Line(), text.startIndex)
        TaskWords.forEach(in: text) { word, range in
            line.append(String(text[end..<range.lowerBound]))
            line.append(String(text[range]), style(of: word, today, state.me))
            end = range.upperBound
            return true
        }
        line.append(String(text[end...]))
        return line
    }

    private static func style(of word: TaskWords.Word, _ today: String, _ me: String) -> Style {
        switch word {
        case .person(let name): Style(.magenta, TaskWords.names(me, in: "@" + name) ? [.bold] : [])
        case .due(let day): day < today ? Style(.red, [.bold]) : day == today ? Style(.yellow, [.bold]) : Style(.cyan)
        }
    }
}

/// A text, and below it the address of the link.
struct LinkCell: TableCell {
    let text: String
    let address: String

    func lines(width: Int, _ state: RowState) -> [Line] {
        let style = Style(.cyan, [.underline])
        let below = Wrapping.lines(address, width: width, limit: 1).map { Line($0, style) }
        if text.isEmpty || text == address { return below }
        return Wrapping.lines(text, width: width, limit: maxLines).map { Line($0) } + below
    }
}

struct HeadingCell: TableCell {
    let text: String

    func lines(width: Int, _ state: RowState) -> [Line] {
        let lines = Wrapping.lines(text, width: width, limit: maxLines)
        let rule = String(repeating: "─", count: min(width, max(1, lines.map { Columns.width(of: $0) }.max() ?? 1)))
        return lines.map { Line($0, .bold) } + [Line(rule, .dim)]
    }
}

/// An item of a kind that this program does not know. The cell says so.
struct UnknownCell: TableCell {
    let kind: Content.Kind
    let size: Int

    func lines(width: Int, _ state: RowState) -> [Line] {
        [Line("(an item of kind \(kind.rawValue), \(size) bytes; a newer version shows it)", .dim)]
    }
}

/// Finished lines, for rows that are not items.
struct TextCell: TableCell {
    let text: [Line]

    func lines(width: Int, _ state: RowState) -> [Line] { text }
}

/// The field for typing the text of an item. It grows with the text as far as there is room; then it shows the lines
/// around the cursor, with an arrow where the text continues.
struct EditorCell: TableCell {
    let draft: Draft
    /// The most lines that the field may have.
    let room: Int

    /// The lines of the hint below the text. The text keeps at least one line.
    private func hints(width: Int) -> [Line] {
        guard let hint = draft.hint, room > 1 else { return [] }
        return Wrapping.lines(hint, width: width, limit: min(maxLines, room - 1)).map { Line($0, Style(.yellow)) }
    }

    private typealias Text = (rows: [String], cursor: Point, above: Bool, below: Bool)

    private func text(width: Int) -> Text {
        var editor = draft.editor
        guard editor.width != nil else {
            let visible = editor.visible(width: draft.room(width))
            return ([visible.text], Point(row: 0, column: visible.cursorColumn), false, false)
        }
        // The text is already wrapped, unless somebody's name has just taken some of the room.
        editor.width = draft.room(width)
        let rows = editor.window(lines: max(1, room - hints(width: width).count))
        let place = editor.place
        return (
            rows.map { editor.shown(row: $0) }, Point(row: place.row - rows.lowerBound, column: place.column),
            rows.lowerBound > 0, rows.upperBound < editor.rows.count
        )
    }

    /// What may follow the text, as far as there is room next to it.
    private func completion(after shown: String, width: Int) -> Line {
        let room = draft.room(width) - Columns.width(of: shown)
        guard let rest = draft.completion, room > 1 else { return Line() }
        return Line(Wrapping.lines(rest, width: room, limit: 1).first ?? "", .dim)
    }

    /// The cursor's position within the cell's lines.
    func cursor(width: Int) -> Point {
        let cursor = text(width: width).cursor
        return Point(row: cursor.row, column: Columns.width(of: draft.label) + 1 + cursor.column)
    }

    func lines(width: Int, _ state: RowState) -> [Line] {
        let text = text(width: width)
        let blank = String(repeating: " ", count: Columns.width(of: draft.label))
        let lines = text.rows.enumerated().map { row, shown in
            let (isFirst, isLast) = (row == 0, row == text.rows.count - 1)
            let arrow =
                switch (isFirst && text.above, isLast && text.below) {
                case (true, true): "↕"
                case (true, false): "↑"
                case (false, true): "↓"
                case (false, false): " "
                }
            let line = Line((isFirst ? draft.label : blank) + arrow, Style(.cyan)) + Line(shown, .bold)
            return isLast && !text.below ? line + completion(after: shown, width: width) : line
        }
        return lines + hints(width: width)
    }
}
