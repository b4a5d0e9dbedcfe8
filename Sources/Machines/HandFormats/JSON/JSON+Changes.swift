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
        let placed = delta.placed
        var picked: [Int] = []
        for step in placed { if case .pick = step.component { picked += step.old } }
        var (deleted, others): ([JSONValue], [JSONValue]) = ([], [])
        for step in placed {
            switch step.component {
            case .keep, .pick: break
            case .delete: for index in step.old { deleted.append(change("deleted", (index, old), nil)) }
            case .edit: others.append(change("edited", (step.old.lowerBound, old), (step.new.lowerBound, new)))
            case .insert: for index in step.new { others.append(change("added", nil, (index, new))) }
            case .drop(let slots, _, _):
                for (slot, index) in zip(slots, step.new) {
                    others.append(change("moved", (picked[slot], old), (index, new)))
                }
            }
        }
        return .array(deleted + others)
    }

    private static func change(
        _ name: String, _ before: (index: Int, list: Hand)?, _ after: (index: Int, list: Hand)?
    ) -> JSONValue {
        func content(_ place: (index: Int, list: Hand)) -> JSONValue {
            .object(members(of: place.list[place.index]))
        }
        return JSONValue(fields: [
            "change": name, "item": (after ?? before).map { id($0.list[$0.index].id) },
            "from": before.map { $0.index + 1 }, "to": after.map { $0.index + 1 }, "before": before.map(content),
            "after": after.map(content),
        ])
    }
}
