/// The content of an item. An item's kind never changes; its fields change through `Change`.
///
/// Two contents are equal when their bytes are: texts that are canonically equivalent in Unicode but use different code
/// points are different here, because replicas compare digests of bytes.
public enum Content: Sendable {
    case card(Card)
    case note(String)
    case task(String, done: Bool)
    case link(String, url: String)
    case heading(String)
    /// A kind that this program does not know yet: kept and passed on unchanged, so an old program never destroys it.
    case unknown(Kind, [UInt8])

    /// The number of a kind on the wire and in the store. Numbers are never reused.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) { self.rawValue = rawValue }

        public static let card = Kind(rawValue: 1)
        public static let note = Kind(rawValue: 2)
        public static let task = Kind(rawValue: 3)
        public static let link = Kind(rawValue: 4)
        public static let heading = Kind(rawValue: 5)

        /// The kinds that this program knows, in the order of their numbers.
        public static let known: [Kind] = [.card, .note, .task, .link, .heading]
    }
}

/// One operation over all kinds of content. A new kind is a compile error until every visitor handles it.
public protocol ContentVisitor {
    associatedtype Output

    func visit(card: Card) -> Output
    func visit(note text: String) -> Output
    func visit(task text: String, done: Bool) -> Output
    func visit(link text: String, url: String) -> Output
    func visit(heading text: String) -> Output
    func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> Output
}

extension Content {
    @inlinable
    public func accept<Visitor: ContentVisitor>(_ visitor: Visitor) -> Visitor.Output {
        switch self {
        case .card(let card): visitor.visit(card: card)
        case .note(let text): visitor.visit(note: text)
        case .task(let text, let done): visitor.visit(task: text, done: done)
        case .link(let text, let url): visitor.visit(link: text, url: url)
        case .heading(let text): visitor.visit(heading: text)
        case .unknown(let kind, let bytes): visitor.visit(unknown: kind, bytes: bytes)
        }
    }

    public var kind: Kind {
        switch self {
        case .card: .card
        case .note: .note
        case .task: .task
        case .link: .link
        case .heading: .heading
        case .unknown(let kind, _): kind
        }
    }

    /// The text by which people recognize the item: its wording, a card's symbol, or empty for an unknown kind.
    public var text: String { accept(PlainText()) }

    /// The address of a link; nil for other kinds.
    public var address: String? { if case .link(_, let url) = self { url } else { nil } }

    /// The size of the content in bytes, as limits count it: texts in UTF-8, without lengths and numbers.
    public var size: Int {
        switch self {
        case .card: 1
        case .note(let text), .task(let text, _), .heading(let text): text.utf8.count
        case .link(let text, let url): text.utf8.count + url.utf8.count
        case .unknown(_, let bytes): bytes.count
        }
    }
}

private struct PlainText: ContentVisitor {
    func visit(card: Card) -> String { card.description }
    func visit(note text: String) -> String { text }
    func visit(task text: String, done: Bool) -> String { text }
    func visit(link text: String, url: String) -> String { text }
    func visit(heading text: String) -> String { text }
    func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> String { "" }
}

// MARK: - Equality by bytes

extension Content: Equatable {
    public static func == (left: Content, right: Content) -> Bool {
        switch (left, right) {
        case (.card(let a), .card(let b)): a == b
        case (.note(let a), .note(let b)), (.heading(let a), .heading(let b)): a.hasSameBytes(as: b)
        case (.task(let a, let doneA), .task(let b, let doneB)): doneA == doneB && a.hasSameBytes(as: b)
        case (.link(let a, let urlA), .link(let b, let urlB)): a.hasSameBytes(as: b) && urlA.hasSameBytes(as: urlB)
        case (.unknown(let kindA, let a), .unknown(let kindB, let b)): kindA == kindB && a == b
        default: false
        }
    }
}

extension String {
    /// Whether both strings are the same bytes in UTF-8 (stricter than `==`, which compares canonical equivalence).
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
