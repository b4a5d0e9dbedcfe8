/// What a list accepts. Clients check before they offer a command; the server decides.
public struct Rules: Equatable, Sendable {
    /// The maximum number of items in the list.
    public var maximumCount: Int
    /// The kinds that may be inserted; nil for all.
    public var allowedKinds: Set<Content.Kind>?
    /// The maximum size of one item's content, in bytes (`Content.size`).
    public var maximumSize: Int
    /// Whether cards come from a deck. Items of a list with a deck have no levels.
    public var hasDeck: Bool { didSet { if hasDeck { maximumLevel = 0 } } }
    /// The highest level of an item; 0 with a deck.
    public var maximumLevel: UInt8

    /// - Parameter maximumLevel: nil for the highest that is possible.
    public init(
        maximumCount: Int = Rules.unlimitedCount, allowedKinds: Set<Content.Kind>? = nil,
        maximumSize: Int = Rules.defaultSize, hasDeck: Bool = false, maximumLevel: UInt8? = nil
    ) {
        self.maximumCount = maximumCount
        self.allowedKinds = allowedKinds
        self.maximumSize = maximumSize
        self.hasDeck = hasDeck
        self.maximumLevel = min(maximumLevel ?? (hasDeck ? 0 : Item.maxLevel), Item.maxLevel)
    }

    /// The largest list that any server allows: 2³¹ − 1 items.
    public static let unlimitedCount = Int(Int32.max)
    /// 16 KiB of text per item.
    public static let defaultSize = 16 * 1024

    /// The classic list: at most five cards, dealt from a deck.
    public static let fiveCards = Rules(maximumCount: 5, allowedKinds: [.card], hasDeck: true)

    /// Why no list can have these rules: nothing could ever be inserted, or the deck could not be dealt. Nil if a list
    /// can have them.
    public var contradiction: String? {
        let allowsCards = (allowedKinds?.contains(.card) ?? true) && maximumSize > 0
        if maximumCount == 0 { return "a list must have room for at least 1 item" }
        if allowedKinds?.isEmpty == true { return "a list must accept at least 1 kind of item" }
        if hasDeck && !allowsCards { return "a list with a deck must accept cards, which take 1 byte" }
        if hasDeck && maximumLevel > 0 { return "the items of a list with a deck have no levels" }
        if allowedKinds == [.card] && !allowsCards { return "a list of cards must accept items of 1 byte" }
        return nil
    }

    /// Why a list did not accept something.
    public enum Violation: Error, Equatable, Sendable {
        /// The list would have more than `maximum` items.
        case listFull(maximum: Int)
        case kindNotAllowed(Content.Kind)
        /// An item's content would be larger than `maximum` bytes.
        case itemTooLarge(size: Int, maximum: Int)
        /// An item's level would be above `maximum`.
        case levelTooHigh(UInt8, maximum: UInt8)
        /// All 52 cards are in the list.
        case deckEmpty
        /// A face-up card was inserted that is not in the deck (it is already in the list).
        case cardNotInDeck(Card)
        /// A card's face was changed; with a deck, only the server turns cards over.
        case cardsAreDealt
    }

    /// Returns why `content` may not be inserted into a list of `count` items, or nil if it may.
    public func violation(inserting content: Content, into count: Int) -> Violation? {
        if count >= maximumCount { return .listFull(maximum: maximumCount) }
        return violation(of: content)
    }

    /// Returns why the content of an item is not allowed in the list, regardless of its count; nil if it is.
    public func violation(of content: Content) -> Violation? { violation(ofKind: content.kind, size: content.size) }

    /// Returns why an item is not allowed in the list, regardless of its count; nil if it is.
    public func violation(of item: Item) -> Violation? {
        violation(ofKind: item.content.kind, size: item.content.size, level: item.level)
    }

    package func violation(ofKind kind: Content.Kind, size: Int, level: UInt8 = 0) -> Violation? {
        if let allowedKinds, !allowedKinds.contains(kind) { return .kindNotAllowed(kind) }
        if size > maximumSize { return .itemTooLarge(size: size, maximum: maximumSize) }
        if level > maximumLevel { return .levelTooHigh(level, maximum: maximumLevel) }
        return nil
    }
}
