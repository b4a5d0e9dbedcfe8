import HandCore

// Items, changes and rules as bytes (`Protocol.md`, “Items”).

extension WireWriter {
    package mutating func item(_ item: PackedItem) {
        word(item.id.rawValue)
        item.withContentBytes { raw($0) }
    }

    package mutating func item(_ item: Item) {
        word(item.id.rawValue)
        varint(UInt64(item.content.kind.rawValue))
        varint(item.content.bodySize)
        switch item.content {
        case .card(let card): byte(card.code)
        case .note(let text), .heading(let text): raw(text.utf8)
        case .task(let text, let done):
            byte(done ? 1 : 0)
            raw(text.utf8)
        case .link(let text, let url):
            string(text)
            raw(url.utf8)
        case .unknown(_, let bytes): raw(bytes)
        }
    }

    /// Writes the fields of a change in the order of their bits; the set of fields is written elsewhere.
    package mutating func fields(of change: Change) {
        if !change.text.isIdentity { textChange(change.text) }
        if let done = change.done { byte(done ? 1 : 0) }
        if !change.url.isIdentity { textChange(change.url) }
        if let card = change.card { byte(card.code) }
        if let bytes = change.bytes { blob(bytes) }
    }

    private mutating func textChange(_ change: TextChange) {
        varint(change.splices.count)
        var end = 0
        for splice in change.splices {
            varint(splice.at - end)
            string(splice.removed)
            string(splice.inserted)
            end = splice.at + splice.removed.utf8.count
        }
    }

    package mutating func rules(_ rules: Rules) {
        varint(rules.maximumCount)
        varint(rules.maximumSize)
        byte((rules.hasDeck ? 1 : 0) | (rules.allowedKinds == nil ? 0 : 2))
        guard let kinds = rules.allowedKinds else { return }
        varint(kinds.count)
        for kind in kinds.map(\.rawValue).sorted() { varint(UInt64(kind)) }
    }
}

extension WireReader {
    package mutating func item() throws(WireError) -> Item {
        let id = ItemID(rawValue: try word("item id"))
        var (kind, body) = try contentHead()
        let content = try body.content(of: kind)
        try body.expectEnd(of: "item body")
        return Item(id: id, content: content)
    }

    /// Reads an item in the form in which lists store it: validated like any other, but without decoding its texts.
    package mutating func packedItem() throws(WireError) -> PackedItem {
        let id = ItemID(rawValue: try word("item id"))
        let start = position
        var (kind, body) = try contentHead()
        try body.checkContent(of: kind)
        return PackedItem(id: id, checked: passed(since: start))
    }

    /// Reads kind and size, and returns the kind and a reader for the body.
    private mutating func contentHead() throws(WireError) -> (kind: Content.Kind, body: WireReader) {
        let kind = Content.Kind(rawValue: UInt32(try count("item kind")))
        return (kind, try part(try count("item body"), "item body"))
    }

    /// Skips a body that `content(of:)` would accept, or throws the error that it would throw.
    private mutating func checkContent(of kind: Content.Kind) throws(WireError) {
        switch kind {
        case .note: try checkText("note text")
        case .heading: try checkText("heading text")
        case .task:
            _ = try flag("task done")
            try checkText("task text")
        default:
            _ = try content(of: kind)
            try expectEnd(of: "item body")
        }
    }

    private mutating func content(of kind: Content.Kind) throws(WireError) -> Content {
        switch kind {
        case Content.Kind(rawValue: 0): throw .unknownValue(field: "item kind", found: 0)
        case .card: return .card(try card())
        case .note: return .note(try text(remaining, "note text"))
        case .task:
            let done = try flag("task done")
            return .task(try text(remaining, "task text"), done: done)
        case .link:
            let words = try string("link text")
            return .link(words, url: try text(remaining, "link URL"))
        case .heading: return .heading(try text(remaining, "heading text"))
        default: return .unknown(kind, try raw(remaining, "item body"))
        }
    }

    package mutating func flag(_ field: @autoclosure () -> String) throws(WireError) -> Bool {
        let value = try byte(field())
        guard value <= 1 else { throw .unknownValue(field: field(), found: UInt64(value)) }
        return value == 1
    }

    private mutating func card() throws(WireError) -> Card {
        let code = try byte("card")
        guard let card = Card(code: code) else { throw .unknownValue(field: "card", found: UInt64(code)) }
        return card
    }

    package mutating func change(_ mask: UInt64) throws(WireError) -> Change {
        guard mask > 0, mask < 32 else { throw .unknownValue(field: "fields of a change", found: mask) }
        let fields = Change.Fields(rawValue: UInt8(mask))
        var change = Change()
        if fields.contains(.text) { change.text = try textChange("changed text") }
        if fields.contains(.done) { change.done = try flag("changed done") }
        if fields.contains(.url) { change.url = try textChange("changed URL") }
        if fields.contains(.card) { change.card = try card() }
        if fields.contains(.bytes) { change.bytes = try blob("changed bytes") }
        return change
    }

    private mutating func textChange(_ field: String) throws(WireError) -> TextChange {
        if setsTexts { return TextChange(setting: try string(field)) }
        // A splice takes at least three bytes.
        let number = try count("splices of a \(field)", limit: remaining / 3)
        var splices: [Splice] = []
        var end = 0
        for _ in 0..<number {
            // The absolute position must not exceed the limit of counts either.
            let most = max(0, Int(Int32.max) - end)
            let at = end + (try count("bytes kept of a \(field)", limit: most))
            let splice = Splice(
                at: at, removed: try string("removed from a \(field)"), inserted: try string("inserted in a \(field)"))
            splices.append(splice)
            end = at + splice.removed.utf8.count
        }
        guard let change = TextChange(inNormalForm: splices) else { throw .notNormalForm }
        return change
    }

    package mutating func rules() throws(WireError) -> Rules {
        var rules = Rules()
        rules.maximumCount = try count("maximum number of items", limit: Rules.unlimitedCount)
        rules.maximumSize = try count("maximum size of an item")
        let flags = try byte("flags of the rules")
        guard flags < 4 else { throw .unknownValue(field: "flags of the rules", found: UInt64(flags)) }
        rules.hasDeck = flags & 1 != 0
        guard flags & 2 != 0 else { return rules }
        var kinds: Set<Content.Kind> = []
        var last = 0
        for _ in 0..<(try count("number of kinds", limit: 64)) {
            let kind = try count("allowed kind")
            // Strictly ascending, so that each set of kinds has only one encoding.
            guard kind > last else { throw .unknownValue(field: "allowed kind", found: UInt64(kind)) }
            kinds.insert(Content.Kind(rawValue: UInt32(kind)))
            last = kind
        }
        rules.allowedKinds = kinds
        return rules
    }
}
