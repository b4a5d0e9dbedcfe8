import HandCore

/// The item that a person has selected, and whether they edit its text or its address.
public struct Focus: Hashable, Sendable {
    public var item: ItemID
    public var isEditing: Bool

    public init(_ item: ItemID, isEditing: Bool = false) {
        self.item = item
        self.isEditing = isEditing
    }
}

extension Focus? {
    /// The byte on the wire: 0 for no item, 1 for a selected item, 2 for an edited one.
    var code: UInt8 { map { $0.isEditing ? 2 : 1 } ?? 0 }
}

extension WireReader {
    /// Reads the rest of a focus whose code has been read.
    mutating func focus(_ code: UInt8) throws(WireError) -> Focus? {
        guard code <= 2 else { throw .unknownValue(field: "presence", found: UInt64(code)) }
        return code == 0 ? nil : Focus(ItemID(rawValue: try word("item id")), isEditing: code == 2)
    }
}
