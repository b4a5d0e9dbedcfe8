/// Notices when so much memory has become free that the system should have it back. The heap would keep it: the hellos
/// of 10,000 connections that come at once leave 100 to 300 bytes each.
///
/// Giving memory back takes up to 60 ms if the heap has a million gaps.
package struct MemoryWatch {
    /// The number of connections at the last look.
    private var lastConnections = 0
    /// The figures when memory was last given back.
    private var connections = 0
    private var removedItems = 0

    package init() {}

    /// Returns whether, since this was last true, 1,000 connections have come or gone, or lists of 10,000 items have
    /// been removed from memory. While many come or go, the answer waits.
    ///
    /// - Parameter removedItems: the items of all lists that were removed so far.
    package mutating func isReleaseDue(connections: Int, removedItems: Int) -> Bool {
        defer { lastConnections = connections }
        guard abs(connections - lastConnections) < 100,
            abs(connections - self.connections) >= 1_000 || removedItems - self.removedItems >= 10_000
        else { return false }
        (self.connections, self.removedItems) = (connections, removedItems)
        return true
    }
}
