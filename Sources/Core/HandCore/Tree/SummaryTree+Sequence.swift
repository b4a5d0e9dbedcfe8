extension SummaryTree: Sequence {
    package var underestimatedCount: Int { count }

    package func makeIterator() -> Iterator { Iterator(tree: self, range: 0..<count) }

    /// Returns the elements in `range`, in order. O(range + log n).
    func elements(in range: Range<Int>) -> IteratorSequence<Iterator> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "range out of bounds")
        return IteratorSequence(Iterator(tree: self, range: range))
    }

    /// Iterates leaf by leaf.
    package struct Iterator: IteratorProtocol {
        private let tree: SummaryTree
        private var position: Int
        private let end: Int
        private var leaf: [Element] = []
        private var offset = 0

        init(tree: SummaryTree, range: Range<Int>) {
            self.tree = tree
            position = range.lowerBound
            end = range.upperBound
        }

        package mutating func next() -> Element? {
            guard position < end else { return nil }
            if offset == leaf.count {
                let found = tree.leaf(containing: position)
                leaf = found.elements
                offset = position - found.start
            }
            defer {
                offset += 1
                position += 1
            }
            return leaf[offset]
        }
    }
}
