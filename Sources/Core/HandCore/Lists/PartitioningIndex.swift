extension RandomAccessCollection where Index == Int {
    /// Returns the first index at which the predicate holds, or `endIndex` if it holds nowhere. If it holds at an
    /// index, it must hold at all later ones. O(log n).
    @inlinable @inline(__always)
    package func partitioningIndex(where predicate: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if try predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
