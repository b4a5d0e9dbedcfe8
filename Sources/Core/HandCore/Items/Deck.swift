/// The cards that a list has not dealt yet: all 52 in a seeded shuffle, dealt from the top, returned under the bottom.
public struct Deck: Equatable, Sendable {
    /// Cards from the bottom to the top.
    private var cards: [Card]

    /// A full deck in the shuffle of that seed (Fisher and Yates, from the last card down).
    public init(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        cards = (1...52).compactMap { Card(code: $0) }
        for last in stride(from: cards.count - 1, to: 0, by: -1) {
            cards.swapAt(last, generator.next(below: last + 1))
        }
    }

    /// A deck of these cards, from the bottom to the top; backs and repetitions are left out.
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

    /// Takes the top card; nil if the deck is empty.
    public mutating func deal() -> Card? {
        cards.popLast()
    }

    /// Takes that card out of the deck, wherever it lies; false if it is not there.
    public mutating func take(_ card: Card) -> Bool {
        guard let index = cards.firstIndex(of: card) else { return false }
        cards.remove(at: index)
        return true
    }

    /// Puts a card under the deck. A back, and a card that is in the deck already, change nothing.
    public mutating func putUnder(_ card: Card) {
        guard card != .faceDown, !contains(card) else { return }
        cards.insert(card, at: 0)
    }
}
