/// The cards that a list has not dealt yet: all 52 in a seeded shuffle, dealt from the top and returned to the bottom.
public struct Deck: Equatable, Sendable {
    /// Cards from the bottom to the top.
    private var cards: [Card]

    /// Creates a full deck, shuffled with that seed (Fisher and Yates, from the last card down).
    public init(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        cards = (1...52).compactMap { Card(code: $0) }
        for last in stride(from: cards.count - 1, to: 0, by: -1) {
            cards.swapAt(last, generator.next(below: last + 1))
        }
    }

    /// Creates a deck of these cards, from the bottom to the top; backs and duplicates are left out.
    public init(codes: some Sequence<UInt8>) {
        cards = []
        for card in codes.compactMap(Card.init(code:)) where card != .faceDown && !cards.contains(card) {
            cards.append(card)
        }
    }

    /// The numbers of the cards from the bottom to the top.
    public var codes: [UInt8] { cards.map(\.code) }

    public var count: Int { cards.count }

    public func contains(_ card: Card) -> Bool { cards.contains(card) }

    /// Removes and returns the top card, or nil if the deck is empty.
    public mutating func deal() -> Card? { cards.popLast() }

    /// Removes that card from the deck, wherever it is; returns false if it is not in the deck.
    public mutating func take(_ card: Card) -> Bool {
        guard let index = cards.firstIndex(of: card) else { return false }
        cards.remove(at: index)
        return true
    }

    /// Puts a card under the deck. A back, and a card that is already in the deck, change nothing.
    public mutating func putUnder(_ card: Card) {
        guard card != .faceDown, !contains(card) else { return }
        cards.insert(card, at: 0)
    }
}
