import HandCore

extension Replica {
    /// Returns which invariant is broken, or nil if none is. For tests: O(n).
    package func brokenInvariant() -> String? {
        if let problem = confirmed.brokenInvariant() ?? view.brokenInvariant() { return problem }
        var list = confirmed
        for delta in pending {
            do { list = try list.applying(delta) } catch { return "a pending edit does not fit: \(error)" }
        }
        if list != view { return "the view is not the confirmed list with the pending edits" }
        // In the view, an item can occur twice for a while: two people restored it, and one of them will be refused.
        if Set(confirmed.ids).count != confirmed.count { return "an item is there twice" }
        if let inFlight, inFlight.sequence != sequence { return "what is in flight has not the last sequence" }
        return nil
    }
}
