import HandCore

/// What a person attends to in a list.
public enum Focus: Hashable, Sendable {
    /// The item is selected.
    case selecting(ItemID)
    /// The text or the address of the item is being edited.
    case editing(ItemID)
    /// The person cannot see the list now: it is in a hidden window, for example.
    case away

    public init(_ item: ItemID, isEditing: Bool = false) { self = isEditing ? .editing(item) : .selecting(item) }

    public var item: ItemID? {
        switch self {
        case .selecting(let item), .editing(let item): item
        case .away: nil
        }
    }

    public var isEditing: Bool { if case .editing = self { true } else { false } }
}

extension Focus? {
    /// The byte on the wire: 0 for no item, 1 for a selected item, 2 for an edited one, 3 for a person who is away.
    var code: UInt8 {
        switch self {
        case nil: 0
        case .selecting: 1
        case .editing: 2
        case .away: 3
        }
    }
}

extension WireReader {
    /// Reads the rest of a focus whose code has been read.
    mutating func focus(_ code: UInt8) throws(WireError) -> Focus? {
        switch code {
        case 0: return nil
        case 1: return .selecting(ItemID(rawValue: try word("item id")))
        case 2: return .editing(ItemID(rawValue: try word("item id")))
        case 3: return .away
        default: throw .unknownValue(field: "presence", found: UInt64(code))
        }
    }
}
