// Edits of one element, in place if the path to the element is not shared with another copy of the tree.

extension SummaryTree {
    private static func makeUnique(_ node: inout Node) {
        if !isKnownUniquelyReferenced(&node) { node = Node(copying: node) }
    }

    /// Returns a new right sibling if the node had to be split.
    static func insert(_ element: Element, at index: Int, into node: inout Node) -> Node? {
        makeUnique(&node)
        if node.height == 0 {
            // A leaf has no spare capacity until it grows; then it reserves its maximum.
            if node.elements.count == node.elements.capacity { node.elements.reserveCapacity(leafCapacity + 1) }
            node.elements.putIn(element, at: index)
            guard node.isOverfull else {
                node.changed(at: index, from: .zero, to: element.summary)
                return nil
            }
        } else {
            var offset = index
            let slot = node.slot(ofGap: &offset)
            guard let sibling = insert(element, at: offset, into: &node.children[slot]) else {
                node.childChanged(slot)
                return nil
            }
            node.summaries[slot] = node.children[slot].summary
            node.children.insert(sibling, at: slot + 1)
            node.summaries.insert(sibling.summary, at: slot + 1)
        }
        return node.splitIfOverfull()
    }

    static func remove(at index: Int, from node: inout Node) -> Element {
        makeUnique(&node)
        let removed: Element
        if node.height == 0 {
            removed = node.elements.remove(at: index)
            node.changed(at: index, from: removed.summary, to: .zero)
            return removed
        } else {
            var offset = index
            let slot = node.slot(of: &offset)
            removed = remove(at: offset, from: &node.children[slot])
            node.childChanged(slot)
            // Joining children changes no sum.
            if node.children[slot].isSparse { node.fillChild(slot) }
            return removed
        }
    }

    static func replace(at index: Int, in node: inout Node, with element: Element) {
        makeUnique(&node)
        if node.height == 0 {
            let old = node.elements[index].summary
            node.elements[index] = element
            node.changed(at: index, from: old, to: element.summary)
        } else {
            var offset = index
            let slot = node.slot(of: &offset)
            replace(at: offset, in: &node.children[slot], with: element)
            node.childChanged(slot)
        }
    }
}

extension Array {
    /// Inserts an element into an array with spare capacity, in half the time of `insert(_:at:)`.
    fileprivate mutating func putIn(_ element: Element, at index: Int) {
        append(element)
        let behind = count - 1 - index
        withUnsafeMutableBufferPointer { elements in
            guard behind > 0, let place = elements.baseAddress?.advanced(by: index) else { return }
            let element = place.advanced(by: behind).move()
            place.advanced(by: 1).moveInitialize(from: place, count: behind)
            place.initialize(to: element)
        }
    }
}

extension SummaryTree.Node {
    /// Updates the sum of a leaf in which the element at `index` came, went or changed; `.zero` stands for no element.
    fileprivate func changed(at index: Int, from old: SummaryTree.Sum, to new: SummaryTree.Sum) {
        summary = elements.withUnsafeBufferPointer { elements in
            let sums = elements.lazy.map { $0.summary }
            return summary.replacing(old, by: new, before: sums[..<index], behind: sums[(index + new.count)...])
        }
    }

    /// Updates the sums that contain a changed child.
    fileprivate func childChanged(_ slot: Int) {
        let (old, new) = (summaries[slot], children[slot].summary)
        summary = summaries.withUnsafeBufferPointer { sums in
            summary.replacing(old, by: new, before: sums[..<slot], behind: sums[(slot + 1)...])
        }
        summaries[slot] = new
    }

    /// If there is one element or child too many, keeps the left half and returns the right half; updates the summary.
    fileprivate func splitIfOverfull() -> SummaryTree.Node? {
        defer { summarize() }
        guard isOverfull else { return nil }
        let half = size / 2
        let sibling: SummaryTree.Node
        if height == 0 {
            // If elements are appended, the next one goes into the right half: its maximum capacity is reserved.
            var right: [Element] = []
            right.reserveCapacity(SummaryTree.leafCapacity + 1)
            right += elements[half...]
            sibling = SummaryTree.Node(elements: right)
            elements = Array(elements[..<half])
        } else {
            sibling = SummaryTree.Node(children: children[half...], height: height)
            children.removeSubrange(half...)
            summaries.removeSubrange(half...)
        }
        return sibling
    }

    /// Joins a sparse child with a neighbour into one node, or into two of equal size.
    fileprivate func fillChild(_ slot: Int) {
        guard children.count > 1 else { return }
        let left = slot == 0 ? 0 : slot - 1
        let joined = SummaryTree.joinLevel(children[left], children[left + 1])
        children.replaceSubrange(left...(left + 1), with: joined)
        summaries.replaceSubrange(left...(left + 1), with: joined.map(\.summary))
    }
}
