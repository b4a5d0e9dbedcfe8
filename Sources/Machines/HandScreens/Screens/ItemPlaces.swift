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
        data.hand.forEachPosition(of: unknown.map { $0...$0 }) { place in
            places[data.hand.tree[place].id] = place
            return true
        }
    }

    mutating func follow(_ delta: Delta) { places = places.compactMapValues { delta.map(index: $0) } }
}
