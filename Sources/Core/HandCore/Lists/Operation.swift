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
        case .delete(let range): return .deleting([range])
        case .move(let range, let gap, let side): return .moving([range], to: gap, side)
        case .edit(let index, let change):
            builder.keep(index)
            builder.edit(change)
        }
        return builder.finish()
    }
}
