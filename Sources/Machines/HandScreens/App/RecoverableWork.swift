import HandCore

/// What the user's edits did to each item, so that they can be made again if somebody overrides them.
struct RecoverableWork: Sendable {
    struct Entry: Sendable {
        /// The item's content after the user's last change of it; nil if it was only moved.
        var content: Content?
        /// The item behind which the user moved it, `.some(nil)` for the top, or nil if it was not moved.
        var movedBehind: ItemID??
    }

    private var entries: [ItemID: Entry] = [:]
    /// The items in the order in which they were first touched. The oldest is forgotten first.
    private var order: [ItemID] = []
    private static let most = 1_000

    subscript(item: ItemID) -> Entry? { entries[item] }

    /// Records one of the user's edits, which led to `new`.
    mutating func record(_ delta: Delta, in new: Hand) {
        var left = Self.most
        for step in delta.placed {
            switch step.component {
            case .edit where left > 0:
                left -= 1
                let item = new[step.new.lowerBound]
                note(item.id) { $0.content = item.content }
            case .drop(_, _, let change):
                for index in step.new.prefix(Self.most) {
                    note(new[index].id) { entry in
                        entry.movedBehind = .some(index > 0 ? new[index - 1].id : nil)
                        if change != nil { entry.content = new[index].content }
                    }
                }
            case .keep, .edit, .insert, .delete, .pick: break
            }
        }
    }

    private mutating func note(_ item: ItemID, _ body: (inout Entry) -> Void) {
        if entries[item] == nil {
            order.append(item)
            if order.count > Self.most { entries[order.removeFirst()] = nil }
        }
        body(&entries[item, default: Entry()])
    }
}
