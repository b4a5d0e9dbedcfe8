/// An edit of one item's content and level, field by field. Nil, or an empty text change, leaves a field as it is.
///
/// If one person ticks a task and another rewords it at the same time, both edits are kept, because they are in
/// different fields. Both edits are also kept if two people reword different places: a text is changed, not set.
public struct Change: Equatable, Sendable {
    /// The change of the text of a note, task, link or heading.
    public var text: TextChange
    /// Whether a task is done.
    public var done: Bool?
    /// The change of a link's address.
    public var url: TextChange
    /// The face of a card. In a list with a deck, only the server changes it.
    public var card: Card?
    /// The bytes of a kind that this program does not know.
    public var bytes: [UInt8]?
    /// The level of the item.
    public var level: UInt8?

    public init(
        text: TextChange = TextChange(), done: Bool? = nil, url: TextChange = TextChange(), card: Card? = nil,
        bytes: [UInt8]? = nil, level: UInt8? = nil
    ) {
        self.text = text
        self.done = done
        self.url = url
        self.card = card
        self.bytes = bytes
        self.level = level.map { min($0, Item.maxLevel) }
    }

    /// Creates a change of a text from `old` to `new`, and optionally of a task's box.
    public init(text old: String, to new: String, done: Bool? = nil) {
        self.init(text: TextChange(from: old, to: new), done: done)
    }

    /// The fields of an item, as a set.
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
        public static let level = Fields(rawValue: 32)
        public static let all: Fields = [.text, .done, .url, .card, .bytes, .level]

        /// The names of the members, in the order of their bits, as used in JSON.
        public var names: [String] {
            zip(["text", "done", "url", "card", "bytes", "level"], 0...).filter { rawValue & (1 << $0.1) != 0 }.map(\.0)
        }
    }

    /// The fields that this change sets or changes.
    public var fields: Fields {
        var fields: Fields = []
        if !text.isIdentity { fields.insert(.text) }
        if done != nil { fields.insert(.done) }
        if !url.isIdentity { fields.insert(.url) }
        if card != nil { fields.insert(.card) }
        if bytes != nil { fields.insert(.bytes) }
        if level != nil { fields.insert(.level) }
        return fields
    }

    public var isEmpty: Bool { fields.isEmpty }

    /// This change without the changes of texts: each field is set to a value.
    package var values: Change { Change(done: done, card: card, bytes: bytes, level: level) }

    /// The inverse of the changes of texts; the inverse of the rest depends on the content.
    package var invertedWords: Change { Change(text: text.inverted, url: url.inverted) }

    /// The approximate size in bytes: texts in UTF-8, removed ones included, and a few bytes for each splice.
    package var size: Int { text.size + url.size + (bytes?.count ?? 0) }
}

extension Change {
    /// Why a change does not fit some content.
    public enum Misfit: Error, Hashable, Sendable {
        /// Content of that kind does not have those fields.
        case fieldsDoNotExist(Fields, of: Content.Kind)
        case text(TextChangeError)
    }
}

extension Change.Misfit: CustomStringConvertible {
    public var description: String {
        switch self {
        case .fieldsDoNotExist(let fields, _): "it has no \(fields.names.joined(separator: ", "))"
        case .text(let error): "\(error)"
        }
    }
}

// MARK: - Algebra

extension Change {
    /// Returns this change followed by `later`, as one change.
    public func followed(by later: Change) -> Change {
        Change(
            text: text.followed(by: later.text), done: later.done ?? done, url: url.followed(by: later.url),
            card: later.card ?? card, bytes: later.bytes ?? bytes, level: later.level ?? level)
    }

    /// Returns what remains of this change after `other`, made on the same content: texts merge, and where both set a
    /// field, the later change wins.
    package func transformed(over other: Change, as order: Order) -> Change {
        let yields = order == .earlier
        return Change(
            text: text.transformed(over: other.text, as: order),
            done: yields && other.done != nil ? nil : done,
            url: url.transformed(over: other.url, as: order),
            card: yields && other.card != nil ? nil : card,
            bytes: yields && other.bytes != nil ? nil : bytes,
            level: yields && other.level != nil ? nil : level)
    }

    /// Creates the change from `old` to `new`; fails if they are of different kinds, which no change can express.
    public init?(from old: Content, to new: Content) {
        switch (old, new) {
        case (.card(let old), .card(let new)):
            self.init(card: old == new ? nil : new)
        case (.note(let old), .note(let new)), (.heading(let old), .heading(let new)):
            self.init(text: TextChange(from: old, to: new))
        case (.task(let old, let wasDone), .task(let new, let done)):
            self.init(text: TextChange(from: old, to: new), done: wasDone == done ? nil : done)
        case (.link(let old, let oldURL), .link(let new, let newURL)):
            self.init(text: TextChange(from: old, to: new), url: TextChange(from: oldURL, to: newURL))
        case (.unknown(let oldKind, let old), .unknown(let newKind, let new)) where oldKind == newKind:
            self.init(bytes: old == new ? nil : new)
        default:
            return nil
        }
    }

    /// The cost of applying and transforming this change, in addition to the cost of a component without a text.
    var cost: Int { text.cost + url.cost }
}

extension Content.Kind {
    /// The fields that an item of this kind has.
    public var fields: Change.Fields {
        switch self {
        case .card: [.card, .level]
        case .note, .heading: [.text, .level]
        case .task: [.text, .done, .level]
        case .link: [.text, .url, .level]
        default: [.bytes, .level]
        }
    }
}

extension Content {
    /// Returns this content with `change` applied; the level is the item's.
    ///
    /// - Throws: `Change.Misfit` if the change was not made on this content.
    public func applying(_ change: Change) throws(Change.Misfit) -> Content {
        guard kind.fields.isSuperset(of: change.fields) else { throw .fieldsDoNotExist(change.fields, of: kind) }
        func changed(_ text: String, by change: TextChange) throws(Change.Misfit) -> String {
            do { return try change.applied(to: text) } catch { throw .text(error) }
        }
        return switch self {
        case .card(let card): .card(change.card ?? card)
        case .note(let text): .note(try changed(text, by: change.text))
        case .task(let text, let done): .task(try changed(text, by: change.text), done: change.done ?? done)
        case .link(let text, let url):
            .link(try changed(text, by: change.text), url: try changed(url, by: change.url))
        case .heading(let text): .heading(try changed(text, by: change.text))
        case .unknown(let kind, let bytes): .unknown(kind, change.bytes ?? bytes)
        }
    }

    /// Returns the change to a new text and a new address; nil leaves either as it is. A field that this content does
    /// not have is reported when the change is applied.
    public func rewording(_ text: String? = nil, url: String? = nil) -> Change {
        var change = Change()
        if let text { change.text = TextChange(from: self.text, to: text) }
        if let url { change.url = TextChange(from: address ?? "", to: url) }
        return change
    }

    /// Returns the change that undoes `change`, made on this content.
    public func inverse(of change: Change) -> Change {
        var inverse = change.invertedWords
        switch self {
        case .card(let card): inverse.card = change.card == nil ? nil : card
        case .task(_, let done): inverse.done = change.done == nil ? nil : done
        case .unknown(_, let bytes): inverse.bytes = change.bytes == nil ? nil : bytes
        case .note, .heading, .link: break
        }
        return inverse
    }
}
