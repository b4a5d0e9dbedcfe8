/// One playing card, or its back.
///
/// In a list with a `Deck`, an author inserts `.faceDown`, and the server turns the card over when it commits.
public enum Card: Hashable, Sendable {
    case faceDown
    case faceUp(Rank, Suit)

    public enum Rank: UInt8, CaseIterable, Sendable {
        case ace = 1
        case two, three, four, five, six, seven, eight, nine, ten, jack, queen, king
    }

    public enum Suit: UInt8, CaseIterable, Sendable {
        case clubs, diamonds, hearts, spades
    }

    /// The number of a card: 0 for the back, 1…52 for the faces, suit by suit from clubs to spades, ace to king in
    /// each.
    public var code: UInt8 {
        switch self {
        case .faceDown: 0
        case .faceUp(let rank, let suit): suit.rawValue * 13 + rank.rawValue
        }
    }

    /// Creates the card with that number; fails above 52.
    public init?(code: UInt8) {
        if code == 0 {
            self = .faceDown
            return
        }
        guard let suit = Suit(rawValue: (code - 1) / 13), let rank = Rank(rawValue: (code - 1) % 13 + 1) else {
            return nil
        }
        self = .faceUp(rank, suit)
    }
}

// MARK: - Text

extension Card: CustomStringConvertible {
    /// `Q♠`, `10♥`, or `??` for the back.
    public var description: String {
        switch self {
        case .faceDown: "??"
        case .faceUp(let rank, let suit): rank.symbol + suit.symbol
        }
    }

    /// Parses `Q♠`, `qs`, `10H` or `??`; fails if the text does not name a card.
    public init?(_ text: String) {
        if text == "??" {
            self = .faceDown
            return
        }
        guard let last = text.last, let suit = Suit.allCases.first(where: { $0.isNamed(by: last) }) else { return nil }
        let name = text.dropLast().uppercased()
        guard let rank = Rank.allCases.first(where: { $0.symbol == name }) else { return nil }
        self = .faceUp(rank, suit)
    }
}

extension Card.Rank {
    public var symbol: String {
        switch self {
        case .ace: "A"
        case .jack: "J"
        case .queen: "Q"
        case .king: "K"
        default: String(rawValue)
        }
    }
}

extension Card.Suit {
    public var symbol: String {
        switch self {
        case .clubs: "♣"
        case .diamonds: "♦"
        case .hearts: "♥"
        case .spades: "♠"
        }
    }

    fileprivate func isNamed(by character: Character) -> Bool {
        String(character) == symbol || character.lowercased() == "\(self)".prefix(1)
    }
}
