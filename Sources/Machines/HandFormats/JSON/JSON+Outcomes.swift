import HandCore

// The outcomes of people's edits, as JSON.

extension JSON {
    /// `"lost":"move"`, or `"lost":"edit","fields":["done"]`, or
    /// `"lost":"words","field":"text","at":5,"original":"butter","words":"unsalted","present":"salted"`.
    package static func members(of loss: Superseded.Loss) -> [JSONValue.Member] {
        switch loss {
        case .move: .init(["lost": "move"])
        case .edit(let fields): .init(["lost": "edit", "fields": fields.names])
        case .words(let loss, let field):
            .init([
                "lost": "words", "field": field.names.joined(), "at": loss.at, "original": loss.original,
                "words": loss.lost, "present": loss.present,
            ])
        }
    }
}

// MARK: - Rejections

extension JSON {
    /// `{"reason":"listFull","message":"…","maximum":5}`: the reason for programs, the message for people,
    /// then the fields of that reason.
    package static func rejection(_ rejection: Rejection) -> JSONValue {
        .object(.init(["reason": rejection.name, "message": rejection.description]) + details(of: rejection))
    }

    private static func details(of rejection: Rejection) -> [JSONValue.Member] {
        switch rejection {
        case .violation(.listFull(let maximum)): .init(["maximum": maximum])
        case .violation(.kindNotAllowed(let kind)): .init(["kind": self.kind(kind)])
        case .violation(.itemTooLarge(let size, let maximum)): .init(["size": size, "maximum": maximum])
        case .violation(.levelTooHigh(let level, let maximum)): .init(["level": Int(level), "maximum": Int(maximum)])
        case .violation(.cardNotInDeck(let card)): .init(["card": card.description])
        case .violation(.deckEmpty), .violation(.cardsAreDealt), .notStored, .notAllowed, .reasonForgotten: []
        case .duplicateItem(let item): .init(["item": id(item)])
        case .doesNotFit(let reach, let count): .init(["reach": reach, "count": count])
        case .revisionMoved(let now): .init(["revision": now])
        case .tooManyPending(let limit), .storeFull(let limit): .init(["limit": limit])
        }
    }

    /// Ignores `message`, which follows from the other fields.
    package static func rejection(from field: JSONField) throws(FormatError) -> Rejection {
        try field.expectObject("a rejection")
        switch try field["reason"].string() {
        case "listFull": return .violation(.listFull(maximum: try field["maximum"].number()))
        case "kindNotAllowed": return .violation(.kindNotAllowed(try kind(from: field["kind"])))
        case "itemTooLarge":
            return .violation(.itemTooLarge(size: try field["size"].number(), maximum: try field["maximum"].number()))
        case "levelTooHigh":
            return .violation(
                .levelTooHigh(try level(from: field["level"]), maximum: try level(from: field["maximum"])))
        case "deckEmpty": return .violation(.deckEmpty)
        case "cardNotInDeck": return .violation(.cardNotInDeck(try card(from: field["card"])))
        case "cardsAreDealt": return .violation(.cardsAreDealt)
        case "duplicateItem": return .duplicateItem(try field["item"].id())
        case "doesNotFit":
            return .doesNotFit(reach: try field["reach"].number(), count: try field["count"].number())
        case "revisionMoved": return .revisionMoved(now: try field["revision"].revision())
        case "notStored": return .notStored
        case "notAllowed": return .notAllowed
        case "reasonForgotten": return .reasonForgotten
        case "tooManyPending": return .tooManyPending(limit: try field["limit"].number())
        case "storeFull": return .storeFull(limit: try field["limit"].number())
        default: throw field["reason"].mismatch("the reason of a rejection")
        }
    }
}

extension JSONField {
    /// Reads a number of a rejection, as large as the wire format allows.
    fileprivate func number() throws(FormatError) -> Int {
        try integer(0...Int.max)
    }
}
