extension Delta {
    /// Creates a delta from `old` to `new`, matching items by their ids: an item in both is kept, edited or moved,
    /// never deleted and inserted (unless its kind differs, which no change can express). It moves as few items as
    /// possible.
    ///
    /// O(n log n) in the items of both lists: a longest increasing subsequence determines which items stay (Schensted
    /// 1961, in the form of Fredman 1975).
    ///
    /// An id that occurs twice, which only a faulty server would send, is matched once; its other occurrences are
    /// deleted and inserted.
    public init(from old: some Collection<Item>, to new: some Collection<Item>) {
        let old = Array(old)
        let new = Array(new)
        var position: [ItemID: Int] = Dictionary(minimumCapacity: old.count)
        for (index, item) in old.enumerated() { position[item.id] = index }
        var isMatched = [Bool](repeating: false, count: old.count)
        // For each new item, the index of the old item that it comes from, or −1.
        let origins = new.map { item -> Int in
            guard let index = position[item.id], !isMatched[index], old[index].content.kind == item.content.kind else {
                return -1
            }
            isMatched[index] = true
            return index
        }
        self = Diff(old: old, new: new, origins: origins).delta()
    }
}

private struct Diff {
    let old: [Item]
    let new: [Item]
    let origins: [Int]

    func delta() -> Delta {
        let stays = Self.longestIncreasing(origins, limit: old.count)
        var isUsed = [Bool](repeating: false, count: old.count)
        for origin in origins where origin >= 0 { isUsed[origin] = true }
        // Slots are numbered by position in the old list.
        var slots = [Int](repeating: -1, count: old.count)
        var next = 0
        for index in old.indices where isUsed[index] && !stays[index] {
            slots[index] = next
            next += 1
        }
        var builder = DeltaBuilder()
        var passed = 0
        func pass(upTo end: Int) {
            while passed < end {
                if slots[passed] >= 0 { builder.pick(1) } else { builder.delete(1) }
                passed += 1
            }
        }
        for (item, origin) in zip(new, origins) {
            if origin < 0 {
                builder.insert(CollectionOfOne(PackedItem(item)), .after)
                continue
            }
            let change = Change(from: old[origin], to: item) ?? Change()
            if stays[origin] {
                pass(upTo: origin)
                builder.edit(change)
                passed += 1
            } else {
                builder.drop(slots[origin], 1, .after, change)
            }
        }
        pass(upTo: old.count)
        return builder.finish()
    }

    /// Marks the values of a longest increasing subsequence of the nonnegative values.
    private static func longestIncreasing(_ values: [Int], limit: Int) -> [Bool] {
        var tails: [Int] = []  // for each length, the position of the smallest last value of an increasing subsequence
        var previous = [Int](repeating: -1, count: values.count)
        for (position, value) in values.enumerated() where value >= 0 {
            let length = tails.partitioningIndex(where: { values[$0] >= value })
            if length > 0 { previous[position] = tails[length - 1] }
            if length == tails.count { tails.append(position) } else { tails[length] = position }
        }
        var marked = [Bool](repeating: false, count: limit)
        var position = tails.last ?? -1
        while position >= 0 {
            marked[values[position]] = true
            position = previous[position]
        }
        return marked
    }
}
