/// The order of siblings: items that are sub-items of the same item, or of none. Each takes its sub-items along.
package struct Siblings<Key: Comparable> {
    /// The shown levels of some items that follow each other.
    let levels: [Int]
    /// Whether the item is a heading. Headings keep their places: only the items between two headings are sorted.
    let areHeadings: [Bool]
    let keys: [Key]
    var isReversed = false

    /// Returns the indices of all items in the order of their keys. Siblings with equal keys keep their order.
    /// O(n log n) for n siblings.
    package func sorted() -> [Int] {
        var order: [Int] = []
        order.reserveCapacity(keys.count)
        sort(0..<keys.count, into: &order)
        return order
    }

    private func sort(_ items: Range<Int>, into order: inout [Int]) {
        var branches: [Range<Int>] = []
        var start = items.lowerBound
        func finish() {
            if isReversed {
                branches.sort { keys[$0.lowerBound] > keys[$1.lowerBound] }
            } else {
                branches.sort { keys[$0.lowerBound] < keys[$1.lowerBound] }
            }
            for branch in branches {
                order.append(branch.lowerBound)
                if branch.count > 1 { sort(branch.lowerBound + 1..<branch.upperBound, into: &order) }
            }
            branches.removeAll(keepingCapacity: true)
        }
        while start < items.upperBound {
            var end = start + 1
            while end < items.upperBound, levels[end] > levels[start] { end += 1 }
            let isSibling = branches.last.map { levels[$0.lowerBound] == levels[start] } ?? true
            if areHeadings[start] || !isSibling { finish() }
            branches.append(start..<end)
            if areHeadings[start] { finish() }
            start = end
        }
        finish()
    }
}

extension Hand {
    /// Returns the places of all items in another order: siblings by their keys, each with its sub-items. Equal keys
    /// keep their order, and headings their places. The list stays as it is. O(n log n).
    package func places<Key: Comparable>(inOrderOf key: (PackedItem) -> Key) -> [Int] {
        var (levels, areHeadings, keys): ([Int], [Bool], [Key]) = ([], [], [])
        forEachPackedItem(from: 0) { item in
            levels.append(Swift.min(Int(item.level), (levels.last ?? -1) + 1))
            areHeadings.append(item.kind == .heading)
            keys.append(key(item))
            return true
        }
        return Siblings(levels: levels, areHeadings: areHeadings, keys: keys).sorted()
    }

    /// Returns the edit that puts siblings among these items in the order of their keys, each with its sub-items; equal
    /// keys keep their order. Headings stay where they are: only the items between two headings are sorted. The edit
    /// moves as few items as possible, and shows no item at another level. O(n log n) for n items.
    ///
    /// - Parameters:
    ///   - items: items with all their sub-items; nil for the whole list.
    ///   - key: called once for each item.
    package func sorting<Key: Comparable>(
        _ items: Range<Int>? = nil, isReversed: Bool = false, by key: (Item) -> Key
    ) -> Delta {
        let items = items ?? 0..<count
        if items.isEmpty { return .identity }
        var (levels, own): ([Int], [Int]) = ([], [])
        var (areHeadings, keys): ([Bool], [Key]) = ([], [])
        let highest = items.lowerBound == 0 ? 0 : shownLevel(at: items.lowerBound - 1) + 1
        for item in self.items(in: items) {
            own.append(Int(item.level))
            levels.append(Swift.min(Int(item.level), levels.last.map { $0 + 1 } ?? highest))
            areHeadings.append(item.content.kind == .heading)
            keys.append(key(item))
        }
        var order = Siblings(levels: levels, areHeadings: areHeadings, keys: keys, isReversed: isReversed).sorted()
        // The item below these items may be shown at another level, too.
        if items.upperBound < count {
            order.append(order.count)
            own.append(Int(tree[items.upperBound].level))
            levels.append(shownLevel(at: items.upperBound))
        }
        func change(_ index: Int) -> Change {
            let above = index == 0 ? highest : levels[order[index - 1]] + 1
            let level = levels[order[index]]
            return Swift.min(own[order[index]], above) == level ? Change() : Change(level: UInt8(level))
        }
        return Rearrangement(count: order.count, origins: order).delta(
            at: items.lowerBound, inserting: { tree[items.lowerBound + order[$0]] }, changing: change)
    }
}
