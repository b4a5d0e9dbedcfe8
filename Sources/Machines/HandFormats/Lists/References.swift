import HandCore
import HandWire

/// Edits of several items, named in any order.
package enum References {
    /// Returns a delta with the same change for each of the items.
    package static func changing(
        _ references: [ItemReference], in list: PartialList, _ change: Change
    ) throws -> Delta {
        .changing(try Set(references.map { try $0.position(in: list) }).sorted().map { $0..<$0 + 1 }, change)
    }

    /// Returns a delta with the same change for each ticked task.
    package static func changing(ticked list: Hand, _ change: Change) -> Delta {
        .changing(zip(0..., list).filter { $0.1.content.isTicked }.map { $0.0..<$0.0 + 1 }, change)
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
        let drops = positions.map { position -> (Int, Delta.Component) in
            let slot = slots[position] ?? 0
            return (gap, .drop(slot..<slot + 1, side, changes[position].flatMap { $0.isEmpty ? nil : $0 }))
        }
        let picks = sorted.map { ($0, Delta.Component.pick(1)) }
        let before = picks.filter { $0.0 < gap }
        return lifting.composed(with: try Delta(placing: before + drops + picks.dropFirst(before.count)))
    }
}
