extension Hand {
    /// Calls `body` with the position of each item whose id is in one of the ranges, in order, until it returns false.
    ///
    /// O(n log ranges), a few nanoseconds per item: ids are not indexed, and only the ids are read.
    package func forEachPosition(of ids: [ClosedRange<ItemID>], from start: Int = 0, _ body: (Int) -> Bool) {
        let wanted = ids.joined
        var position = start
        while position < count {
            let leaf = tree.leaf(containing: position)
            let shouldContinue = leaf.elements.withUnsafeBufferPointer { items in
                for offset in (position - leaf.start)..<items.count where wanted.contain(items[offset].id) {
                    if !body(leaf.start + offset) { return false }
                }
                return true
            }
            if !shouldContinue { return }
            position = leaf.start + leaf.elements.count
        }
    }

    /// The positions of those of some items that are in the list, in order. O(n log items)
    package func positions(of items: some Sequence<ItemID>) -> [Int] {
        var positions: [Int] = []
        forEachPosition(of: items.map { $0...$0 }) { position in
            positions.append(position)
            return true
        }
        return positions
    }
}

extension [ClosedRange<ItemID>] {
    /// The ranges in order and without overlaps.
    fileprivate var joined: [ClosedRange<ItemID>] {
        var all: [ClosedRange<ItemID>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = all.last, range.lowerBound <= last.upperBound {
                all[all.count - 1] = last.lowerBound...Swift.max(last.upperBound, range.upperBound)
            } else {
                all.append(range)
            }
        }
        return all
    }

    /// Whether one of the ranges, which are in order and do not overlap, contains the id. O(log ranges).
    fileprivate func contain(_ id: ItemID) -> Bool {
        let index = partitioningIndex { $0.upperBound >= id }
        return index < count && self[index].lowerBound <= id
    }
}
