// Building, splitting and joining whole trees: O(log n) for any sizes, with structure shared with the originals.

extension SummaryTree {
    /// Builds a tree bottom-up with evenly filled nodes; each has a quarter of its capacity left for insertions. O(n).
    package init(_ elements: some Collection<Element>) {
        var level: [Node] = Self.evenRuns(of: elements.count, atMost: Self.leafCapacity * 3 / 4).map { run in
            let start = elements.index(elements.startIndex, offsetBy: run.lowerBound)
            let end = elements.index(start, offsetBy: run.count)
            return Node(elements: elements[start..<end])
        }
        while level.count > 1 {
            let height = level[0].height + 1
            level = Self.evenRuns(of: level.count, atMost: Self.fanOut * 3 / 4).map { run in
                Node(children: level[run], height: height)
            }
        }
        self.init(root: level.first ?? Node(elements: []))
    }

    /// Splits 0..<count into as few runs as possible of nearly equal length.
    private static func evenRuns(of count: Int, atMost limit: Int) -> [Range<Int>] {
        let runs = (count + limit - 1) / limit
        return (0..<runs).map { ($0 * count / runs)..<(($0 + 1) * count / runs) }
    }

    static func split(_ node: Node, at index: Int) -> (left: Node, right: Node) {
        if index == 0 { return (Node(elements: []), node) }
        if index == node.summary.count { return (node, Node(elements: [])) }
        if node.height == 0 {
            return (Node(elements: node.elements[..<index]), Node(elements: node.elements[index...]))
        }
        var offset = index
        let slot = node.slot(of: &offset)
        let middle = split(node.children[slot], at: offset)
        return (
            join(over(node.children[..<slot], height: node.height), middle.left),
            join(middle.right, over(node.children[(slot + 1)...], height: node.height))
        )
    }

    /// Returns a node over these children, the child itself if there is only one, or an empty leaf if there are none.
    private static func over(_ children: ArraySlice<Node>, height: Int) -> Node {
        switch children.count {
        case 0: Node(elements: [])
        case 1: children[children.startIndex]
        default: Node(children: children, height: height)
        }
    }

    static func join(_ left: Node, _ right: Node) -> Node {
        if left.size == 0 { return right }
        if right.size == 0 { return left }
        let nodes = joinLevel(left, right)
        return nodes.count == 1 ? nodes[0] : Node(children: nodes, height: nodes[0].height + 1)
    }

    /// Joins two nodes into one or two nodes of the greater height.
    static func joinLevel(_ left: Node, _ right: Node) -> [Node] {
        if left.height == right.height { return joinEqual(left, right) }
        var children: [Node]
        if left.height > right.height {
            children = left.children
            let last = children.removeLast()
            children += joinLevel(last, right)
        } else {
            children = right.children
            let first = children.removeFirst()
            children = joinLevel(left, first) + children
        }
        return spread(children, height: Swift.max(left.height, right.height))
    }

    private static func joinEqual(_ left: Node, _ right: Node) -> [Node] {
        if !left.isSparse && !right.isSparse { return [left, right] }
        guard left.height == 0 else { return spread(left.children + right.children, height: left.height) }
        let elements = left.elements + right.elements
        if elements.count <= leafCapacity { return [Node(elements: elements)] }
        let half = elements.count / 2
        return [Node(elements: elements[..<half]), Node(elements: elements[half...])]
    }

    /// Returns one node over the children, or two if they do not fit into one.
    private static func spread(_ children: [Node], height: Int) -> [Node] {
        if children.count <= fanOut { return [Node(children: children, height: height)] }
        let half = children.count / 2
        return [
            Node(children: children[..<half], height: height),
            Node(children: children[half...], height: height),
        ]
    }
}
