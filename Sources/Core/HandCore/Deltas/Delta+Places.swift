// What a delta does at which place, for code that displays or reports it.

extension Delta {
    /// What happens to an item, and the sign for it wherever changes are shown.
    package enum Mark: String, Sendable {
        case inserted = "+"
        case deleted = "-"
        case moved = ">"
        case edited = "~"
    }

    /// A component, the items of the old list that it passes, and the items that it leaves at its place in the new
    /// list.
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
        zip(components, spans).map { Placed(component: $0, old: $1.oldItems, new: $1.newItems) }
    }
}
