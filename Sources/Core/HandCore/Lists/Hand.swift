/// The list: a value of items with structural sharing.
///
/// Copying is O(1), every edit O(log n), and one million items are ordinary. Each way to edit it returns a new value, so
/// whoever holds an old one keeps it.
public struct Hand: Sendable {
    package var tree: SummaryTree<PackedItem>
    /// What this list accepts.
    public var rules: Rules

    /// An empty list.
    public init(rules: Rules = Rules()) {
        tree = SummaryTree()
        self.rules = rules
    }

    /// A list of these items, in this order. O(n).
    public init(_ items: some Collection<Item>, rules: Rules = Rules()) {
        tree = SummaryTree(items.map(PackedItem.init))
        self.rules = rules
    }

    /// A list of items that are packed already. O(n).
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

/// Count and digest of a run of items, and the base to the power of the count, which joining needs.
package struct HandSummary: Summary, Equatable {
    package let count: Int
    let digest: UInt64
    let power: UInt64

    package static let zero = HandSummary(count: 0, digest: 0, power: 1)

    package static func + (left: HandSummary, right: HandSummary) -> HandSummary {
        HandSummary(
            count: left.count + right.count,
            digest: Digest.add(Digest.multiply(left.digest, right.power), right.digest),
            power: Digest.multiply(left.power, right.power))
    }

    /// With L the digest of what stands left of the part, and k the number of items right of it, the part x of the digest
    /// D = (L · Bˣ + x) · Bᵏ + … becomes y, so that D changes by (L · (Bʸ − Bˣ) + y − x) · Bᵏ.
    package func replacing(
        _ old: HandSummary, by new: HandSummary, behind left: ArraySlice<HandSummary>
    ) -> HandSummary {
        var change = Digest.subtract(new.digest, old.digest)
        var behind = count - old.count
        if new.count == old.count {
            for part in left { behind -= part.count }
        } else {
            var front: UInt64 = 0
            for part in left {
                front = Digest.add(Digest.multiply(front, part.power), part.digest)
                behind -= part.count
            }
            change = Digest.add(change, Digest.multiply(front, Digest.subtract(new.power, old.power)))
        }
        return HandSummary(
            count: count - old.count + new.count,
            digest: Digest.add(digest, Digest.multiply(change, Digest.power(behind))),
            power: Digest.power(count - old.count + new.count))
    }
}

// MARK: - Reading

extension Hand: Equatable {
    /// Whether both hold the same items in the same order; O(1) if they differ, O(n) if they do not. Rules do not count.
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

    /// The items at `range`, in order. O(range + log n).
    public func items(in range: Range<Int>) -> [Item] {
        tree.elements(in: range).map(\.item)
    }

    /// The items in order as they are kept, from `start` on. Amortized O(1) each, and nothing is copied.
    package func packedItems(from start: Int) -> some Sequence<PackedItem> {
        tree.elements(in: start..<count)
    }

    /// All items as they are kept.
    package var packedItems: some Sequence<PackedItem> { packedItems(from: 0) }

    /// The ids of all items in order.
    public var ids: some Sequence<ItemID> { packedItems.lazy.map(\.id) }

    /// Adds the items of another list behind those of this one. O(log n): both share what they hold.
    public mutating func append(_ other: Hand) {
        tree = tree + other.tree
    }

    /// Where the item with that id stands; nil if it is not here. O(n): ids are not indexed.
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
    /// Whether `content` may be inserted now; the reason why not, or nil. O(1).
    public func violation(inserting content: Content) -> Rules.Violation? {
        rules.violation(inserting: content, into: count)
    }

    /// Whether one more item of that kind may be inserted now.
    public func canInsert(_ content: Content) -> Bool {
        violation(inserting: content) == nil
    }
}
