import HandCore
import HandWire

extension Delta {
    /// Returns the part of a refused edit that the refusal is not about; the identity if nothing is left.
    ///
    /// - Parameter list: the list that this edit was made on.
    func remainder(after reason: Rejection, on list: Hand) -> Delta {
        switch reason {
        case .violation(.listFull(let maximum)):
            var room = maximum - (list.count - deletedItems(on: list).count)
            return filtered(on: list) { _, isNew in
                if isNew { room -= 1 }
                return !isNew || room >= 0
            }
        case .violation(.itemTooLarge(_, let maximum)):
            return filtered(on: list) { item, _ in item.content.size <= maximum }
        case .violation(.kindNotAllowed(let kind)): return filtered(on: list) { item, _ in item.content.kind != kind }
        case .violation(.levelTooHigh(_, let maximum)): return filtered(on: list) { item, _ in item.level <= maximum }
        case .violation(.deckEmpty): return filtered(on: list) { item, _ in item.content != .card(.faceDown) }
        case .violation(.cardNotInDeck(let card)): return filtered(on: list) { item, _ in item.content != .card(card) }
        case .violation(.cardsAreDealt):
            return filtered(on: list) { item, isNew in
                item.content.kind != .card || isNew && item.content == .card(.faceDown)
            }
        case .duplicateItem(let id): return filtered(on: list) { item, isNew in !isNew || item.id != id }
        // A user who may only add items may still add the items of this edit.
        case .notAllowed: return onlyInsertions
        case .doesNotFit, .revisionMoved, .notStored, .tooManyPending, .storeFull, .reasonForgotten: return .identity
        }
    }

    /// Returns this delta without the insertions and changes after which an item is not kept.
    private func filtered(on list: Hand, isKept: (_ item: Item, _ isNew: Bool) -> Bool) -> Delta {
        guard reach <= list.count else { return .identity }
        var old = 0
        var picked: [Item] = []
        for component in components {
            if case .pick(let count) = component { picked += (old..<old + count).map { list[$0] } }
            old += component.oldCount
        }
        func isMade(_ change: Change, of item: Item) -> Bool {
            (try? item.applying(change)).map { isKept($0, false) } ?? false
        }
        old = 0
        let kept = components.map { component -> Component in
            defer { old += component.oldCount }
            return switch component {
            case .edit(let change) where !isMade(change, of: list[old]): .keep(1)
            case .insert(let items, let side): .insert(items.filter { isKept($0, true) }, side)
            case .drop(let slots, let side, let change?) where !isMade(change, of: picked[slots.lowerBound]):
                .drop(slots, side, nil)
            default: component
            }
        }
        return (try? Delta(kept)) ?? .identity
    }

    private var onlyInsertions: Delta {
        let kept = components.compactMap { component -> Component? in
            if case .insert = component { return component }
            return component.oldCount > 0 ? .keep(component.oldCount) : nil
        }
        return (try? Delta(kept)) ?? .identity
    }
}

extension Delta.Component {
    /// The number of items of the old list that it is about.
    fileprivate var oldCount: Int {
        switch self {
        case .keep(let count), .delete(let count), .pick(let count): count
        case .edit: 1
        case .insert, .drop: 0
        }
    }
}
