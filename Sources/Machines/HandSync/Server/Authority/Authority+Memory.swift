import HandCore

// How much memory a list takes, which is limited: a list that somebody follows stays in memory.

extension Delta {
    /// Returns how many bytes of memory a list takes more after this delta, given the items that it deletes and
    /// changes. O(inserted + deleted + changed).
    func growthInMemory(deleting deleted: some Sequence<PackedItem>, changing changed: [ChangedItem]) -> Int {
        var growth = changed.reduce(0) { $0 + $1.after.size - $1.item.size }
        forEachInserted { growth += $0.bytesInMemory }
        for item in deleted { growth -= item.bytesInMemory }
        return growth
    }
}

extension Hand {
    /// Roughly how many bytes of memory the items take. O(n).
    var bytesInMemory: Int {
        var bytes = 0
        forEachPackedItem(from: 0) { item in
            bytes += item.bytesInMemory
            return true
        }
        return bytes
    }
}
