// Edits by index, as people and programs express them: of one item, or of several runs at once, such as a selection.
// Positions outside the list are reported when the delta is applied.

extension Delta {
    /// Inserts one item into the gap before the item at `gap`. Fails beyond the longest list.
    package init?(inserting item: PackedItem, at gap: Int, _ side: Side) {
        guard let edit = SingleEdit.inserting(at: gap, side) else { return nil }
        self.init(single: edit, item)
    }

    /// Deletes one item. Fails beyond the longest list.
    package init?(deletingAt index: Int) {
        guard let edit = SingleEdit.deleting(at: index) else { return nil }
        self.init(single: edit)
    }

    /// Inserts new items into the gap before the item at `gap`, attached to the neighbour on that side.
    public static func inserting(_ items: [Item], at gap: Int = 0, _ side: Side = .after) -> Delta {
        var builder = DeltaBuilder()
        builder.keep(gap)
        builder.insert(items.map(PackedItem.init), side)
        return builder.finish()
    }

    public static func deleting(_ range: Range<Int>) -> Delta { deleting([range]) }

    public static func moving(_ range: Range<Int>, to gap: Int, _ side: Side) -> Delta {
        moving([range], to: gap, side)
    }

    public static func editing(at index: Int, _ change: Change) -> Delta { changing([index..<index + 1], change) }

    /// Deletes the items of all runs.
    ///
    /// - Precondition: the runs are sorted and do not overlap.
    public static func deleting(_ runs: [Range<Int>]) -> Delta {
        walking(runs) { builder, run in builder.delete(run.count) }
    }

    /// Makes the same change in all items of the runs.
    ///
    /// - Precondition: the runs are sorted and do not overlap. Items that lack the fields are reported when the delta
    ///   is applied.
    public static func changing(_ runs: [Range<Int>], _ change: Change) -> Delta {
        walking(runs) { builder, run in for _ in run { builder.edit(change) } }
    }

    /// Moves the items of all runs, in their order, to the gap before the item at `gap` (counted before the move).
    ///
    /// - Precondition: the runs are sorted and do not overlap.
    public static func moving(_ runs: [Range<Int>], to gap: Int, _ side: Side) -> Delta {
        var parts: [Range<Int>] = []
        for run in runs {
            // A run around the gap is split into two parts.
            let split = min(max(gap, run.lowerBound), run.upperBound)
            parts += [run.lowerBound..<split, split..<run.upperBound].filter { !$0.isEmpty }
        }
        let total = parts.reduce(0) { $0 + $1.count }
        guard total > 0 else { return .identity }
        var builder = DeltaBuilder()
        var position = 0
        let before = parts.prefix { $0.upperBound <= gap }
        for run in before { pick(run, &builder, &position) }
        builder.keep(gap - position)
        position = gap
        builder.drop(0, total, side)
        for run in parts.dropFirst(before.count) { pick(run, &builder, &position) }
        return builder.finish()
    }

    private static func pick(_ run: Range<Int>, _ builder: inout DeltaBuilder, _ position: inout Int) {
        builder.keep(run.lowerBound - position)
        builder.pick(run.count)
        position = run.upperBound
    }

    private static func walking(_ runs: [Range<Int>], _ body: (inout DeltaBuilder, Range<Int>) -> Void) -> Delta {
        var builder = DeltaBuilder()
        var position = 0
        for run in runs {
            builder.keep(run.lowerBound - position)
            body(&builder, run)
            position = run.upperBound
        }
        return builder.finish()
    }
}
