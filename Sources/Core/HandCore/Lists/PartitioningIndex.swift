extension RandomAccessCollection where Index == Int {
    /// The first index at which a predicate holds that holds at all those behind it; `endIndex` if it holds nowhere. O(log n).
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
