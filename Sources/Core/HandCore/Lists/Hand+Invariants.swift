extension Hand {
    /// Returns what is wrong with the list's tree, or nil if nothing is. For tests: O(n).
    package func brokenInvariant() -> String? { tree.brokenInvariant(sumsAreEqual: ==) }
}
