/// What a tree knows about a run of elements without reading them. Summaries of neighbours can be added.
package protocol Summary: Sendable {
    static var zero: Self { get }
    /// The number of elements summarized.
    var count: Int { get }
    static func + (left: Self, right: Self) -> Self

    /// The sum of a run in which a part changed. O(`left`).
    ///
    /// - Parameters:
    ///   - old: the part before the change, behind the parts `left`.
    ///   - new: the part now.
    func replacing(_ old: Self, by new: Self, behind left: Slice<UnsafeBufferPointer<Self>>) -> Self
}

/// An element of a `SummaryTree`.
package protocol Summarized: Sendable {
    associatedtype Sum: Summary
    var summary: Sum { get }
    static func summary(of elements: [Self]) -> Sum

    /// Returns the summary of `elements` (at most one leaf), given `sum`, their summary before the one at `index` was
    /// inserted. It may be computed without reading all of them.
    static func summary(_ sum: Sum, afterInsertingAt index: Int, of elements: [Self]) -> Sum
    /// Returns the same after `removed` was removed at `index`.
    static func summary(_ sum: Sum, afterRemoving removed: Self, at index: Int, of elements: [Self]) -> Sum
    /// Returns the same after the element at `index` replaced `old`.
    static func summary(_ sum: Sum, afterReplacing old: Self, at index: Int, of elements: [Self]) -> Sum
}

/// A copy-on-write sequence as an order-statistic B+tree: elements in the leaves, a summary at each node.
///
/// Copying is O(1); access and edits by position are O(log n); splitting and joining are O(log n) and share structure.
/// `Hand` stores its items in one, `Composer` its pieces.
package struct SummaryTree<Element: Summarized>: Sendable {
    package typealias Sum = Element.Sum

    /// The maximum numbers of elements in a leaf and of children of an inner node; all nodes but the root are at least
    /// a third full.
    package static var leafCapacity: Int { 64 }
    package static var fanOut: Int { 32 }

    /// Only for this type, whose operations are in several files.
    var root: Node

    package init() {
        root = Node(elements: [])
    }

    package init(root: Node) {
        self.root = root
    }

    package var summary: Sum { root.summary }

    /// Whether both are the same object in memory, so that nothing has to be compared.
    package func isIdentical(to other: Self) -> Bool { root === other.root }
    package var count: Int { root.summary.count }

    /// A leaf or an inner node; a leaf has `height` 0.
    ///
    /// `@unchecked Sendable` is safe: a node is changed only while `isKnownUniquelyReferenced` says that one value owns it.
    package final class Node: @unchecked Sendable {
        // The runtime need not check that accesses to these do not overlap: a node is reached only through the tree
        // that owns it, and that is a value, whose accesses the compiler checks. The checks took a quarter of the time
        // of an edit.
        @exclusivity(unchecked) var summary: Sum
        let height: Int
        @exclusivity(unchecked) var elements: [Element]
        @exclusivity(unchecked) var children: [Node]
        /// The children's summaries, stored next to the references: a search or a sum reads only these and touches no
        /// child.
        @exclusivity(unchecked) var summaries: [Sum]

        init(elements: some Collection<Element>) {
            self.elements = Array(elements)
            children = []
            summaries = []
            height = 0
            summary = Element.summary(of: self.elements)
        }

        init(children: some Collection<Node>, height: Int) {
            self.children = Array(children)
            self.height = height
            elements = []
            summaries = children.map(\.summary)
            summary = .zero
            summarize()
        }

        init(copying node: Node) {
            summary = node.summary
            height = node.height
            elements = node.elements
            children = node.children
            summaries = node.summaries
        }

        var size: Int { height == 0 ? elements.count : children.count }
        var capacity: Int { height == 0 ? leafCapacity : fanOut }
        var isOverfull: Bool { size > capacity }
        var isSparse: Bool { size < capacity / 3 }

        func summarize() {
            summary = height == 0 ? Element.summary(of: elements) : summaries.reduce(.zero, +)
        }
    }
}

// MARK: - Reading

extension SummaryTree {
    /// - Precondition: `0 ≤ index < count`.
    package subscript(index: Int) -> Element {
        let (node, offset) = leafNode(containing: index)
        return node.elements[offset]
    }

    /// Returns the elements of the leaf that contains `index`, and the position of the first of them. O(log n).
    func leaf(containing index: Int) -> (elements: [Element], start: Int) {
        let (node, offset) = leafNode(containing: index)
        return (node.elements, index - offset)
    }

    @inline(__always)
    private func leafNode(containing index: Int) -> (node: Node, offset: Int) {
        precondition(index >= 0 && index < count, "index out of range")
        var offset = index
        var node = root
        while node.height > 0 {
            let slot = node.slot(of: &offset)
            node = node.children[slot]
        }
        return (node, offset)
    }

    /// Returns the sum of the summaries of the elements before `index`. O(log n).
    func sum(before index: Int) -> Sum {
        var sum = Sum.zero
        var offset = index
        var node = root
        while node.height > 0 {
            let slot = node.slot(ofGap: &offset)
            for summary in node.summaries[..<slot] { sum = sum + summary }
            node = node.children[slot]
        }
        for element in node.elements[..<offset] { sum = sum + element.summary }
        return sum
    }

    /// Returns the position of the first element at which the running total of `metric` exceeds `offset`, and the total
    /// before it, or nil if the whole tree does not exceed it. O(log n).
    @inline(__always)
    func first(exceeding offset: Int, by metric: (Sum) -> Int) -> (index: Int, before: Int)? {
        guard offset < metric(root.summary) else { return nil }
        var index = 0
        var before = 0
        var node = root
        while node.height > 0 {
            var slot = 0
            while before + metric(node.summaries[slot]) <= offset {
                before += metric(node.summaries[slot])
                index += node.summaries[slot].count
                slot += 1
            }
            node = node.children[slot]
        }
        for element in node.elements {
            let next = before + metric(element.summary)
            if next > offset { break }
            before = next
            index += 1
        }
        return (index, before)
    }
}

extension SummaryTree.Node {
    /// Returns the child that contains the element at `offset`, and sets `offset` to the position within that child.
    @inline(__always)
    func slot(of offset: inout Int) -> Int {
        var slot = 0
        while offset >= summaries[slot].count {
            offset -= summaries[slot].count
            slot += 1
        }
        return slot
    }

    /// Like `slot(of:)`, for a gap: the end of a child counts as within it.
    @inline(__always)
    func slot(ofGap offset: inout Int) -> Int {
        var slot = 0
        while offset > summaries[slot].count {
            offset -= summaries[slot].count
            slot += 1
        }
        return slot
    }
}

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
