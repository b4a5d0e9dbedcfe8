import HandCore

/// The places of the items that others are on. Finding an item is O(n), so its place is found once and then updated
/// with each change.
struct ItemPlaces: Sendable {
    private var places: [ItemID: Int] = [:]

    subscript(item: ItemID) -> Int? { places[item] }

    /// Finds the items that others are on now.
    mutating func find(in data: ListData) {
        let wanted = Set(data.people.values.compactMap(\.focus?.item))
        places = places.filter { wanted.contains($0.key) }
        let unknown = wanted.filter { places[$0] == nil }
        if unknown.isEmpty { return }
        for place in data.hand.positions(of: unknown) { places[data.hand.tree[place].id] = place }
    }

    mutating func follow(_ delta: Delta) { places = places.compactMapValues { delta.map(index: $0) } }
}
