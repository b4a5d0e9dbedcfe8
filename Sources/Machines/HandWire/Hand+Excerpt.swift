import HandCore

// The items of a selection, as a server returns them.

extension Hand {
    /// Returns the selected items from position `start` on, about `bytes` bytes of them.
    ///
    /// O(log n) for each run of positions; O(n) if ids are given, as ids are not indexed.
    package func excerpt(
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
        let end = ids.isEmpty ? count : addPositions(of: ids, from: start, to: &runs)
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
                left -= 16 + item.contentCount
            }
            next = range.upperBound
        }
        excerpt.isCut = end < count && start < count
        return excerpt
    }

    /// Adds the positions of items with those ids. Returns the end of the search: the end of the list, unless more
    /// items were found than a request can ask for.
    private func addPositions(of ids: [ClosedRange<ItemID>], from start: Int, to runs: inout [Range<Int>]) -> Int {
        var (found, end) = (0, count)
        forEachPosition(of: ids, from: start) { position in
            if found == Limits.selections {
                end = position
                return false
            }
            runs.append(position..<position + 1)
            found += 1
            return true
        }
        return end
    }
}
