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
        let changed = changing(only: { index, change in
            (try? list[index].applying(change)).map { isKept($0, false) } ?? false
        })
        return changed.inserting(only: { isKept($0, true) })
    }

    private var onlyInsertions: Delta {
        let kept = components.compactMap { component -> Component? in
            if case .insert = component { return component }
            return component.oldCount > 0 ? .keep(component.oldCount) : nil
        }
        return (try? Delta(kept)) ?? .identity
    }
}
