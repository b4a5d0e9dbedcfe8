import HandCore

// Items, changes and rules as bytes (`Protocol.md`, “Bytes”).

extension WireWriter {
    package mutating func item(_ item: PackedItem) {
        word(item.id.rawValue)
        item.forContentBytes { raw($0) }
    }

    package mutating func item(_ item: Item) { self.item(PackedItem(item)) }

    /// Writes the fields of a change in the order of their bits; the set of fields is written elsewhere.
    package mutating func fields(of change: Change) {
        if !change.text.isIdentity { textChange(change.text) }
        if let done = change.done { flag(done) }
        if !change.url.isIdentity { textChange(change.url) }
        if let card = change.card { byte(card.code) }
        if let bytes = change.bytes { blob(bytes) }
        if let level = change.level { byte(level) }
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
        byte((rules.hasDeck ? 1 : 0) | (rules.allowedKinds == nil ? 0 : 2) | rules.maximumLevel << 4)
        guard let kinds = rules.allowedKinds else { return }
        varint(kinds.count)
        for kind in kinds.map(\.rawValue).sorted() { varint(UInt64(kind)) }
    }
}

extension WireReader {
    package mutating func item() throws(WireError) -> Item { try packedItem().item }

    /// The greatest kind, with the highest level.
    private static let maxKindAndLevel = Int(Int32.max) << 4 | 15

    /// Reads an item in the form in which lists store it: its texts are validated, but not copied.
    package mutating func packedItem() throws(WireError) -> PackedItem {
        let id = ItemID(rawValue: try word("item id"))
        let start = position
        let kind = Content.Kind(rawValue: UInt32(try count("kind and level", limit: Self.maxKindAndLevel) >> 4))
        var body = try part(try count("item body"), "item body")
        try body.checkContent(of: kind)
        return PackedItem(id: id, checked: passed(since: start))
    }

    /// Skips the body of an item of that kind, or throws what is wrong with it.
    private mutating func checkContent(of kind: Content.Kind) throws(WireError) {
        switch kind {
        case Content.Kind(rawValue: 0): throw .unknownValue(field: "item kind", found: 0)
        case .card:
            _ = try card()
            try expectEnd(of: "item body")
        case .note: try checkText(remaining, "note text")
        case .heading: try checkText(remaining, "heading text")
        case .task:
            _ = try flag("task done")
            try checkText(remaining, "task text")
        case .link:
            try checkText(try count("link text"), "link text")
            try checkText(remaining, "link URL")
        default: break
        }
    }

    private mutating func card() throws(WireError) -> Card {
        let code = try byte("card")
        guard let card = Card(code: code) else { throw .unknownValue(field: "card", found: UInt64(code)) }
        return card
    }

    package mutating func change(_ mask: UInt64) throws(WireError) -> Change {
        guard mask > 0, mask < 64 else { throw .unknownValue(field: "fields of a change", found: mask) }
        let fields = Change.Fields(rawValue: UInt8(mask))
        var change = Change()
        if fields.contains(.text) { change.text = try textChange("changed text") }
        if fields.contains(.done) { change.done = try flag("changed done") }
        if fields.contains(.url) { change.url = try textChange("changed URL") }
        if fields.contains(.card) { change.card = try card() }
        if fields.contains(.bytes) { change.bytes = try blob("changed bytes") }
        if fields.contains(.level) { change.level = try level() }
        return change
    }

    private mutating func level() throws(WireError) -> UInt8 {
        let level = try byte("changed level")
        guard level <= Item.maxLevel else { throw .unknownValue(field: "changed level", found: UInt64(level)) }
        return level
    }

    private mutating func textChange(_ field: String) throws(WireError) -> TextChange {
        // A splice takes at least three bytes.
        let number = try count("splices of a \(field)", limit: remaining / 3)
        var splices: [Splice] = []
        var end = 0
        for _ in 0..<number {
            // The absolute position must not exceed the limit of counts either.
            let maxKept = max(0, Int(Int32.max) - end)
            let at = end + (try count("bytes kept of a \(field)", limit: maxKept))
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
        guard flags & 0x0C == 0 else { throw .unknownValue(field: "flags of the rules", found: UInt64(flags)) }
        rules.hasDeck = flags & 1 != 0
        rules.maximumLevel = flags >> 4
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
