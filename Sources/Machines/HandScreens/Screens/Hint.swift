/// Keys and what they currently do, in the line at the bottom. A click on the hint presses the keys.
package struct Hint: Equatable, Sendable {
    package let keys: [Key]
    package let text: String

    init(_ keys: Key..., to text: String) { (self.keys, self.text) = (keys, text) }

    /// The hint of an action; nil if it has no key.
    init?(_ action: Action, _ map: KeyMap) {
        guard let first = map.first(for: action) else { return nil }
        (keys, text) = (first, action.manual.short)
    }

    var symbol: String { keys.map(\.symbol).joined() }
    var line: Line { Line(symbol, .bold) + Line(" \(text)", .dim) }
}

/// The line of keys above the status line, unless a question or a message takes its place.
enum HintLine {
    struct Placed: Equatable, Sendable {
        let column: Int
        let hint: Hint

        var columns: Range<Int> { column..<column + hint.line.width }
    }

    private static let gap = 2

    /// As many hints as fit, the most useful first, and always help. After a question, the hints are at the right.
    static func placed(on screen: any Screen, _ app: AppState) -> [Placed] {
        let width = app.size.columns
        switch screen.typing {
        case .question(let prompt): return behind(prompt, width: width)
        case .field(let draft):
            return fill(draft.hints(app.list(screen.route.list ?? "").hand.rules), from: 0, to: width)
        case nil: break
        }
        let help = Hint(.help, app.keys)
        let room = width - (help.map { $0.line.width + gap } ?? 0)
        let useful = screen.route.kind.actions.lazy.filter {
            $0 != .help && screen.obstacle(to: $0, app) == nil && app.hasStep(for: $0, on: screen.route.list)
        }
        let hints = fill(useful.compactMap { Hint($0, app.keys) }, from: 0, to: room)
        return hints
            + (help.map { fill([$0], from: hints.last.map { $0.columns.upperBound + gap } ?? 0, to: width) } ?? [])
    }

    private static func fill(_ hints: some Sequence<Hint>, from start: Int, to end: Int) -> [Placed] {
        var placed: [Placed] = []
        var column = start
        for hint in hints {
            let next = Placed(column: column, hint: hint)
            if next.columns.upperBound > end { break }
            placed.append(next)
            column = next.columns.upperBound + gap
        }
        return placed
    }

    private static func behind(_ prompt: Prompt, width: Int) -> [Placed] {
        let question = prompt.line(width: width).line.width
        if !prompt.isLine, !prompt.isConfirmation { return fill(prompt.hints, from: question + 1, to: width) }
        let needed = prompt.hints.reduce(0) { $0 + $1.line.width + gap }
        let start = width - needed + gap
        // Leaves some room for typing.
        guard start >= question + Prompt.leastRoom else { return [] }
        return fill(prompt.hints, from: start, to: width)
    }
}

extension AppState {
    /// Whether undo or redo is worth a hint. Edits of earlier runs may be undone, too, but the client does not know
    /// them before it asks the server.
    fileprivate func hasStep(for action: Action, on name: String?) -> Bool {
        guard action == .undo || action == .redo, let name else { return true }
        let state = list(name).state
        return action == .undo ? state.canUndo : state.canRedo
    }
}
