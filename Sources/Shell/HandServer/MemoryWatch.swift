/// Notices when so much memory has become free that the system should have it back. The heap would keep it: in 10,000
/// connections that came at once, their hellos have left 350 bytes each beside the 870 that they need.
///
/// Giving memory back takes up to 60 ms if the heap has a million gaps.
package struct MemoryWatch {
    private var connections = 0
    private var removedItems = 0

    package init() {}

    /// Returns whether, since this was last true, 1,000 connections have come or gone, or lists of 10,000 items have
    /// been removed from memory.
    ///
    /// - Parameter removedItems: the items of all lists that were removed so far.
    package mutating func isReleaseDue(connections: Int, removedItems: Int) -> Bool {
        guard abs(connections - self.connections) >= 1_000 || removedItems - self.removedItems >= 10_000 else {
            return false
        }
        (self.connections, self.removedItems) = (connections, removedItems)
        return true
    }
}
