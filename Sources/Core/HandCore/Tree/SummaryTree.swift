/// What a tree knows about a run of elements without reading them. Summaries of neighbours can be added.
package protocol Summary: Sendable {
    static var zero: Self { get }
    /// The number of elements summarized.
    var count: Int { get }
    static func + (left: Self, right: Self) -> Self

    /// Returns the sum of a run in which the part `old` became `new`, which has at most one element more or less.
    ///
    /// - Parameters:
    ///   - before: the parts before `old`.
    ///   - behind: the parts behind `old`. Only the shorter of the two collections is read.
    func replacing(
        _ old: Self, by new: Self, before: some RandomAccessCollection<Self>, behind: some RandomAccessCollection<Self>
    ) -> Self
}

package protocol Summarized: Sendable {
    associatedtype Sum: Summary
    var summary: Sum { get }
    /// Returns the summary of at most one leaf.
    static func summary(of elements: [Self]) -> Sum
}

extension Summarized {
    package static func summary(of elements: [Self]) -> Sum { elements.reduce(.zero) { $0 + $1.summary } }
}

/// A copy-on-write sequence as an order-statistic B+tree: elements in the leaves, a summary at each node.
///
/// Copying is O(1); access and edits by position are O(log n); splitting and joining are O(log n) and share structure.
/// `Hand` stores its items in such a tree, and `Composer` its pieces.
package struct SummaryTree<Element: Summarized>: Sendable {
    package typealias Sum = Element.Sum

    /// The maximum numbers of elements in a leaf and of children of an inner node; all nodes but the root are at least
    /// a third full.
    package static var leafCapacity: Int { 64 }
    package static var fanOut: Int { 32 }

    private var root: Node

    package init() { root = Node(elements: []) }

    init(root: Node) { self.root = root }

    package var summary: Sum { root.summary }

    /// Whether both trees are the same object in memory, so that nothing has to be compared.
    package func isIdentical(to other: Self) -> Bool { root === other.root }
    package var count: Int { root.summary.count }

    /// A leaf or an inner node; a leaf has `height` 0.
    ///
    /// `@unchecked Sendable` is safe: a node is changed only while `isKnownUniquelyReferenced` says that one value owns
    /// the node.
    package final class Node: @unchecked Sendable {
        // The runtime need not check that accesses to these properties do not overlap: a node is reached only through
        // the tree that owns it. The tree is a value, so the compiler checks the accesses to it. The runtime's checks
        // took a quarter of the time of an edit.
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

// MARK: - Changing

extension SummaryTree {
    /// Inserts `element` before the element at `index`.
    ///
    /// - Precondition: `0 ≤ index ≤ count`.
    package mutating func insert(_ element: Element, at index: Int) {
        precondition(index >= 0 && index <= count, "index out of range")
        if let sibling = Self.insert(element, at: index, into: &root) {
            root = Node(children: [root, sibling], height: root.height + 1)
        }
    }

    @discardableResult
    package mutating func remove(at index: Int) -> Element {
        precondition(index >= 0 && index < count, "index out of range")
        let removed = Self.remove(at: index, from: &root)
        while root.height > 0, root.children.count == 1 { root = root.children[0] }
        return removed
    }

    package mutating func replace(at index: Int, with element: Element) {
        precondition(index >= 0 && index < count, "index out of range")
        Self.replace(at: index, in: &root, with: element)
    }

    /// Replaces the elements in `range` one by one; meant for small ranges.
    mutating func replace(_ range: Range<Int>, with elements: [Element]) {
        let common = Swift.min(range.count, elements.count)
        for offset in 0..<common { replace(at: range.lowerBound + offset, with: elements[offset]) }
        for offset in common..<elements.count { insert(elements[offset], at: range.lowerBound + offset) }
        for _ in common..<range.count { remove(at: range.lowerBound + common) }
    }

    /// Splits the elements into those before `index`, and the rest.
    package func split(at index: Int) -> (SummaryTree, SummaryTree) {
        precondition(index >= 0 && index <= count, "index out of range")
        let parts = Self.split(root, at: index)
        return (SummaryTree(root: parts.left), SummaryTree(root: parts.right))
    }

    /// Returns the elements in `range`, as a tree.
    package func slice(_ range: Range<Int>) -> SummaryTree {
        split(at: range.upperBound).0.split(at: range.lowerBound).1
    }

    package static func + (left: SummaryTree, right: SummaryTree) -> SummaryTree {
        SummaryTree(root: join(left.root, right.root))
    }

    mutating func replaceSubrange(_ range: Range<Int>, with tree: SummaryTree) {
        let (head, rest) = split(at: range.lowerBound)
        let (_, tail) = rest.split(at: range.count)
        self = head + tree + tail
    }
}

// MARK: - Invariants

extension SummaryTree {
    /// Returns what is wrong with the tree, or nil if nothing is. For tests: O(n).
    package func brokenInvariant(sumsAreEqual: (Sum, Sum) -> Bool) -> String? {
        root.brokenInvariant(isRoot: true, sumsAreEqual)
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
    /// before that element, or nil if the total of the whole tree does not exceed `offset`. O(log n).
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
