/// A question at the bottom of the screen. The answer is a line of text or one key.
package struct Prompt: Equatable, Sendable {
    package enum Purpose: Equatable, Sendable {
        case filter
        case jump
        case newList
        case deleteList(String)
        case restore(Int)
    }

    package enum Outcome: Sendable {
        /// The text has changed; the question stays.
        case typed
        /// Enter was pressed, or `y`.
        case answered
        /// The question was cancelled.
        case left
    }

    package let purpose: Purpose
    package let question: String
    package var editor = LineEditor()

    /// The fewest columns for the answer.
    static let leastRoom = 12

    /// Whether the answer is one key: `y`, or anything else for no.
    package var isConfirmation: Bool {
        switch purpose {
        case .restore: true
        case .filter, .jump, .newList, .deleteList: false
        }
    }

    /// Takes a key; returns nil if the key does nothing.
    mutating func take(_ key: Key) -> Outcome? {
        if isConfirmation { return key == Key(.character("y")) || key == Key(.character("Y")) ? .answered : .left }
        if key == Key(.enter) { return .answered }
        if key == Key(.escape) || key == .control("c") { return .left }
        return editor.handle(key) ? .typed : nil
    }

    var hints: [Hint] {
        if isConfirmation { return [Hint(Key(.character("y")), to: "yes"), Hint(Key(.character("n")), to: "no")] }
        let word =
            switch purpose {
            case .filter: "keep"
            case .jump: "go"
            case .newList: "make"
            case .deleteList, .restore: "delete"
            }
        return [Hint(Key(.enter), to: word), Hint(Key(.escape), to: "leave")]
    }

    /// The line as it is drawn, and the column of the cursor.
    func line(width: Int) -> (line: Line, cursor: Int) {
        let whole = isConfirmation ? question + " (y/n)" : question
        // Part of the typed text is always visible.
        let label = (Wrapping.lines(whole, width: max(1, width - Self.leastRoom), limit: 1).first ?? "") + " "
        let room = max(1, width - Columns.width(of: label) - 1)
        let visible = editor.visible(width: room)
        return (Line(label, .bold) + Line(visible.text), Columns.width(of: label) + visible.cursorColumn)
    }
}
