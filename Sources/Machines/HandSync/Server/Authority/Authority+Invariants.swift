import HandCore

extension Authority {
    /// Returns which invariant is broken, or nil if none is. For tests: O(n).
    package func brokenInvariant() -> String? {
        if present.bytes != present.hand.bytesInMemory { return "its items take other than \(present.bytes) bytes" }
        if let problem = present.hand.brokenInvariant() { return problem }
        if present.revision != revision + pending.count { return "revisions and pending commits do not add up" }
        if window.head != present.revision { return "the window ends at \(window.head), not at \(present.revision)" }
        if window.floor > revision { return "the window begins behind what is durable" }
        if ids != present.hand.idKeys { return "the ids are not those of the items" }
        if present.hand.count != ids.count { return "an item is there twice" }
        for (index, waiting) in pending.enumerated() where waiting.mark.revision != revision + index + 1 {
            return "pending commits are not numbered one by one"
        }
        for (client, mark) in sequences where mark.revision > present.revision {
            return "client \(client) has a sequence at a revision that does not exist"
        }
        return deckProblem()
    }

    /// Every card is in the deck or in the list, and nowhere twice.
    private func deckProblem() -> String? {
        guard let deck = present.deck else { return nil }
        var cards = deck.codes
        for case .card(let card) in present.hand.map(\.content) { cards.append(card.code) }
        return cards.sorted() == Array(1...52) ? nil : "the deck and the list do not make 52 cards"
    }
}
