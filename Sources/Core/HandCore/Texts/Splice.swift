/// One place of a text that changes: what stands there goes, and other text comes.
public struct Splice: Sendable {
    /// Where, in bytes of the UTF-8 of the text before the change. Texts are kept and sent as UTF-8, so nobody has to count
    /// anything else.
    public let at: Int
    /// What stands there and goes; empty for an insertion. It is carried so that nothing else is needed to merge, to undo, and
    /// to tell somebody what was lost.
    public let removed: String
    public let inserted: String

    public init(at: Int, removed: String, inserted: String) {
        self.at = at
        self.removed = removed
        self.inserted = inserted
    }

    /// The bytes of the text before the change that go.
    var range: Range<Int> { at..<at + removed.utf8.count }

    /// By how many bytes what stands behind it moves.
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
