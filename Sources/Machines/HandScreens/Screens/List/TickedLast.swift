import HandCore

/// The order of rows in which ticked tasks stand below their siblings, with all sub-items. The list stays as it is.
///
/// A *position* is the number of an item in this order, among those that the filter shows. An item whose box has just
/// changed is *held*: it stays where it is until `settle`.
struct TickedLast: Sendable {
    /// All places, in this order, and those that the filter shows.
    private var all: [Int] = []
    private var places: [Int] = []
    /// The positions by place; -1 for items that the filter does not show.
    private var positions: [Int] = []
    /// Whether the item at a place stands among the ticked ones.
    private var areLast: [Bool] = []
    /// Whether items that are held stand among the ticked ones.
    private var held: [ItemID: Bool] = [:]

    init(_ hand: Hand, _ filter: Filter?) { arrange(hand, filter) }

    var isHolding: Bool { !held.isEmpty }

    func isHeld(_ item: ItemID) -> Bool { held[item] != nil }

    func isLast(_ place: Int) -> Bool { areLast[place] }

    func place(ofPosition position: Int) -> Int? { places.indices.contains(position) ? places[position] : nil }

    /// The position of a place, or of the next one that the filter shows.
    func position(ofPlace place: Int) -> Int {
        positions.dropFirst(place).first { $0 >= 0 } ?? places.count
    }

    /// The position of a new item at a gap: below the nearest item above that it will be a sibling of, unless that one
    /// stands among the ticked.
    func position(ofGap gap: Int, in hand: Hand) -> Int {
        guard var place = (0..<gap).last(where: { positions[$0] >= 0 }) else { return 0 }
        if !areLast[place] { return positions[place] + 1 }
        let level = hand.shownLevel(at: place)
        while place > 0 {
            place -= 1
            let above = hand.shownLevel(at: place)
            if above < level { return positions[place] + 1 }
            if above == level, !areLast[place] { return positions[place] + 1 + hand.subitems(of: place).count }
        }
        return 0
    }

    /// Follows a change of the list that led to `hand`. O(n).
    mutating func follow(_ delta: Delta, to hand: Hand, _ filter: Filter?) {
        for step in delta.placed where step.mark == .edited {
            for (old, new) in zip(step.old, step.new) {
                let (item, wasLast) = (hand.tree[new], areLast[old])
                held[item.id] = (item.isDone == true) == wasLast ? nil : wasLast
            }
        }
        arrange(hand, filter)
    }

    /// Puts the items that are held where they belong.
    mutating func settle(_ hand: Hand, _ filter: Filter?) {
        held = [:]
        arrange(hand, filter)
    }

    /// Shows what another filter shows.
    mutating func show(_ filter: Filter?) {
        places = filter.map { filter in all.filter { filter.row(ofIndex: $0) != nil } } ?? all
        positions = Array(repeating: -1, count: all.count)
        for (position, place) in places.enumerated() { positions[place] = position }
    }

    private mutating func arrange(_ hand: Hand, _ filter: Filter?) {
        areLast = []
        areLast.reserveCapacity(hand.count)
        all = hand.places { item in
            let isLast = held.isEmpty ? item.isDone == true : held[item.id] ?? (item.isDone == true)
            areLast.append(isLast)
            return isLast ? 1 : 0
        }
        show(filter)
    }
}
