/// The list: a value of items with structural sharing.
///
/// Copying is O(1), every edit is O(log n), and a list of a million items is nothing special. Every edit returns a new
/// value, so whoever has an old value keeps it.
public struct Hand: Sendable {
    package var tree: SummaryTree<PackedItem>
    /// What this list accepts.
    public var rules: Rules

    /// Creates an empty list.
    public init(rules: Rules = Rules()) {
        tree = SummaryTree()
        self.rules = rules
    }

    /// Creates a list of these items, in this order. O(n).
    public init(_ items: some Collection<Item>, rules: Rules = Rules()) {
        tree = SummaryTree(items.map(PackedItem.init))
        self.rules = rules
    }

    /// Creates a list of packed items. O(n).
    package init(packed items: [PackedItem], rules: Rules = Rules()) {
        tree = SummaryTree(items)
        self.rules = rules
    }

    init(tree: SummaryTree<PackedItem>, rules: Rules) {
        self.tree = tree
        self.rules = rules
    }

    /// The fingerprint of all items in order. O(1). Equal lists have equal digests.
    public var digest: UInt64 { tree.summary.digest }
}

// MARK: - Reading

extension Hand: Equatable {
    /// Whether both lists have the same items in the same order; O(1) if they differ, O(n) if not. Ignores the rules.
    public static func == (left: Hand, right: Hand) -> Bool {
        left.tree.summary == right.tree.summary
            && (left.tree.isIdentical(to: right.tree) || left.packedItems.elementsEqual(right.packedItems))
    }
}

extension Hand: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { tree.count }
    public var count: Int { tree.count }

    /// The item at `index`. O(log n).
    public subscript(index: Int) -> Item { tree[index].item }

    public func makeIterator() -> Iterator { Iterator(packed: tree.makeIterator()) }

    /// The items in order, amortized O(1) each.
    public struct Iterator: IteratorProtocol {
        fileprivate var packed: SummaryTree<PackedItem>.Iterator

        public mutating func next() -> Item? { packed.next()?.item }
    }

    /// Returns the items in `range`, in order. O(range + log n).
    public func items(in range: Range<Int>) -> [Item] { tree.elements(in: range).map(\.item) }

    /// Returns the stored items in order, from `start` on. Amortized O(1) each, and nothing is copied.
    package func packedItems(from start: Int) -> some Sequence<PackedItem> {
        tree.elements(in: start..<count)
    }

    /// Calls `body` with the stored items from `start` on, until it returns false. O(log n) for each leaf. From other
    /// modules it is quicker than `packedItems`, whose iterator is generic.
    package func forEachPackedItem(from start: Int, while body: (PackedItem) -> Bool) {
        var position = start
        while position < count {
            let leaf = tree.leaf(containing: position)
            for item in leaf.elements[(position - leaf.start)...] where !body(item) { return }
            position = leaf.start + leaf.elements.count
        }
    }

    /// All stored items in order.
    package var packedItems: some Sequence<PackedItem> { packedItems(from: 0) }

    /// The ids of all items in order.
    public var ids: some Sequence<ItemID> { packedItems.lazy.map(\.id) }

    /// Appends the items of another list. O(log n): the two share structure.
    public mutating func append(_ other: Hand) { tree = tree + other.tree }

    /// Returns the position of the item with that id, or nil if it is not in the list. O(n): ids are not indexed.
    public func index(of id: ItemID) -> Int? {
        var found: Int?
        forEachPosition(of: [id...id]) { position in
            found = position
            return false
        }
        return found
    }
}

// MARK: - Rules

extension Hand {
    /// Returns why `content` may not be inserted now, or nil if it may. O(1).
    public func violation(inserting content: Content) -> Rules.Violation? {
        rules.violation(inserting: content, into: count)
    }
}
