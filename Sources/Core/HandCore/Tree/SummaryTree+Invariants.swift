extension SummaryTree.Node {
    /// Returns what is wrong with this node or the nodes below it, or nil if nothing is. O(n).
    func brokenInvariant(isRoot: Bool, _ sumsAreEqual: (SummaryTree.Sum, SummaryTree.Sum) -> Bool) -> String? {
        if isOverfull { return "a node holds \(size), more than \(capacity)" }
        if !isRoot && isSparse { return "a node below the root holds only \(size)" }
        if height > 0 && size < 2 { return "an inner node has \(size) children" }
        if summaries.count != children.count { return "a node's summaries are not its children's" }
        let fresh = SummaryTree.Node(copying: self)
        fresh.summarize()
        if !sumsAreEqual(fresh.summary, summary) { return "a summary is not the sum of its parts" }
        for (child, summary) in zip(children, summaries) {
            if child.height != height - 1 { return "leaves lie at different depths" }
            if !sumsAreEqual(child.summary, summary) { return "a parent's copy of a summary is old" }
            if let problem = child.brokenInvariant(isRoot: false, sumsAreEqual) { return problem }
        }
        return nil
    }
}
