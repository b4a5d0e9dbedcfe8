import HandCore

// The outcomes of people's edits, as JSON.

extension JSON {
    /// `{"index":0,"item":"…","lost":"edit","fields":["done"],"loser":"earlier","by":"…"}`: `item` and `by` are
    /// optional.
    ///
    /// - Parameters:
    ///   - item: the id of the item at `index`; `value` itself has no id.
    ///   - person: who overrode the edit.
    package static func superseded(_ value: Superseded, item: ItemID? = nil, by person: String? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [.init("index", JSONValue(value.index))]
        if let item { members.append(.init("item", id(item))) }
        members += self.members(of: value.loss)
        members.append(.init("loser", value.loser == .earlier ? "earlier" : "later"))
        if let person { members.append(.init("by", .string(person))) }
        return .object(members)
    }

    /// `"lost":"move"`, or `"lost":"edit","fields":["done"]`, or
    /// `"lost":"words","field":"text","at":5,"original":"butter","words":"unsalted","present":"salted"`.
    package static func members(of loss: Superseded.Loss) -> [JSONValue.Member] {
        switch loss {
        case .move: [.init("lost", "move")]
        case .edit(let fields):
            [.init("lost", "edit"), .init("fields", .array(fields.names.map(JSONValue.string)))]
        case .words(let loss, let field):
            [
                .init("lost", "words"), .init("field", .string(field.names.joined())), .init("at", JSONValue(loss.at)),
                .init("original", .string(loss.original)), .init("words", .string(loss.lost)),
                .init("present", .string(loss.present)),
            ]
        }
    }

    /// Ignores `item` and `by`.
    package static func superseded(from field: JSONField) throws(FormatError) -> Superseded {
        try field.expectObject("a superseded edit")
        return Superseded(
            index: try field["index"].count(), loss: try loss(from: field),
            loser: try field["loser"].choice(["earlier": Order.earlier, "later": Order.later]))
    }

    private static func loss(from field: JSONField) throws(FormatError) -> Superseded.Loss {
        switch try field["lost"].choice(["move": "move", "edit": "edit", "words": "words"]) {
        case "move": return .move
        case "edit": return .edit(try fields(from: field["fields"]))
        default:
            let loss = TextChange.Loss(
                at: try field["at"].count(), original: try field["original"].string(),
                lost: try field["words"].string(), present: try field["present"].string())
            return .words(loss, in: try field["field"].choice(["text": Change.Fields.text, "url": .url]))
        }
    }

    private static func fields(from field: JSONField) throws(FormatError) -> Change.Fields {
        try field.list { (name) throws(FormatError) in
            try name.choice([
                "text": Change.Fields.text, "done": .done, "url": .url, "card": .card, "bytes": .bytes,
            ])
        }.reduce(into: []) { $0.formUnion($1) }
    }
}

// MARK: - Rejections

extension JSON {
    /// `{"reason":"listFull","message":"…","maximum":5}`: the reason for programs, the message for people,
    /// then the fields of that reason.
    package static func rejection(_ rejection: Rejection) -> JSONValue {
        .object(
            [.init("reason", .string(rejection.name)), .init("message", .string(rejection.description))]
                + details(of: rejection))
    }

    private static func details(of rejection: Rejection) -> [JSONValue.Member] {
        switch rejection {
        case .violation(.listFull(let maximum)): [.init("maximum", JSONValue(maximum))]
        case .violation(.kindNotAllowed(let kind)): [.init("kind", self.kind(kind))]
        case .violation(.itemTooLarge(let size, let maximum)):
            [.init("size", JSONValue(size)), .init("maximum", JSONValue(maximum))]
        case .violation(.cardNotInDeck(let card)): [.init("card", .string(card.description))]
        case .violation(.deckEmpty), .violation(.cardsAreDealt), .notStored, .notAllowed, .reasonForgotten: []
        case .duplicateItem(let item): [.init("item", id(item))]
        case .doesNotFit(let reach, let count):
            [.init("reach", JSONValue(reach)), .init("count", JSONValue(count))]
        case .revisionMoved(let now): [.init("revision", JSONValue(now))]
        case .tooManyPending(let limit), .storeFull(let limit): [.init("limit", JSONValue(limit))]
        }
    }

    /// Ignores `message`, which follows from the other fields.
    package static func rejection(from field: JSONField) throws(FormatError) -> Rejection {
        try field.expectObject("a rejection")
        switch try field["reason"].string() {
        case "listFull": return .violation(.listFull(maximum: try field["maximum"].number()))
        case "kindNotAllowed": return .violation(.kindNotAllowed(try kind(from: field["kind"])))
        case "itemTooLarge":
            return .violation(
                .itemTooLarge(size: try field["size"].number(), maximum: try field["maximum"].number()))
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
