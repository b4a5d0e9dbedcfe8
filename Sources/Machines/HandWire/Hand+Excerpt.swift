import HandCore

// Which items a selection means: what a server answers.

extension Hand {
    /// The items that are selected, from a position on, until they take about that many bytes.
    ///
    /// O(log n) for each run of positions, O(n) if ids are given: those are not indexed.
    public func excerpt(
        _ selections: [Excerpt.Selection], from start: Int = 0, about bytes: Int = .max, logID: UInt64 = 0,
        revision: Int
    ) -> Excerpt {
        var excerpt = Excerpt(logID: logID, revision: revision, count: count, rules: rules)
        var runs: [Range<Int>] = []
        var ids: [ClosedRange<ItemID>] = []
        for selection in selections {
            switch selection {
            case .positions(let first, let number): runs.append(first..<first + number)
            case .ids(let range): ids.append(range)
            }
        }
        let end = ids.isEmpty ? count : addPositions(of: ids.joined, from: start, to: &runs)
        var (left, next) = (bytes, start)
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            let range =
                Swift.max(next, run.lowerBound)..<Swift.max(next, run.lowerBound, Swift.min(run.upperBound, end))
            for (position, item) in zip(range, packedItems(from: Swift.min(range.lowerBound, count))) {
                if left <= 0 {
                    excerpt.isCut = true
                    return excerpt
                }
                excerpt.entries.append(Excerpt.Entry(position: position, item: item.item))
                left -= 16 + item.withContentBytes { $0.count }
            }
            next = range.upperBound
        }
        excerpt.isCut = end < count && start < count
        return excerpt
    }

    /// Adds where items of those ids stand. Returns how far it looked: to the end, unless it found more than anybody needs.
    private func addPositions(
        of ids: [ClosedRange<ItemID>], from start: Int, to runs: inout [Range<Int>]
    ) -> Int {
        guard start < count else { return count }
        var found = 0
        for (position, item) in zip(start..., packedItems(from: start)) where ids.contain(item.id) {
            if found == Limits.selections { return position }
            runs.append(position..<position + 1)
            found += 1
        }
        return count
    }
}

extension [ClosedRange<ItemID>] {
    /// In order and without overlaps.
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

    /// Whether one of them contains the id. O(log ranges). They are in order and do not overlap.
    fileprivate func contain(_ id: ItemID) -> Bool {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].contains(id)
    }
}
