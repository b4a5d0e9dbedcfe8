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
        self = Rearrangement(count: old.count, origins: origins).delta(
            inserting: { PackedItem(new[$0]) },
            changing: { Change(from: old[origins[$0]], to: new[$0]) ?? Change() })
    }
}

/// How a new list comes from an old one.
struct Rearrangement {
    /// The number of old items.
    let count: Int
    /// For each new item, the index of the old item that it comes from, or −1.
    let origins: [Int]

    /// Returns the edit that moves as few items as possible.
    ///
    /// - Parameters:
    ///   - start: the place of the first of these items in the list.
    ///   - inserted: returns a new item that comes from no old item, by its index.
    ///   - change: returns the change of a new item that comes from an old one, by its index.
    func delta(at start: Int = 0, inserting inserted: (Int) -> PackedItem, changing change: (Int) -> Change) -> Delta {
        let stays = Self.longestIncreasing(origins, limit: count)
        var isUsed = [Bool](repeating: false, count: count)
        for origin in origins where origin >= 0 { isUsed[origin] = true }
        // Slots are numbered by position in the old list.
        var slots = [Int](repeating: -1, count: count)
        var next = 0
        for index in 0..<count where isUsed[index] && !stays[index] {
            slots[index] = next
            next += 1
        }
        var builder = DeltaBuilder()
        builder.keep(start)
        var passed = 0
        func pass(upTo end: Int) {
            while passed < end {
                if slots[passed] >= 0 { builder.pick(1) } else { builder.delete(1) }
                passed += 1
            }
        }
        for (index, origin) in origins.enumerated() {
            if origin < 0 {
                builder.insert(CollectionOfOne(inserted(index)), .after)
            } else if stays[origin] {
                pass(upTo: origin)
                builder.edit(change(index))
                passed += 1
            } else {
                builder.drop(slots[origin], 1, .after, change(index))
            }
        }
        pass(upTo: count)
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
