import HandCore

/// Why the server did not commit a submission. Nothing of it was done; the connection stays, and so does all else that
/// the client has pending.
public enum Rejection: Error, Equatable, Sendable {
    /// The list's rules do not allow it.
    case violation(Rules.Violation)
    /// An item with that id is in the list already.
    case duplicateItem(ItemID)
    /// The delta reaches beyond the list, or changes fields or words that an item does not have.
    case doesNotFit(reach: Int, count: Int)
    /// The submission asked to be made on exactly its base, and the list has moved on.
    case revisionMoved(now: Int)
    /// The server could not write it down; the list is as it was before.
    case notStored
    /// The client has too many submissions waiting.
    case tooManyPending(limit: Int)
    /// The person may not make such edits of this list.
    case notAllowed
    /// The server keeps as many bytes as it may.
    case storeFull(limit: Int)
}

extension Rejection {
    /// Code and up to two numbers, as they stand on the wire.
    public var fields: (code: UInt64, first: UInt64, second: UInt64) {
        switch self {
        case .violation(.listFull(let maximum)): (1, UInt64(maximum), 0)
        case .violation(.kindNotAllowed(let kind)): (2, UInt64(kind.rawValue), 0)
        case .violation(.itemTooLarge(let size, let maximum)): (3, UInt64(size), UInt64(maximum))
        case .violation(.deckEmpty): (4, 0, 0)
        case .violation(.cardNotInDeck(let card)): (5, UInt64(card.code), 0)
        case .violation(.cardsAreDealt): (6, 0, 0)
        case .duplicateItem(let id): (7, id.rawValue, 0)
        case .doesNotFit(let reach, let count): (8, UInt64(reach), UInt64(count))
        case .revisionMoved(let now): (9, UInt64(now), 0)
        case .notStored: (10, 0, 0)
        case .tooManyPending(let limit): (11, UInt64(limit), 0)
        case .notAllowed: (12, 0, 0)
        case .storeFull(let limit): (13, UInt64(limit), 0)
        }
    }

    public init(code: UInt64, first: UInt64, second: UInt64) throws(WireError) {
        func number(_ value: UInt64) -> Int { Int(clamping: value) }
        switch code {
        case 1: self = .violation(.listFull(maximum: number(first)))
        case 2: self = .violation(.kindNotAllowed(Content.Kind(rawValue: UInt32(clamping: first))))
        case 3: self = .violation(.itemTooLarge(size: number(first), maximum: number(second)))
        case 4: self = .violation(.deckEmpty)
        case 5: self = .violation(.cardNotInDeck(Card(code: UInt8(clamping: first)) ?? .faceDown))
        case 6: self = .violation(.cardsAreDealt)
        case 7: self = .duplicateItem(ItemID(rawValue: first))
        case 8: self = .doesNotFit(reach: number(first), count: number(second))
        case 9: self = .revisionMoved(now: number(first))
        case 10: self = .notStored
        case 11: self = .tooManyPending(limit: number(first))
        case 12: self = .notAllowed
        case 13: self = .storeFull(limit: number(first))
        default: throw .unknownValue(field: "reason of a rejection", found: code)
        }
        // A reason has one form: numbers that it does not have are 0, those that it has are in their range.
        guard fields == (code, first, second) else {
            throw .unknownValue(field: "details of a rejection", found: first)
        }
    }

    /// The name of the reason, as it stands in JSON.
    public var name: String {
        switch self {
        case .violation(.listFull): "listFull"
        case .violation(.kindNotAllowed): "kindNotAllowed"
        case .violation(.itemTooLarge): "itemTooLarge"
        case .violation(.deckEmpty): "deckEmpty"
        case .violation(.cardNotInDeck): "cardNotInDeck"
        case .violation(.cardsAreDealt): "cardsAreDealt"
        case .duplicateItem: "duplicateItem"
        case .doesNotFit: "doesNotFit"
        case .revisionMoved: "revisionMoved"
        case .notStored: "notStored"
        case .tooManyPending: "tooManyPending"
        case .notAllowed: "notAllowed"
        case .storeFull: "storeFull"
        }
    }
}

extension Rejection: CustomStringConvertible {
    /// What happened and what to do, for people.
    public var description: String {
        switch self {
        case .violation(.listFull(let maximum)):
            "the list is full: it may hold \(maximum) item\(maximum == 1 ? "" : "s"). Delete one first."
        case .violation(.kindNotAllowed(let kind)): "this list does not take items of kind \(kind.name)."
        case .violation(.itemTooLarge(let size, let maximum)):
            "the item has \(size) bytes; this list takes at most \(maximum). Shorten it or split it."
        case .violation(.deckEmpty): "the deck is empty: all 52 cards are out. Delete a card first."
        case .violation(.cardNotInDeck(let card)): "\(card) is not in the deck: somebody holds it. Deal a card instead."
        case .violation(.cardsAreDealt): "cards of this list come from its deck; nobody can choose their faces."
        case .duplicateItem(let id): "an item with the id \(id) is in the list already."
        case .doesNotFit(let reach, let count) where reach <= count:
            "the edit changes a field or words that an item does not have."
        case .doesNotFit(let reach, let count):
            "the edit does not fit the list: it reaches to item \(reach), the list has \(count)."
        case .revisionMoved(let now): "the list has moved on to revision \(now). Look at it again and repeat the edit."
        case .notStored: "the server could not write the edit to its disk. Nothing was changed; try again later."
        case .notAllowed: "you may not make this edit here. Ask whoever runs the server for a role that may."
        case .storeFull(let limit):
            "the server is full: it keeps \(limit) bytes. Its operator can raise that, or forget older history."
        case .tooManyPending(let limit): "more than \(limit) edits were waiting to be written. Send fewer at a time."
        }
    }
}

extension Content.Kind {
    /// The name of a kind, as people and JSON say it; the number for one that this program does not know.
    public var name: String {
        switch self {
        case .card: "card"
        case .note: "note"
        case .task: "task"
        case .link: "link"
        case .heading: "heading"
        default: String(rawValue)
        }
    }

    /// The kind with that name or number.
    public init?(name: String) {
        if let known = Self.known.first(where: { $0.name == name }) {
            self = known
        } else if let number = UInt32(name), number > 0 {
            self = Content.Kind(rawValue: number)
        } else {
            return nil
        }
    }
}

// MARK: - Bytes

extension WireWriter {
    package mutating func rejection(_ rejection: Rejection) {
        let fields = rejection.fields
        for field in [fields.code, fields.first, fields.second] { varint(field) }
    }
}

extension WireReader {
    package mutating func rejection() throws(WireError) -> Rejection {
        try Rejection(
            code: try varint("reason"), first: try varint("first detail"), second: try varint("second detail"))
    }
}
