// What a delta does at which place, for code that displays or reports it.

extension Delta {
    /// What happens to an item, and the sign for it wherever changes are shown.
    package enum Mark: String, Sendable {
        case inserted = "+"
        case deleted = "-"
        case moved = ">"
        case edited = "~"
    }

    /// A component, the items of the old list that it passes, and the items that it leaves there in the new list.
    package struct Placed: Sendable {
        package let component: Component
        package let old: Range<Int>
        package let new: Range<Int>

        /// The sign, or nil for items that stay and for items that leave for another place.
        package var mark: Mark? {
            switch component {
            case .keep, .pick: nil
            case .edit: .edited
            case .delete: .deleted
            case .insert: .inserted
            case .drop: .moved
            }
        }
    }

    /// The components from left to right, with their places. O(components).
    package var placed: [Placed] {
        var (old, new) = (0, 0)
        return components.map { component in
            let (before, after) =
                switch component {
                case .keep(let count): (count, count)
                case .edit: (1, 1)
                case .delete(let count), .pick(let count): (count, 0)
                case .insert(let items, _): (0, items.count)
                case .drop(let slots, _, _): (0, slots.count)
                }
            defer { (old, new) = (old + before, new + after) }
            return Placed(component: component, old: old..<old + before, new: new..<new + after)
        }
    }
}
