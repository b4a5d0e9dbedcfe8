/// What a list accepts. Clients ask before they offer a command; the server decides.
public struct Rules: Equatable, Sendable {
    /// The most items that the list may hold.
    public var maximumCount: Int
    /// The kinds that may be inserted; nil for all.
    public var allowedKinds: Set<Content.Kind>?
    /// The most bytes that one item's content may take (`Content.size`).
    public var maximumSize: Int
    /// Whether cards come from a deck.
    public var hasDeck: Bool

    public init(
        maximumCount: Int = Rules.unlimitedCount, allowedKinds: Set<Content.Kind>? = nil,
        maximumSize: Int = Rules.defaultSize, hasDeck: Bool = false
    ) {
        self.maximumCount = maximumCount
        self.allowedKinds = allowedKinds
        self.maximumSize = maximumSize
        self.hasDeck = hasDeck
    }

    /// The largest list that any server allows: 2³¹ − 1 items.
    public static let unlimitedCount = Int(Int32.max)
    /// 16 KiB of text an item.
    public static let defaultSize = 16 * 1024

    /// The classic one: at most five cards, dealt from a deck.
    public static let fiveCards = Rules(maximumCount: 5, allowedKinds: [.card], hasDeck: true)

    /// Why a list did not accept something.
    public enum Violation: Error, Equatable, Sendable {
        /// The list would hold more than `maximum` items.
        case listFull(maximum: Int)
        case kindNotAllowed(Content.Kind)
        /// An item's content would take more than `maximum` bytes.
        case itemTooLarge(size: Int, maximum: Int)
        /// All 52 cards are out.
        case deckEmpty
        /// A face-up card was inserted that is not in the deck (somebody holds it).
        case cardNotInDeck(Card)
        /// A card was given another face; with a deck only the server turns cards over.
        case cardsAreDealt
    }

    /// Whether one more item of that kind may come into a list of `count` items; nil if it may.
    public func violation(inserting content: Content, into count: Int) -> Violation? {
        if count >= maximumCount { return .listFull(maximum: maximumCount) }
        return violation(of: content)
    }

    /// Whether content of that kind and size may stand in the list, wherever there is room; nil if it may.
    public func violation(of content: Content) -> Violation? { violation(ofKind: content.kind, size: content.size) }

    package func violation(ofKind kind: Content.Kind, size: Int) -> Violation? {
        if let allowedKinds, !allowedKinds.contains(kind) { return .kindNotAllowed(kind) }
        if size > maximumSize { return .itemTooLarge(size: size, maximum: maximumSize) }
        return nil
    }
}
