extension Array {
    /// Removes all elements and keeps the memory. For few elements, `removeAll(keepingCapacity:)` takes several times
    /// as long.
    @inlinable @inline(__always)
    package mutating func clear() {
        if count > 2 { return removeAll(keepingCapacity: true) }
        while !isEmpty { removeLast() }
    }
}
