import HandCore

extension Rejection {
    /// The code and up to two numbers, as on the wire.
    public var fields: (code: UInt64, first: UInt64, second: UInt64) {
        switch self {
        case .violation(.listFull(let maximum)): (1, UInt64(maximum), 0)
        case .violation(.kindNotAllowed(let kind)): (2, UInt64(kind.rawValue), 0)
        case .violation(.itemTooLarge(let size, let maximum)): (3, UInt64(size), UInt64(maximum))
        case .violation(.deckEmpty): (4, 0, 0)
        case .violation(.cardNotInDeck(let card)): (5, UInt64(card.code), 0)
        case .violation(.cardsAreDealt): (6, 0, 0)
        // A detail has at most 53 bits.
        case .duplicateItem(let id): (7, id.rawValue >> 32, id.rawValue & 0xFFFF_FFFF)
        case .doesNotFit(let reach, let count): (8, UInt64(reach), UInt64(count))
        case .revisionMoved(let now): (9, UInt64(now), 0)
        case .notStored: (10, 0, 0)
        case .tooManyPending(let limit): (11, UInt64(limit), 0)
        case .notAllowed: (12, 0, 0)
        case .storeFull(let limit): (13, UInt64(limit), 0)
        case .reasonForgotten: (14, 0, 0)
        case .violation(.levelTooHigh(let level, let maximum)): (15, UInt64(level), UInt64(maximum))
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
        case 7: self = .duplicateItem(ItemID(rawValue: first << 32 | second & 0xFFFF_FFFF))
        case 8: self = .doesNotFit(reach: number(first), count: number(second))
        case 9: self = .revisionMoved(now: number(first))
        case 10: self = .notStored
        case 11: self = .tooManyPending(limit: number(first))
        case 12: self = .notAllowed
        case 13: self = .storeFull(limit: number(first))
        case 14: self = .reasonForgotten
        case 15:
            self = .violation(.levelTooHigh(UInt8(clamping: first), maximum: UInt8(clamping: second)))
        default: throw .unknownValue(field: "reason of a rejection", found: code)
        }
        // A reason has only one encoding: unused numbers are 0, and used numbers are in range.
        guard fields == (code, first, second) else {
            throw .unknownValue(field: "details of a rejection", found: first)
        }
    }

    /// The name of the reason in JSON.
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
        case .reasonForgotten: "reasonForgotten"
        case .violation(.levelTooHigh): "levelTooHigh"
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
