import HandCore

extension Excerpt {
    /// A placeholder for an item that is not in the excerpt.
    fileprivate static let unseen = Item(id: ItemID(rawValue: 0), content: .note(""))

    /// A list as long as the whole list, in which only the entries have content; all other items are the same empty
    /// note. So code that works on lists works on an excerpt, as long as it touches no other items. O(entries · log n).
    package var hand: Hand {
        var hand = Hand(rules: rules)
        for entry in entries {
            hand.append(Self.unseen(entry.position - hand.count))
            hand.append(Hand([entry.item]))
        }
        hand.append(Self.unseen(count - hand.count))
        return hand
    }

    /// Returns that many placeholders. O(log² n): the halves share all nodes.
    private static func unseen(_ count: Int) -> Hand {
        if count <= 1 { return count == 1 ? Hand([unseen]) : Hand() }
        var half = unseen(count / 2)
        half.append(half)
        if count % 2 == 1 { half.append(Hand([unseen])) }
        return half
    }
}

extension Hand {
    /// Whether the item at an index of an excerpt's list is in the excerpt.
    package func isKnown(_ index: Int) -> Bool { index < count && self[index] != Excerpt.unseen }
}

extension Delta {
    /// Returns the delta without its changes of the contents of items that are not known.
    ///
    /// - Parameter isKnown: whether the item at an index of the list that the delta was made on is known.
    package func changingOnly(_ isKnown: (Int) -> Bool) -> Delta {
        if itemChanges.isEmpty { return self }
        var (old, picked) = (0, [Int]())
        for component in components {
            if case .pick(let count) = component { picked += old..<old + count }
            old += component.oldCount
        }
        old = 0
        let kept = components.map { component -> Component in
            defer { old += component.oldCount }
            switch component {
            case .edit: return isKnown(old) ? component : .keep(1)
            case .drop(let slots, let side, _?) where !isKnown(picked[slots.lowerBound]): return .drop(slots, side, nil)
            case .keep, .delete, .pick, .insert, .drop: return component
            }
        }
        return (try? Delta(kept)) ?? self
    }
}

extension Delta.Component {
    /// The number of items of the old list that the component covers.
    fileprivate var oldCount: Int {
        switch self {
        case .keep(let count), .delete(let count), .pick(let count): count
        case .edit: 1
        case .insert, .drop: 0
        }
    }
}
