import HandCore

/// The JSON forms of the model (`Tests/Data/Vectors/README.md`). Written objects have their fields in a fixed order and
/// fit on one line; read objects may have them in any order.
///
/// Every reading function throws `FormatError` with the path of the field that is wrong.
package enum JSON {}

// MARK: - Items

extension JSON {
    /// `{"id":"…","kind":"task","text":"…","done":false,"level":0}`.
    package static func item(_ item: Item) -> JSONValue {
        .object([JSONValue.Member("id", id(item.id))] + members(of: item))
    }

    package static func items(_ items: some Sequence<Item>) -> JSONValue {
        .array(items.map(item))
    }

    /// Returns the fields of an item without its id: the kind, the fields of that kind, and the level.
    package static func members(of item: Item) -> [JSONValue.Member] {
        [JSONValue.Member("kind", kind(item.content.kind))] + item.content.accept(Fields())
            + [JSONValue.Member("level", JSONValue(Int(item.level)))]
    }

    package static func id(_ id: ItemID) -> JSONValue {
        .string(id.description)
    }

    /// Returns the name of a known kind, or the number of any other kind.
    package static func kind(_ kind: Content.Kind) -> JSONValue {
        Content.Kind.known.contains(kind) ? .string(kind.name) : JSONValue(kind.rawValue)
    }

    package static func item(from field: JSONField) throws(FormatError) -> Item {
        try field.expectObject("an item")
        return Item(id: try field["id"].id(), level: try level(from: field["level"]), content: try content(from: field))
    }

    /// Reads a level; 0 if there is none.
    static func level(from field: JSONField) throws(FormatError) -> UInt8 {
        guard field.isPresent else { return 0 }
        let level = try field.count()
        guard level <= Item.maxLevel else { throw field.mismatch("a level from 0 to \(Item.maxLevel)") }
        return UInt8(level)
    }

    /// Reads the content of an item. The item must have all fields of its kind and no field of another kind. Fields
    /// that belong to no kind are ignored.
    static func content(from field: JSONField) throws(FormatError) -> Content {
        try field.expectObject("an item")
        let kind = try kind(from: field["kind"])
        if let name = fields.first(where: { !kind.fields.contains($0.field) && field.value?[$0.name] != nil })?.name {
            throw field[name].mismatch("no such field in a \(kind.name)")
        }
        switch kind {
        case .card: return .card(try card(from: field["card"]))
        case .note: return .note(try field["text"].string())
        case .task: return .task(try field["text"].string(), done: try field["done"].bool())
        case .link: return .link(try field["text"].string(), url: try field["url"].string())
        case .heading: return .heading(try field["text"].string())
        default: return .unknown(kind, try field["bytes"].base64())
        }
    }

    /// The names of all fields of items.
    static let names = ["id", "kind"] + fields.map(\.name)

    /// The fields of all kinds, with their names.
    private static let fields = (0..<6).map { bit in
        let field = Change.Fields(rawValue: 1 << bit)
        return (field: field, name: field.names[0])
    }

    package static func kind(from field: JSONField) throws(FormatError) -> Content.Kind {
        switch field.value {
        case .string(let name):
            if let known = Content.Kind.known.first(where: { $0.name == name }) { return known }
        case .integer(let number) where (1...Int128(Int32.max)).contains(number):
            return Content.Kind(rawValue: UInt32(number))
        default: break
        }
        throw field.mismatch("the name of a kind or a number")
    }

    static func card(from field: JSONField) throws(FormatError) -> Card {
        try field.text("a card such as \"Q♠\" or \"??\"", Card.init)
    }
}

private struct Fields: ContentVisitor {
    typealias Member = JSONValue.Member

    func visit(card: Card) -> [Member] { [Member("card", .string(card.description))] }
    func visit(note text: String) -> [Member] { [Member("text", .string(text))] }
    func visit(task text: String, done: Bool) -> [Member] {
        [Member("text", .string(text)), Member("done", .bool(done))]
    }
    func visit(link text: String, url: String) -> [Member] {
        [Member("text", .string(text)), Member("url", .string(url))]
    }
    func visit(heading text: String) -> [Member] { [Member("text", .string(text))] }
    func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> [Member] {
        [Member("bytes", .string(Base64.text(bytes)))]
    }
}

// MARK: - Changes

extension JSON {
    /// `{"text":[…],"done":true,"url":[…],"card":"Q♠","bytes":"…","level":1}`, with only the fields that change.
    package static func change(_ change: Change) -> JSONValue {
        JSONValue(fields: [
            "text": change.text.isIdentity ? nil : splices(change.text), "done": change.done,
            "url": change.url.isIdentity ? nil : splices(change.url), "card": change.card?.description,
            "bytes": change.bytes.map(Base64.text), "level": change.level.map { Int($0) },
        ])
    }

    /// `[{"at":5,"removed":"milk","inserted":"oat milk"}]`: `at` counts bytes of UTF-8.
    package static func splices(_ change: TextChange) -> JSONValue {
        .array(change.splices.map { JSONValue(fields: ["at": $0.at, "removed": $0.removed, "inserted": $0.inserted]) })
    }

    package static func change(from field: JSONField) throws(FormatError) -> Change {
        let names = fields.map(\.name)
        try field.expectObject("a change", only: names)
        var change = Change()
        if field["text"].isPresent { change.text = try textChange(from: field["text"]) }
        if field["done"].isPresent { change.done = try field["done"].bool() }
        if field["url"].isPresent { change.url = try textChange(from: field["url"]) }
        if field["card"].isPresent { change.card = try card(from: field["card"]) }
        if field["bytes"].isPresent { change.bytes = try field["bytes"].base64() }
        if field["level"].isPresent { change.level = try level(from: field["level"]) }
        guard !change.isEmpty else {
            throw field.mismatch("at least one of the fields " + names.joined(separator: ", "))
        }
        return change
    }

    static func textChange(from field: JSONField) throws(FormatError) -> TextChange {
        let splices = try field.list { (splice) throws(FormatError) in
            try splice.expectObject("a splice", only: ["at", "removed", "inserted"])
            return Splice(
                at: try splice["at"].count(), removed: try splice["removed"].string(),
                inserted: try splice["inserted"].string())
        }
        do { return try TextChange(splices) } catch {
            throw field.mismatch("splices that stand in order and do not overlap")
        }
    }
}

// MARK: - Rules

extension JSON {
    /// `{"maximumCount":5,"maximumSize":16384,"maximumLevel":0,"kinds":["card"],"deck":true}`; without `kinds` if all
    /// kinds are allowed.
    package static func rules(_ rules: Rules) -> JSONValue {
        let kinds = rules.allowedKinds?.sorted { $0.rawValue < $1.rawValue }
        return JSONValue(fields: [
            "maximumCount": rules.maximumCount, "maximumSize": rules.maximumSize,
            "maximumLevel": Int(rules.maximumLevel), "kinds": kinds?.map(kind), "deck": rules.hasDeck,
        ])
    }

    /// A missing field gets its default value.
    package static func rules(from field: JSONField) throws(FormatError) -> Rules {
        try field.expectObject("rules", only: ["maximumCount", "maximumSize", "maximumLevel", "kinds", "deck"])
        var rules = Rules(hasDeck: field["deck"].isPresent ? try field["deck"].bool() : false)
        if field["maximumCount"].isPresent { rules.maximumCount = try field["maximumCount"].count() }
        if field["maximumSize"].isPresent { rules.maximumSize = try field["maximumSize"].count() }
        if field["kinds"].isPresent {
            let kinds = try field["kinds"].list(kind(from:))
            // The limit of the binary codec.
            guard kinds.count <= 64 else { throw field["kinds"].mismatch("at most 64 kinds") }
            rules.allowedKinds = Set(kinds)
        }
        if field["maximumLevel"].isPresent { rules.maximumLevel = try level(from: field["maximumLevel"]) }
        return rules
    }
}
