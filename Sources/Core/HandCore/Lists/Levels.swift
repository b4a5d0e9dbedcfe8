/// How levels are shown (`Protocol.md`, “Levels”).
package enum Levels {
    /// Returns the level that people see at a place: 0 for the first item, and otherwise the smaller of the item's
    /// level and the shown level of the item above + 1. Looks at 16 items at most, and at 1 if its level is 0.
    package static func shown<Failure: Error>(
        at index: Int, _ level: (Int) throws(Failure) -> UInt8
    ) throws(Failure) -> Int {
        // The shown level rises by at most one from item to item, so only the nearest items can limit it.
        var (least, back) = (index, 0)
        while back < least {
            least = min(least, Int(try level(index - back)) + back)
            back += 1
        }
        return least
    }

    /// Returns the sub-items of an item: those below it, up to the next item whose shown level is not higher. Looks at
    /// these items, the one after them, and those that determine the item's shown level.
    package static func subitems<Failure: Error>(
        of index: Int, in count: Int, _ level: (Int) throws(Failure) -> UInt8
    ) throws(Failure) -> Range<Int> {
        let own = try shown(at: index, level)
        var (end, shown) = (index + 1, own)
        while end < count {
            shown = min(Int(try level(end)), shown + 1)
            if shown <= own { break }
            end += 1
        }
        return index + 1..<end
    }

    /// Returns the sub-items that stay when the items of these runs go, with new levels: siblings stay siblings, and
    /// belong to what is left above them. Looks at the items of the runs, at their sub-items, and at those that
    /// determine their shown levels.
    ///
    /// - Precondition: the runs are sorted, do not overlap, and none is empty.
    private static func lifted<Failure: Error>(
        without runs: [Range<Int>], in count: Int, _ level: (Int) throws(Failure) -> UInt8
    ) throws(Failure) -> [(index: Int, level: UInt8)] {
        var (lifted, next): ([(index: Int, level: UInt8)], Int) = ([], 0)
        while next < runs.count {
            var index = runs[next].lowerBound
            var shown = try Self.shown(at: index, level)
            // What the item belongs to, from the left, and whether that goes.
            var above: [(shown: Int, goes: Bool)] = []
            while true {
                above.removeAll { $0.shown >= shown }
                let goes = next < runs.count && runs[next].lowerBound <= index
                let steps = above.count { $0.goes }
                if !goes, steps == 0 { break }
                if !goes, Int(try level(index)) != shown - steps { lifted.append((index, UInt8(shown - steps))) }
                above.append((shown, goes))
                index += 1
                if next < runs.count, runs[next].upperBound == index { next += 1 }
                if index == count { return lifted }
                shown = min(Int(try level(index)), shown + 1)
            }
        }
        return lifted
    }

    /// Returns the deletion of these runs; their sub-items that stay are lifted.
    package static func deleting<Failure: Error>(
        _ runs: [Range<Int>], in count: Int, _ level: (Int) throws(Failure) -> UInt8
    ) throws(Failure) -> Delta {
        let lifted = try lifted(without: runs, in: count, level)
        return delta(lifted, and: runs.map { ($0.lowerBound, .delete($0.count)) })
    }

    /// Returns the change of levels that lifts the sub-items that stay when the items of these runs go elsewhere.
    package static func lifting<Failure: Error>(
        without runs: [Range<Int>], in count: Int, _ level: (Int) throws(Failure) -> UInt8
    ) throws(Failure) -> Delta {
        delta(try lifted(without: runs, in: count, level))
    }

    private static func delta(
        _ lifted: [(index: Int, level: UInt8)], and more: [(Int, Delta.Component)] = []
    ) -> Delta {
        let edits = lifted.map { ($0.index, Delta.Component.edit(Change(level: $0.level))) }
        return (try? Delta(placing: (more + edits).sorted { $0.0 < $1.0 })) ?? .identity
    }

    /// Returns the change of levels that shows the items of these runs further right, or further left if `steps` is
    /// negative; nil if the first item cannot be shown there. Looks at these items, and those that determine their
    /// shown levels.
    package static func shifting<Failure: Error>(
        _ runs: [Range<Int>], by steps: Int, _ level: (Int) throws(Failure) -> UInt8
    ) throws(Failure) -> Delta? {
        guard let first = runs.first?.lowerBound else { return nil }
        let target = try shown(at: first, level) + steps
        let highest = first == 0 ? 0 : try shown(at: first - 1, level) + 1
        guard (0...highest).contains(target) else { return nil }
        var (components, passed): ([Delta.Component], Int) = ([], 0)
        for run in runs {
            components.append(.keep(run.lowerBound - passed))
            // Sub-items go as far as their item, which may have less room.
            var (root, room) = (Int.max, steps)
            for index in run {
                let shown = try shown(at: index, level)
                if shown <= root { (root, room) = (shown, max(steps, -shown)) }
                let new = UInt8(min(shown + room, Int(Item.maxLevel)))
                components.append(new == (try level(index)) ? .keep(1) : .edit(Change(level: new)))
            }
            passed = run.upperBound
        }
        return try? Delta(components)
    }
}

extension Hand {
    /// Returns the level that people see of an item. O(log n).
    public func shownLevel(at index: Int) -> Int { Levels.shown(at: index) { tree[$0].level } }

    /// Returns the sub-items of an item. O(log n) for each of them.
    public func subitems(of index: Int) -> Range<Int> { Levels.subitems(of: index, in: count) { tree[$0].level } }

    /// Whether an item has sub-items. O(log n).
    package func hasSubitems(at index: Int) -> Bool {
        index + 1 < count && Int(tree[index + 1].level) > shownLevel(at: index)
    }

    /// Returns the nearest item that an item is a sub-item of; nil if there is none. O(log n) for each item between.
    package func superitem(of index: Int) -> Int? {
        let shown = shownLevel(at: index)
        return shown == 0 ? nil : (0..<index).last { shownLevel(at: $0) < shown }
    }

    /// Returns these runs with the sub-items of all their items; runs that touch are joined.
    public func withSubitems(_ runs: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for run in runs {
            var (end, least) = (run.upperBound, Int.max)
            // Only items that are shown further left than all items below them can have sub-items beyond the run.
            for index in run.reversed() where least > 0 {
                let shown = shownLevel(at: index)
                if shown < least { (least, end) = (shown, Swift.max(end, subitems(of: index).upperBound)) }
            }
            if let last = result.last, run.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<Swift.max(last.upperBound, end)
            } else {
                result.append(run.lowerBound..<end)
            }
        }
        return result
    }

    /// Returns the deletion of these runs. Their sub-items that stay become sub-items of what is left above them, and
    /// siblings stay siblings. O(log n) for each item and sub-item.
    ///
    /// - Precondition: the runs are sorted, do not overlap, and none is empty.
    public func deleting(_ runs: [Range<Int>]) -> Delta {
        Levels.deleting(runs, in: count) { tree[$0].level }
    }

    /// Returns the change of levels that shows the items of these runs further right, or further left if `steps` is
    /// negative; nil if the first item cannot be shown there. O(log n) for each item.
    public func shifting(_ runs: [Range<Int>], by steps: Int) -> Delta? {
        Levels.shifting(runs, by: steps) { tree[$0].level }
    }
}
