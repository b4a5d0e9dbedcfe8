import HandCore

extension Rejection {
    private enum Code: UInt64 {
        case listFull = 1
        case kindNotAllowed, itemTooLarge, deckEmpty, cardNotInDeck, cardsAreDealt, duplicateItem, doesNotFit
        case revisionMoved, notStored, tooManyPending, notAllowed, storeFull, reasonForgotten, levelTooHigh
    }

    /// The code and up to two numbers, as on the wire.
    public var fields: (code: UInt64, first: UInt64, second: UInt64) {
        let (code, first, second) = parts
        return (code.rawValue, first, second)
    }

    private var parts: (code: Code, first: UInt64, second: UInt64) {
        switch self {
        case .violation(.listFull(let maximum)): (.listFull, UInt64(maximum), 0)
        case .violation(.kindNotAllowed(let kind)): (.kindNotAllowed, UInt64(kind.rawValue), 0)
        case .violation(.itemTooLarge(let size, let maximum)): (.itemTooLarge, UInt64(size), UInt64(maximum))
        case .violation(.deckEmpty): (.deckEmpty, 0, 0)
        case .violation(.cardNotInDeck(let card)): (.cardNotInDeck, UInt64(card.code), 0)
        case .violation(.cardsAreDealt): (.cardsAreDealt, 0, 0)
        // A detail has at most 53 bits.
        case .duplicateItem(let id): (.duplicateItem, id.rawValue >> 32, id.rawValue & 0xFFFF_FFFF)
        case .doesNotFit(let reach, let count): (.doesNotFit, UInt64(reach), UInt64(count))
        case .revisionMoved(let now): (.revisionMoved, UInt64(now), 0)
        case .notStored: (.notStored, 0, 0)
        case .tooManyPending(let limit): (.tooManyPending, UInt64(limit), 0)
        case .notAllowed: (.notAllowed, 0, 0)
        case .storeFull(let limit): (.storeFull, UInt64(limit), 0)
        case .reasonForgotten: (.reasonForgotten, 0, 0)
        case .violation(.levelTooHigh(let level, let maximum)): (.levelTooHigh, UInt64(level), UInt64(maximum))
        }
    }

    public init(code: UInt64, first: UInt64, second: UInt64) throws(WireError) {
        func number(_ value: UInt64) -> Int { Int(clamping: value) }
        switch Code(rawValue: code) {
        case .listFull?: self = .violation(.listFull(maximum: number(first)))
        case .kindNotAllowed?: self = .violation(.kindNotAllowed(Content.Kind(rawValue: UInt32(clamping: first))))
        case .itemTooLarge?: self = .violation(.itemTooLarge(size: number(first), maximum: number(second)))
        case .deckEmpty?: self = .violation(.deckEmpty)
        case .cardNotInDeck?: self = .violation(.cardNotInDeck(Card(code: UInt8(clamping: first)) ?? .faceDown))
        case .cardsAreDealt?: self = .violation(.cardsAreDealt)
        case .duplicateItem?: self = .duplicateItem(ItemID(rawValue: first << 32 | second & 0xFFFF_FFFF))
        case .doesNotFit?: self = .doesNotFit(reach: number(first), count: number(second))
        case .revisionMoved?: self = .revisionMoved(now: number(first))
        case .notStored?: self = .notStored
        case .tooManyPending?: self = .tooManyPending(limit: number(first))
        case .notAllowed?: self = .notAllowed
        case .storeFull?: self = .storeFull(limit: number(first))
        case .reasonForgotten?: self = .reasonForgotten
        case .levelTooHigh?:
            self = .violation(.levelTooHigh(UInt8(clamping: first), maximum: UInt8(clamping: second)))
        case nil: throw .unknownValue(field: "reason of a rejection", found: code)
        }
        // A reason has only one encoding: unused numbers are 0, and used numbers are in range.
        guard fields == (code, first, second) else {
            throw .unknownValue(field: "details of a rejection", found: first)
        }
    }

    /// The name of the reason in JSON.
    public var name: String { "\(parts.code)" }
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
