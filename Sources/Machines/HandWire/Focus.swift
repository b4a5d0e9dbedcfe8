import HandCore

/// The item that a person is on, and whether they edit its text or its address.
public struct Focus: Hashable, Sendable {
    public var item: ItemID
    public var isEditing: Bool

    public init(_ item: ItemID, isEditing: Bool = false) {
        self.item = item
        self.isEditing = isEditing
    }
}

extension Focus? {
    /// The byte that stands for it: 0 on no item, 1 on one, 2 editing it.
    var code: UInt8 { map { $0.isEditing ? 2 : 1 } ?? 0 }
}

extension WireReader {
    /// What stands behind a code.
    mutating func focus(_ code: UInt8) throws(WireError) -> Focus? {
        guard code <= 2 else { throw .unknownValue(field: "presence", found: UInt64(code)) }
        return code == 0 ? nil : Focus(ItemID(rawValue: try word("item id")), isEditing: code == 2)
    }
}
