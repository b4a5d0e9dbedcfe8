extension LineEditor {
    /// The text before or after a change, and the text that everybody had at that time.
    struct Snapshot: Equatable, Sendable {
        var text: String
        var cursor: Int
        var base: String
    }

    private static let maxUndos = 200
    /// Bytes of text kept for undo, so that a huge paste is not kept two hundred times. The last change is always kept.
    private static let maxBytes = 1 << 20

    var snapshot: Snapshot { Snapshot(text: text, cursor: cursor, base: base) }

    /// Stores the text before a change. After that, nothing can be redone.
    mutating func remember() {
        past.append(snapshot)
        future = []
        var bytes = past.reduce(0) { $0 + $1.text.utf8.count }
        while past.count > 1, past.count > Self.maxUndos || bytes > Self.maxBytes {
            bytes -= past.removeFirst().text.utf8.count
        }
    }

    mutating func undo() {
        guard let before = past.popLast() else { return }
        future.append(snapshot)
        show(before.merged(with: base).snapshot)
    }

    mutating func redo() {
        guard let after = future.popLast() else { return }
        past.append(snapshot)
        show(after.merged(with: base).snapshot)
    }
}
