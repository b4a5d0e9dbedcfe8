import HandCore

/// The frame of a row, the same for all cells: cursor, number, marks and people.
enum RowFrame {
    private static let gutter = 2
    /// The most columns for the names of others.
    private static let maxForPeople = 24

    static func lines(of cell: any TableCell, _ state: RowState, width: Int) -> [Line] {
        let (tags, mark) = (people(state, width: width), mark(state, width: width))
        let indent = String(repeating: " ", count: indent(state, width: width))
        return content(of: cell, state, width: width).enumerated().map { index, content in
            var line = lead(state, isFirst: index == 0)
            if !indent.isEmpty { line.append(indent) }
            line.append(look(state, content))
            if index == 0, mark.width > 0 { line = line + Line("  ") + mark }
            if index == 0, tags.width > 0 { line = line.padded(to: width - tags.width) + tags }
            return state.isCurrent || state.isSelected || state.isDragged ? highlighted(line, state, width) : line
        }
    }

    /// The lines without the frame, at least one.
    static func content(of cell: any TableCell, _ state: RowState, width: Int) -> [Line] {
        let lines = cell.lines(width: room(state, width: width), state)
        return lines.isEmpty ? [Line()] : lines
    }

    /// The columns for the content.
    static func room(_ state: RowState, width: Int) -> Int {
        let (tags, mark) = (people(state, width: width).width, mark(state, width: width).width)
        return max(1, width - leadWidth(state, width: width) - (tags > 0 ? tags + 1 : 0) - (mark > 0 ? mark + 2 : 0))
    }

    /// What a folded item hides, next to its first line. The item keeps half of the columns.
    private static func mark(_ state: RowState, width: Int) -> Line {
        guard let hidden = state.hidden else { return Line() }
        let room = width - leadWidth(state, width: width) - people(state, width: width).width
        return hidden.line(width: max(0, room / 2 - 2))
    }

    /// The columns in front of the content.
    static func leadWidth(_ state: RowState, width: Int) -> Int { margin(state) + indent(state, width: width) }

    /// The columns of the cursor, the marks and the number.
    private static func margin(_ state: RowState) -> Int {
        gutter + (state.numberWidth == 0 ? 0 : state.numberWidth + 1)
    }

    /// The columns that show the item's level; a narrow screen keeps half of its columns for the content.
    private static func indent(_ state: RowState, width: Int) -> Int {
        state.level == 0 ? 0 : min(2 * state.level, max(0, (width - margin(state)) / 2))
    }

    private static func lead(_ state: RowState, isFirst: Bool) -> Line {
        var line = Line(isFirst && state.isDragged ? "↕" : isFirst && state.isCurrent ? "▸" : " ", .bold)
        if isFirst, let mark = state.mark {
            let colors: [Delta.Mark: Style.Color] = [.inserted: .green, .moved: .cyan, .edited: .yellow]
            line.append(mark.rawValue, Style(colors[mark] ?? .standard, [.bold]))
        } else if isFirst, state.isPending {
            line.append("•", Style(.yellow))
        } else {
            line.append(" ")
        }
        guard state.numberWidth > 0 else { return line }
        let digits = isFirst ? state.number.map { String($0) } ?? "" : ""
        line.append(String(repeating: " ", count: max(0, state.numberWidth - digits.count)) + digits + " ", .dim)
        return line
    }

    /// Styles a line: a pending row is dim and italic; a row that somebody has just changed is highlighted.
    private static func look(_ state: RowState, _ line: Line) -> Line {
        if state.isFlashing { return line.restyled { Style(.black, on: .yellow, $0.attributes) } }
        if state.isPending { return line.restyled { $0.with([.italic, .dim]) } }
        return line
    }

    private static func highlighted(_ line: Line, _ state: RowState, _ width: Int) -> Line {
        line.padded(to: width).restyled { style in
            if state.isSelected || state.isDragged {
                return Style(.standard, on: .blue, style.attributes.subtracting(.dim))
            }
            return style.background == .standard ? style.with(.reverse) : style
        }
    }

    private static func people(_ state: RowState, width: Int) -> Line {
        let room = min(maxForPeople, max(0, (width - leadWidth(state, width: width)) / 2))
        var line = Line()
        for (index, tag) in state.people.enumerated() {
            let name = (tag.isEditing ? "✎ " : "◂") + tag.name
            let rest = state.people.count - index - 1
            let more = rest == 0 ? 0 : state.people[index + 1].isEditing ? 5 : 4
            let needed = Columns.width(of: name) + more + (index > 0 ? 1 : 0)
            if line.width + needed > room {
                let hidden = (tag.isEditing ? "✎+" : "+") + "\(rest + 1)"
                if line.width + hidden.count < room { line.append((index > 0 ? " " : "") + hidden, .dim) }
                return line
            }
            if index > 0 { line.append(" ") }
            line.append(name, Style(tag.color, [.bold]))
        }
        return line
    }
}
