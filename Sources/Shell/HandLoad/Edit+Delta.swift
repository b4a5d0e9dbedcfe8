import HandCore
import HandScript

extension ScriptRun.Edit {
    /// The edit on a list of so many items; nil if there is nothing that it could be made on.
    ///
    /// - Parameters:
    ///   - itemID: of the item, if one is added.
    ///   - item: gives the item at an index, where it is known: what is no task is not ticked. Nobody changes a text that he does
    ///     not know.
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

    /// Moved to where it is, an item would stay; it goes one further then.
    private static func move(_ index: Int, to gap: Int, _ count: Int) -> Delta? {
        guard count > 1 else { return nil }
        var gap = gap
        if gap == index || gap == index + 1 { gap = index + 1 < count ? index + 2 : index - 1 }
        return Delta.moving(index..<index + 1, to: gap, .after)
    }

    private static func change(_ index: Int, _ change: Change, _ item: ((Int) -> Item)?) -> Delta? {
        // What would change nothing is not committed.
        if let item, change.isEmpty || !change.fields.isSubset(of: item(index).content.kind.fields) { return nil }
        return Delta.editing(at: index, change)
    }
}
