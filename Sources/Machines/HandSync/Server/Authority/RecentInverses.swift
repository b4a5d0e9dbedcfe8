import HandCore

/// The inverses of the latest commits of a list, so that the list as it was a moment ago need not be read from the
/// store.
///
/// The inverses are made anyway, in case writing the commits fails. They contain deleted items, so their size is
/// bounded.
struct RecentInverses {
    /// The number of commits that are kept, and roughly the most bytes that the inverse of each may take.
    private static let depth = 64
    private static let maxBytes = 16 << 10
    /// The most bytes of items that an inverse may change: they are read and hashed when it is applied.
    private static let maxChangedBytes = 4 << 10

    /// Whether a commit that changes some items has an inverse that is applied fast.
    static func mayKeep(_ changed: [Delta.ChangedItem]) -> Bool {
        changed.reduce(0) { $0 + $1.after.size } <= maxChangedBytes
    }

    /// The oldest revision that can be reached.
    private(set) var floor: Int
    /// A ring buffer: the inverse of a commit is at the index revision modulo `depth`.
    private var inverses: [Delta] = []

    init(revision: Int) { floor = revision }

    /// Takes the inverse, unless it is too large, and leaves another delta in its place.
    ///
    /// - Parameter isKept: false for a commit whose inverse was not made, or takes long to apply.
    /// - Precondition: `revision` is the one after the last revision appended.
    mutating func append(_ inverse: inout Delta, of revision: Int, isKept: Bool) {
        if inverses.isEmpty { inverses = [Delta](repeating: .identity, count: Self.depth) }
        let isKept = isKept && inverse.weighs(atMost: Self.maxBytes)
        if isKept {
            swap(&inverses[revision % Self.depth], &inverse)
        } else {
            inverses[revision % Self.depth] = .identity
        }
        floor = isKept ? max(floor, revision - Self.depth) : revision
    }

    /// - Precondition: `floor < revision`, and the commit was appended.
    func inverse(of revision: Int) -> Delta { inverses[revision % Self.depth] }
}

extension Delta {
    /// Whether the delta takes no more than about `bytes` bytes.
    fileprivate func weighs(atMost bytes: Int) -> Bool {
        if single != nil, singleItem == nil { return true }
        if weight * 32 > bytes { return false }
        var left = bytes - carryingCost * 32
        forEachInserted { left -= 48 + $0.size }
        for change in changes where left >= 0 {
            left -= change.size
        }
        return left >= 0
    }
}

extension Hand {
    /// Applies the inverse of the newest commit.
    mutating func takeBack(_ inverse: Delta) {
        do { try apply(inverse) } catch { preconditionFailure("an inverse does not fit: \(error)") }
    }
}
