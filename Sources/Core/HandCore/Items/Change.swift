/// An edit of one item's content, field by field: nil leaves a field as it is.
///
/// Ticking a task and rewording it at the same time keeps both, because they are different fields.
public struct Change: Sendable {
    /// The wording of a note, task, link or heading.
    public var text: String?
    /// Whether a task is done.
    public var done: Bool?
    /// Where a link leads.
    public var url: String?
    /// The face of a card. In a list that is played with a deck only the server changes it.
    public var card: Card?
    /// The bytes of a kind that this program does not know.
    public var bytes: [UInt8]?

    public init(
        text: String? = nil, done: Bool? = nil, url: String? = nil, card: Card? = nil, bytes: [UInt8]? = nil
    ) {
        self.text = text
        self.done = done
        self.url = url
        self.card = card
        self.bytes = bytes
    }

    /// The fields of content, as a set.
    public struct Fields: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        public static let text = Fields(rawValue: 1)
        public static let done = Fields(rawValue: 2)
        public static let url = Fields(rawValue: 4)
        public static let card = Fields(rawValue: 8)
        public static let bytes = Fields(rawValue: 16)
        public static let all: Fields = [.text, .done, .url, .card, .bytes]

        /// Names of the members, in the order of their bits, as they are written in JSON.
        public var names: [String] {
            zip(["text", "done", "url", "card", "bytes"], 0...).filter { rawValue & (1 << $0.1) != 0 }.map(\.0)
        }
    }

    /// The fields that this change sets.
    public var fields: Fields {
        var fields: Fields = []
        if text != nil { fields.insert(.text) }
        if done != nil { fields.insert(.done) }
        if url != nil { fields.insert(.url) }
        if card != nil { fields.insert(.card) }
        if bytes != nil { fields.insert(.bytes) }
        return fields
    }

    public var isEmpty: Bool { fields.isEmpty }
}

extension Change: Equatable {
    public static func == (left: Change, right: Change) -> Bool {
        same(left.text, right.text) && left.done == right.done && same(left.url, right.url) && left.card == right.card
            && left.bytes == right.bytes
    }

    private static func same(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.hasSameBytes(as: right)
    }
}

// MARK: - Algebra

extension Change {
    /// This change and then `later`: what both say, `later` where they differ.
    public func followed(by later: Change) -> Change {
        Change(
            text: later.text ?? text, done: later.done ?? done, url: later.url ?? url, card: later.card ?? card,
            bytes: later.bytes ?? bytes)
    }

    /// What is left of this change when `other` has the last word on the fields that it sets.
    public func yielding(to other: Change) -> Change {
        Change(
            text: other.text == nil ? text : nil, done: other.done == nil ? done : nil,
            url: other.url == nil ? url : nil, card: other.card == nil ? card : nil,
            bytes: other.bytes == nil ? bytes : nil)
    }

    /// The change that takes `old` to `new`; nil if they are of different kinds, which no change can bridge.
    public init?(from old: Content, to new: Content) {
        func differing(_ old: String, _ new: String) -> String? { old.hasSameBytes(as: new) ? nil : new }
        switch (old, new) {
        case (.card(let old), .card(let new)):
            self.init(card: old == new ? nil : new)
        case (.note(let old), .note(let new)), (.heading(let old), .heading(let new)):
            self.init(text: differing(old, new))
        case (.task(let old, let wasDone), .task(let new, let done)):
            self.init(text: differing(old, new), done: wasDone == done ? nil : done)
        case (.link(let old, let oldURL), .link(let new, let newURL)):
            self.init(text: differing(old, new), url: differing(oldURL, newURL))
        case (.unknown(let oldKind, let old), .unknown(let newKind, let new)) where oldKind == newKind:
            self.init(bytes: old == new ? nil : new)
        default:
            return nil
        }
    }
}

extension Content.Kind {
    /// The fields that content of this kind has.
    public var fields: Change.Fields {
        switch self {
        case .card: [.card]
        case .note, .heading: [.text]
        case .task: [.text, .done]
        case .link: [.text, .url]
        default: [.bytes]
        }
    }
}

extension Content {
    /// This content with `change` made; nil if the change sets a field that this kind does not have.
    public func applying(_ change: Change) -> Content? {
        guard kind.fields.isSuperset(of: change.fields) else { return nil }
        return switch self {
        case .card(let card): .card(change.card ?? card)
        case .note(let text): .note(change.text ?? text)
        case .task(let text, let done): .task(change.text ?? text, done: change.done ?? done)
        case .link(let text, let url): .link(change.text ?? text, url: change.url ?? url)
        case .heading(let text): .heading(change.text ?? text)
        case .unknown(let kind, let bytes): .unknown(kind, change.bytes ?? bytes)
        }
    }

    /// The change that undoes `change`, made on this content: the same fields with their present values.
    public func inverse(of change: Change) -> Change {
        var inverse = Change()
        switch self {
        case .card(let card): inverse.card = change.card == nil ? nil : card
        case .note(let text), .heading(let text): inverse.text = change.text == nil ? nil : text
        case .task(let text, let done):
            inverse.text = change.text == nil ? nil : text
            inverse.done = change.done == nil ? nil : done
        case .link(let text, let url):
            inverse.text = change.text == nil ? nil : text
            inverse.url = change.url == nil ? nil : url
        case .unknown(_, let bytes): inverse.bytes = change.bytes == nil ? nil : bytes
        }
        return inverse
    }
}
