/// One edit as a person or a program says it, by index. It becomes a `Delta`.
public enum Operation: Equatable, Sendable {
    /// New items in the gap before the item at `at`, holding on to the neighbour on that side.
    case insert([Item], at: Int, Side)
    case delete(Range<Int>)
    /// The items of a range, taken together to the gap before the item at `to` (counted before the move).
    case move(Range<Int>, to: Int, Side)
    case edit(at: Int, Change)

    /// The delta that says the same.
    ///
    /// - Precondition: positions are not negative. Whether they lie in a list shows when the delta is applied.
    public var delta: Delta {
        var builder = DeltaBuilder()
        switch self {
        case .insert(let items, let gap, let side):
            builder.keep(gap)
            builder.insert(items, side)
        case .delete(let range):
            builder.keep(range.lowerBound)
            builder.delete(range.count)
        case .edit(let index, let change):
            builder.keep(index)
            builder.edit(change)
        case .move(let range, let gap, let side):
            if !range.isEmpty { Self.build(move: range, to: gap, side, in: &builder) }
        }
        return builder.finish()
    }

    private static func build(move range: Range<Int>, to gap: Int, _ side: Side, in builder: inout DeltaBuilder) {
        if gap <= range.lowerBound {
            builder.keep(gap)
            builder.drop(0, range.count, side)
            builder.keep(range.lowerBound - gap)
            builder.pick(range.count)
        } else if gap >= range.upperBound {
            builder.keep(range.lowerBound)
            builder.pick(range.count)
            builder.keep(gap - range.upperBound)
            builder.drop(0, range.count, side)
        } else {
            // A block dropped into its own middle: it stays together around that gap.
            builder.keep(range.lowerBound)
            builder.pick(gap - range.lowerBound)
            builder.drop(0, range.count, side)
            builder.pick(range.upperBound - gap)
        }
    }
}
