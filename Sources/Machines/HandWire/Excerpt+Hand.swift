import HandCore

extension Excerpt {
    /// A placeholder for an item that is not in the excerpt.
    private static let unseen = Item(id: ItemID(rawValue: 0), content: .note(""))

    /// A list as long as the whole one, in which only the entries have content; all other items are the same empty
    /// note. So code that works on lists works on an excerpt, as long as it touches no other items. O(entries · log
    /// n).
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
