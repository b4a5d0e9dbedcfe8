import HandCore

/// One's own edits, to be undone and done again; others' edits in between are respected.
///
/// An entry is the delta that takes an edit back, as of when it was made. What others did to the list since is composed
/// beside the newest entry only and carried down as entries are taken, so following a commit costs O(log n) whatever the
/// depth. The scheme is that of editors' rebased histories: an entry is transformed only when it is used.
struct UndoHistory: Sendable {
    private struct Entry: Sendable {
        let inverse: Delta
        /// What happened to the list after this entry and before the next one.
        var since = Composer()
    }

    private var undos: [Entry] = []
    private var redos: [Entry] = []

    /// Entries kept at least, and twice as many at most; the oldest are forgotten.
    static let depth = 1_000

    var isEmpty: Bool { undos.isEmpty && redos.isEmpty }
    var canUndo: Bool { !undos.isEmpty }
    var canRedo: Bool { !redos.isEmpty }

    /// A new edit of one's own, with what takes it back. What had been undone can no longer be done again.
    mutating func record(inverse: Delta) {
        redos = []
        push(inverse, to: \.undos)
    }

    /// Somebody else's change of the list.
    mutating func follow(_ delta: Delta) {
        guard !delta.isIdentity else { return }
        if !undos.isEmpty { undos[undos.count - 1].since.append(delta) }
        if !redos.isEmpty { redos[redos.count - 1].since.append(delta) }
    }

    /// The delta that undoes the newest edit on the list as it is now; nil if there is none. The caller makes it and hands
    /// its inverse to `undid`.
    mutating func undo() -> Delta? { pop(from: \.undos) }
    mutating func redo() -> Delta? { pop(from: \.redos) }

    mutating func undid(inverse: Delta) { push(inverse, to: \.redos) }
    mutating func redid(inverse: Delta) { push(inverse, to: \.undos) }

    private mutating func push(_ inverse: Delta, to stack: WritableKeyPath<UndoHistory, [Entry]>) {
        self[keyPath: stack].append(Entry(inverse: inverse))
        // Many at once, as taking one from the front moves all others.
        if self[keyPath: stack].count > 2 * Self.depth { self[keyPath: stack].removeFirst(Self.depth) }
    }

    private mutating func pop(from stack: WritableKeyPath<UndoHistory, [Entry]>) -> Delta? {
        guard let entry = self[keyPath: stack].popLast() else { return nil }
        let since = entry.since.delta
        let last = self[keyPath: stack].count - 1
        if last >= 0, !since.isIdentity {
            // The entry below did not see this edit, so what happened since reaches it as if the edit were undone.
            self[keyPath: stack][last].since.append(since.transformed(over: entry.inverse, as: .earlier))
        }
        return entry.inverse.transformed(over: since, as: .later)
    }
}
