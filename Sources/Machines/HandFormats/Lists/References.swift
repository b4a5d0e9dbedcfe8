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

    /// Returns a delta that moves the items at these positions to one place, in that order.
    package static func move(_ all: [Int], to place: Place, in list: PartialList) throws -> Delta {
        var seen: Set<Int> = []
        let positions = all.filter { seen.insert($0).inserted }
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
