/// One entry of a list.
public struct Item: Equatable, Sendable, Identifiable {
    public let id: ItemID
    /// How far the item is indented, from 0 to `maxLevel`. Levels are no tree: any sequence of them is valid, and
    /// `Levels` says how a list with gaps in its levels is shown.
    public var level: UInt8
    public var content: Content

    public static let maxLevel: UInt8 = 15

    /// - Parameter level: a greater level than `maxLevel` becomes `maxLevel`.
    public init(id: ItemID, level: UInt8 = 0, content: Content) {
        self.id = id
        self.level = min(level, Self.maxLevel)
        self.content = content
    }
}

extension Item {
    /// Returns this item with `change` applied.
    ///
    /// - Throws: `Change.Misfit` if the change was not made on this item.
    public func applying(_ change: Change) throws(Change.Misfit) -> Item {
        Item(id: id, level: change.level ?? level, content: try content.applying(change))
    }

    /// Returns the change that undoes `change`, made on this item.
    public func inverse(of change: Change) -> Change {
        var inverse = content.inverse(of: change)
        if change.level != nil { inverse.level = level }
        return inverse
    }
}

extension Change {
    /// Creates the change from `old` to `new`; fails if their contents are of different kinds, which no change can
    /// express.
    public init?(from old: Item, to new: Item) {
        self.init(from: old.content, to: new.content)
        if old.level != new.level { level = new.level }
    }
}
