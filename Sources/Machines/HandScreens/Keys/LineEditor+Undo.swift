extension LineEditor {
    /// The line before or after a change.
    struct Snapshot: Equatable, Sendable {
        var text: String
        var cursor: Int
    }

    private static let mostUndos = 200
    /// Bytes of text kept for undo, so that a huge paste is not kept two hundred times. The last change is always kept.
    private static let mostBytes = 1 << 20

    var snapshot: Snapshot { Snapshot(text: text, cursor: cursor) }

    /// Keeps the line as it is, before a change, which makes redo impossible.
    mutating func remember() {
        past.append(snapshot)
        future = []
        var bytes = past.reduce(0) { $0 + $1.text.utf8.count }
        while past.count > 1, past.count > Self.mostUndos || bytes > Self.mostBytes {
            bytes -= past.removeFirst().text.utf8.count
        }
    }

    mutating func undo() {
        guard let before = past.popLast() else { return }
        future.append(snapshot)
        show(before)
    }

    mutating func redo() {
        guard let after = future.popLast() else { return }
        past.append(snapshot)
        show(after)
    }

    mutating func show(_ snapshot: Snapshot) {
        characters = Array(snapshot.text)
        cursor = snapshot.cursor
    }
}
