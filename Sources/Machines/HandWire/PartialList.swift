import HandCore

/// What a client knows of a list at a revision: some of its items, or all. Enough to make an edit of these items.
public struct PartialList: Equatable, Sendable {
    public let logID: UInt64
    public private(set) var revision: Int
    /// The known items at their positions. The same empty note stands at all other positions.
    private var hand: Hand
    /// The positions of the known items; nil if all items are known.
    private var known: Set<Int>?
    /// The same in the order of the items' ids, until a commit is followed.
    private var byID: [Int]?

    /// The error if an item is needed that is not known.
    public struct Unknown: Error, Equatable, Sendable {
        public let position: Int
    }

    public static func == (one: Self, other: Self) -> Bool {
        (one.logID, one.revision, one.hand, one.known) == (other.logID, other.revision, other.hand, other.known)
    }

    /// O(entries · log n).
    public init(_ excerpt: Excerpt) {
        (logID, revision) = (excerpt.logID, excerpt.revision)
        hand = Hand(rules: excerpt.rules)
        for entry in excerpt.entries {
            hand.append(Self.unknown(entry.position - hand.count))
            hand.append(Hand([entry.item]))
        }
        hand.append(Self.unknown(excerpt.count - hand.count))
        if excerpt.entries.count == excerpt.count { return }
        known = Set(excerpt.entries.map(\.position))
        byID = excerpt.entries.sorted { $0.item.id < $1.item.id }.map(\.position)
    }

    /// A list of which all items are known.
    public init(_ hand: Hand, logID: UInt64 = 0, revision: Int = 0) {
        (self.hand, self.logID, self.revision) = (hand, logID, revision)
    }

    /// Returns as many items that are not known. O(log² n): the halves share all nodes.
    private static func unknown(_ count: Int) -> Hand {
        let item = Hand([Item(id: ItemID(rawValue: 0), content: .note(""))])
        if count <= 1 { return count == 1 ? item : Hand() }
        var half = unknown(count / 2)
        half.append(half)
        if count % 2 == 1 { half.append(item) }
        return half
    }

    /// The number of items of the whole list.
    public var count: Int { hand.count }
    public var rules: Rules { hand.rules }

    public func isKnown(_ position: Int) -> Bool {
        (0..<count).contains(position) && known?.contains(position) ?? true
    }

    public func item(at position: Int) throws(Unknown) -> Item {
        guard isKnown(position) else { throw Unknown(position: position) }
        return hand[position]
    }

    /// The level that an item is stored with.
    private func level(at position: Int) throws(Unknown) -> UInt8 { try item(at: position).level }

    /// Returns the level that people see of an item.
    ///
    /// - Throws: if an item that determines it is not known.
    public func shownLevel(at position: Int) throws(Unknown) -> Int {
        try Levels.shown(at: position, level(at:))
    }

    /// Returns the sub-items of an item.
    ///
    /// - Throws: if an item that determines them is not known.
    public func subitems(of position: Int) throws(Unknown) -> Range<Int> {
        try Levels.subitems(of: position, in: count, level(at:))
    }

    /// Returns the deletion of these items. Their sub-items that stay are lifted (`Hand.deleting`).
    ///
    /// - Throws: if one of the items or of their sub-items is not known.
    package func deleting(_ positions: [Int]) throws(Unknown) -> Delta {
        try Levels.deleting(positions.map { $0..<$0 + 1 }, in: count, level(at:))
    }

    /// Returns the change of levels that lifts the sub-items that stay when the items of these runs go elsewhere, and
    /// the list after it.
    ///
    /// - Throws: if one of the items or of their sub-items is not known.
    package func lifting(without runs: [Range<Int>]) throws(Unknown) -> (Delta, PartialList) {
        let delta = try Levels.lifting(without: runs, in: count, level(at:))
        var lifted = self
        if let hand = try? hand.applying(delta) { lifted.hand = hand }
        return (delta, lifted)
    }

    /// Returns the change that shows an item at a level, with its sub-items as far below as before; nil if the item
    /// above does not allow that.
    ///
    /// - Throws: if an item that determines the levels is not known.
    package func showing(_ position: Int, atLevel level: Int) throws(Unknown) -> Delta? {
        let branch = position..<(try subitems(of: position).upperBound)
        let steps = level - (try shownLevel(at: position))
        return try Levels.shifting([branch], by: steps, self.level(at:))
    }

    /// Returns the list.
    ///
    /// - Throws: if not all items are known.
    package func whole() throws(Unknown) -> Hand {
        if let known { throw Unknown(position: (0..<count).first { !known.contains($0) } ?? 0) }
        return hand
    }

    /// The known items with their positions, in order.
    package var entries: [Excerpt.Entry] {
        (known?.sorted() ?? Array(0..<count)).map { Excerpt.Entry(position: $0, item: hand[$0]) }
    }

    /// Returns the positions of the known items with such ids, in order. O(log n) for an excerpt, otherwise O(n).
    package func positions(of ids: ClosedRange<ItemID>) -> [Int] {
        if let byID {
            let first = byID.partitioningIndex { hand[$0].id >= ids.lowerBound }
            return byID[first...].prefix { hand[$0].id <= ids.upperBound }.sorted()
        }
        if let known { return known.filter { ids.contains(hand[$0].id) }.sorted() }
        var found: [Int] = []
        hand.forEachPosition(of: [ids]) { position in
            found.append(position)
            return true
        }
        return found
    }

    /// Returns the list for code that needs a whole list, but only looks at items that the delta touches.
    ///
    /// - Throws: if the delta touches an item that is not known.
    package func hand(for delta: Delta) throws(Unknown) -> Hand {
        if known != nil {
            for position in delta.touched.joined() where !isKnown(position) { throw Unknown(position: position) }
        }
        return hand
    }

    /// Returns the items that the delta touches.
    package func excerpt(for delta: Delta) -> Excerpt {
        let touched = delta.touched.joined().filter(isKnown)
        return Excerpt(
            logID: logID, revision: revision, count: count, rules: rules,
            entries: touched.map { Excerpt.Entry(position: $0, item: hand[$0]) })
    }

    /// Returns the list after some commits that follow it.
    package func following(_ commits: [Commit]) throws(Delta.Misfit) -> Self {
        var list = self
        for commit in commits { try list.follow(commit.delta) }
        return list
    }

    /// Takes the next commit of the list into account, and returns the part of its delta that is about known items,
    /// with the list before it: what the commit does to the contents of other items stays unknown.
    @discardableResult
    package mutating func follow(_ delta: Delta) throws(Delta.Misfit) -> (delta: Delta, on: Hand) {
        let (before, isKnown) = (hand, isKnown)
        let delta = known == nil ? delta : delta.changing(only: { index, _ in isKnown(index) })
        try hand.apply(delta)
        revision += 1
        let inserted = delta.placed.filter { $0.mark == .inserted }.map(\.new).joined()
        known = known.map { Set(delta.map(indices: $0).map(\.new)).union(inserted) }
        byID = nil
        return (delta, before)
    }
}
