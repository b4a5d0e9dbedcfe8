import HandCore

// The effect of a delta on each item, for programs that do not read deltas.

extension JSON {
    /// Returns an object for each item that the delta touches. Deleted items come first, then the others from the top
    /// of the new list down: `{"change":"moved","item":"k3f9…","from":5,"to":1,"before":{…},"after":{…}}`.
    ///
    /// `change` is `added`, `deleted`, `moved` or `edited`; an item that is moved and edited is `moved`. `from` and
    /// `to` are the item's numbers in the old and the new list, counted from 1; `before` and `after` are its content.
    /// An added item has neither `from` nor `before`, a deleted one neither `to` nor `after`.
    ///
    /// - Precondition: `delta` takes `old` to `new`.
    package static func changes(_ delta: Delta, from old: Hand, to new: Hand) -> JSONValue {
        func change(_ mark: Delta.Mark, from before: Int?, to after: Int?) -> JSONValue {
            .object(fields(of: mark, from: before.map { ($0, old[$0]) }, to: after.map { ($0, new[$0]) }))
        }
        let placed = delta.placed
        var picked: [Int] = []
        for step in placed { if case .pick = step.component { picked += step.old } }
        var (deleted, others): ([JSONValue], [JSONValue]) = ([], [])
        for step in placed {
            switch step.component {
            case .keep, .pick: break
            case .delete: for index in step.old { deleted.append(change(.deleted, from: index, to: nil)) }
            case .edit: others.append(change(.edited, from: step.old.lowerBound, to: step.new.lowerBound))
            case .insert: for index in step.new { others.append(change(.inserted, from: nil, to: index)) }
            case .drop(let slots, _, _):
                for (slot, index) in zip(slots, step.new) {
                    others.append(change(.moved, from: picked[slot], to: index))
                }
            }
        }
        return .array(deleted + others)
    }

    /// The fields of the effect on one item.
    package static func fields(
        of mark: Delta.Mark, from before: (index: Int, item: Item)?, to after: (index: Int, item: Item)?
    ) -> [JSONValue.Member] {
        .init([
            "change": mark == .inserted ? "added" : "\(mark)", "item": (after ?? before).map { id($0.item.id) },
            "from": before.map { $0.index + 1 },
            "to": after.map { $0.index + 1 }, "before": before.map { JSONValue.object(members(of: $0.item)) },
            "after": after.map { JSONValue.object(members(of: $0.item)) },
        ])
    }
}
