/// One place of a text that changes: some text is removed, and other text takes its place.
public struct Splice: Sendable {
    /// The position, in bytes of the UTF-8 of the text before the change. Texts are stored and sent as UTF-8, so no
    /// other unit is needed.
    public let at: Int
    /// The removed text; empty for an insertion. It is included so that nothing else is needed to merge, to undo, and
    /// to show somebody what was lost.
    public let removed: String
    public let inserted: String

    public init(at: Int, removed: String, inserted: String) {
        self.at = at
        self.removed = removed
        self.inserted = inserted
    }

    /// The removed bytes of the text before the change.
    var range: Range<Int> { at..<at + removed.utf8.count }

    /// The number of bytes by which the text behind the splice moves.
    var growth: Int { inserted.utf8.count - removed.utf8.count }

    /// Whether nothing changes.
    var isNothing: Bool { removed.hasSameBytes(as: inserted) }
}

extension Splice: Hashable {
    public static func == (left: Splice, right: Splice) -> Bool {
        left.at == right.at && left.removed.hasSameBytes(as: right.removed)
            && left.inserted.hasSameBytes(as: right.inserted)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(at)
        for byte in removed.utf8 { hasher.combine(byte) }
        for byte in inserted.utf8 { hasher.combine(byte) }
    }
}
