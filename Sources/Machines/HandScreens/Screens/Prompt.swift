import HandCore
import HandFormats

/// A question at the bottom of the screen. The answer is a line of text or one key.
package struct Prompt: Equatable, Sendable {
    package enum Purpose: Equatable, Sendable {
        case filter
        case jump
        case newList
        case deleteList(String)
        case renameList(String)
        case duplicateList(String)
        case undeleteList
        case restore(Int)
        case sort
        /// To which list items go, and whether they leave this one. The items are those that were selected when the
        /// question was asked, whatever others make of the list until it is answered.
        case send(isMove: Bool, [ItemID])
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
    /// The answers that the Tab key offers.
    var candidates: [String] = []

    /// The fewest columns for the answer.
    static let leastRoom = 12

    /// Whether the answer is one key: `y`, or anything else for no.
    package var isConfirmation: Bool { if case .restore = purpose { true } else { false } }

    /// The orders among which one key chooses; none if something else is asked.
    private var orders: [ItemOrder] { purpose == .sort ? ItemOrder.allCases : [] }

    /// Whether the answer is a line of text.
    var isLine: Bool { !isConfirmation && orders.isEmpty }

    /// Takes a key; returns nil if the key does nothing.
    mutating func take(_ key: Key) -> Outcome? {
        if isConfirmation { return key == Key(.character("y")) || key == Key(.character("Y")) ? .answered : .left }
        if !orders.isEmpty {
            guard let order = orders.first(where: { key == $0.key }) else { return .left }
            editor = LineEditor(order.rawValue)
            return .answered
        }
        if key == Key(.tab), let next = nextCandidate {
            editor = LineEditor(next)
            return .typed
        }
        if key == Key(.enter) { return .answered }
        if key == Key(.escape) || key == .control("c") { return .left }
        return editor.handle(key) ? .typed : nil
    }

    /// The next answer that begins with what is typed; after a whole one, the next of all.
    private var nextCandidate: String? {
        if let place = candidates.firstIndex(of: editor.text) { return candidates[(place + 1) % candidates.count] }
        return candidates.first { $0.lowercased().hasPrefix(editor.text.lowercased()) }
    }

    var hints: [Hint] {
        let leave = Hint(Key(.escape), to: "leave")
        if !orders.isEmpty { return orders.map { Hint($0.key, to: $0.rawValue) } + [leave] }
        if isConfirmation { return [Hint(Key(.character("y")), to: "yes"), Hint(Key(.character("n")), to: "no")] }
        let word =
            switch purpose {
            case .filter: "keep"
            case .jump: "go"
            case .newList: "make"
            case .send(let isMove, _): isMove ? "move" : "copy"
            case .renameList: "rename"
            case .duplicateList: "duplicate"
            case .undeleteList: "bring back"
            case .deleteList, .restore, .sort: "delete"
            }
        return [Hint(Key(.enter), to: word), leave]
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

extension ItemOrder {
    /// The key that chooses the order.
    fileprivate var key: Key {
        switch self {
        case .text: Key(.character("t"))
        case .done: Key(.character("d"))
        case .due: Key(.character("u"))
        case .newest: Key(.character("n"))
        }
    }
}
