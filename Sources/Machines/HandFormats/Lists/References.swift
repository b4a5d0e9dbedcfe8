import HandCore
import HandWire

/// Edits of several items, named in any order.
package enum References {
    /// Returns a delta with the same component for each of the items.
    package static func components(
        _ references: [ItemReference], in list: PartialList, _ component: () -> Delta.Component
    ) throws -> Delta {
        let positions = try Set(references.map { try $0.position(in: list) }).sorted()
        var components: [Delta.Component] = []
        var next = 0
        for position in positions {
            components += [.keep(position - next), component()]
            next = position + 1
        }
        return try Delta(components)
    }

    /// Returns a delta with the same component for each ticked task.
    package static func components(ticked list: Hand, _ component: () -> Delta.Component) throws -> Delta {
        var components: [Delta.Component] = []
        for item in list { components.append(item.content.isTicked ? component() : .keep(1)) }
        return try Delta(components)
    }

    /// Returns a delta that moves branches to one place, in that order. The first item of each gets the place's level;
    /// sub-items that stay become sub-items of what is left above them.
    ///
    /// - Throws: `PartialList.Unknown` if an item that determines the levels is not known.
    package static func move(_ branches: [Range<Int>], to place: Place, in list: PartialList) throws -> Delta {
        let moved = Set(branches.joined()).sorted().map { $0..<$0 + 1 }
        let (lifting, list) = try list.lifting(without: moved)
        let (gap, side, level) = try place.spot(in: list)
        var (positions, changes): ([Int], [Int: Change]) = ([], [:])
        for branch in branches {
            let steps = level - (try list.shownLevel(at: branch.lowerBound))
            for position in branch where changes[position] == nil {
                let new = UInt8(min(max(0, try list.shownLevel(at: position) + steps), Int(Item.maxLevel)))
                changes[position] = new == (try list.item(at: position).level) ? Change() : Change(level: new)
                positions.append(position)
            }
        }
        let sorted = positions.sorted()
        let slots = Dictionary(uniqueKeysWithValues: zip(sorted, sorted.indices))
        // Slots are numbered by position, and dropped in the order named.
        let drops = positions.map { position in
            let slot = slots[position] ?? 0
            return Delta.Component.drop(slot..<slot + 1, side, changes[position].flatMap { $0.isEmpty ? nil : $0 })
        }
        var components: [Delta.Component] = []
        var next = 0
        func keep(upTo position: Int) {
            components.append(.keep(position - next))
            next = position
        }
        for position in sorted where position < gap {
            keep(upTo: position)
            components.append(.pick(1))
            next += 1
        }
        keep(upTo: gap)
        components += drops
        for position in sorted where position >= gap {
            keep(upTo: position)
            components.append(.pick(1))
            next += 1
        }
        return lifting.composed(with: try Delta(components))
    }
}
