import HandCore

extension ScriptRun.Edit {
    /// Returns the edit as a delta on a list of `count` items, or nil if there is no item that it applies to.
    ///
    /// - Parameters:
    ///   - itemID: the id of an added item.
    ///   - item: returns the item at an index; nil if the items are not known. With `item`, only tasks are ticked;
    ///     without `item`, no text can be changed.
    func delta(count: Int, itemID: ItemID, item: ((Int) -> Item)? = nil) -> Delta? {
        if case .add(let content, let spot) = self {
            return Delta.inserting([Item(id: itemID, content: content)], at: spot.gap(of: count), .after)
        }
        guard count > 0 else { return nil }
        switch self {
        case .add: return nil
        case .move(let from, let to): return Self.move(from.index(of: count), to: to.gap(of: count), count)
        case .delete(let spot):
            let index = spot.index(of: count)
            return Delta.deleting(index..<index + 1)
        case .edit(let spot, let text):
            let index = spot.index(of: count)
            return item.flatMap { Self.change(index, $0(index).content.rewording(text), $0) }
        case .tick(let spot):
            let index = spot.index(of: count)
            var isDone = true
            if case .task(_, let done)? = item?(index).content { isDone = !done }
            return Self.change(index, Change(done: isDone), item)
        }
    }

    /// Moves an item. A move to the item's present place goes one place further, so that it changes something.
    private static func move(_ index: Int, to gap: Int, _ count: Int) -> Delta? {
        guard count > 1 else { return nil }
        var gap = gap
        if gap == index || gap == index + 1 { gap = index + 1 < count ? index + 2 : index - 1 }
        return Delta.moving(index..<index + 1, to: gap, .after)
    }

    private static func change(_ index: Int, _ change: Change, _ item: ((Int) -> Item)?) -> Delta? {
        // An edit that changes nothing is not committed.
        if let item, change.isEmpty || !change.fields.isSubset(of: item(index).content.kind.fields) { return nil }
        return Delta.editing(at: index, change)
    }
}
