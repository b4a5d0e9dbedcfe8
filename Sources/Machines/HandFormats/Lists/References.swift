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

    /// Returns a delta that moves the items to one place, in the order in which they are named.
    package static func move(_ references: [ItemReference], to place: Place, in list: PartialList) throws -> Delta {
        var positions: [Int] = []
        var seen: Set<Int> = []
        for reference in references {
            let position = try reference.position(in: list)
            if seen.insert(position).inserted { positions.append(position) }
        }
        let (gap, side) = try place.gap(in: list)
        let sorted = positions.sorted()
        let slots = Dictionary(uniqueKeysWithValues: zip(sorted, sorted.indices))
        // Slots are numbered by position, and dropped in the order named.
        let drops = positions.compactMap { slots[$0] }.map { Delta.Component.drop($0..<$0 + 1, side, nil) }
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
        return try Delta(components)
    }
}
