extension Hand {
    /// What is wrong with the tree below the list; nil if nothing is. For tests: O(n).
    package func brokenInvariant() -> String? { tree.brokenInvariant(sumsAreEqual: ==) }
}
