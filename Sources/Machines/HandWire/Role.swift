/// What a user may do with a list. Each role includes the roles before it.
public enum Role: String, Comparable, CaseIterable, Sendable, Codable {
    /// Nothing. The list seems not to exist.
    case none
    /// Follow the list, look at its history, be seen on it.
    case read
    /// Insert items.
    case append
    /// Make all other edits; as a role on all lists, also make lists.
    case write
    /// Delete and undelete the list, and rename it if the user may also make lists.
    case admin

    @inlinable public static func < (left: Role, right: Role) -> Bool { left.number < right.number }

    /// The number on the wire. Used for each edit, so it does not search a list of all roles.
    @inlinable var number: UInt8 {
        switch self {
        case .none: 0
        case .read: 1
        case .append: 2
        case .write: 3
        case .admin: 4
        }
    }
}
