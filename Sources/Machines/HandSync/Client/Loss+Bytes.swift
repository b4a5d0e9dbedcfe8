import HandCore
import HandWire

// Losses as a journal stores them.

extension Loss {
    public var bytes: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .refused(let reason, let pieces):
            writer.byte(0)
            writer.rejection(reason)
            writer.varint(pieces.count)
            for piece in pieces { writer.piece(piece) }
        case .overridden(let item, let loss, let override):
            writer.byte(1)
            writer.item(item)
            writer.loss(loss)
            writer.number(override.author)
            writer.varint(override.revision)
            writer.flag(override.deletesItem)
            writer.optional(override.behind)
        }
        return writer.bytes
    }

    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        if try reader.flag("kind of loss") {
            let (item, loss) = (try reader.item(), try reader.loss())
            let override = Override(
                author: try reader.number("author"), revision: try reader.revision("revision"),
                deletesItem: try reader.flag("whether the item was deleted"), behind: try reader.optionalItem())
            self = .overridden(item, loss, by: override)
        } else {
            let reason = try reader.rejection()
            let pieces = try reader.list("pieces", size: 1) { (reader) throws(WireError) in try reader.piece() }
            self = .refused(reason, pieces)
        }
        try reader.expectEnd(of: "loss")
    }
}

extension WireWriter {
    fileprivate mutating func piece(_ piece: Loss.Piece) {
        switch piece {
        case .insert(let item, let behind):
            byte(0)
            self.item(item)
            optional(behind)
        case .edit(let change, let item):
            byte(1)
            self.item(item)
            self.change(change)
        case .move(let item, let behind):
            byte(2)
            self.item(item)
            optional(behind)
        case .delete(let item):
            byte(3)
            self.item(item)
        }
    }

    fileprivate mutating func loss(_ loss: Superseded.Loss) {
        switch loss {
        case .move: byte(0)
        case .edit(let fields):
            byte(1)
            byte(fields.rawValue)
        case .words(let words, let field):
            byte(2)
            byte(field.rawValue)
            varint(words.at)
            for text in [words.original, words.lost, words.present] { string(text) }
        }
    }

    fileprivate mutating func optional(_ item: ItemID?) {
        flag(item != nil)
        if let item { word(item.rawValue) }
    }

    /// Writes the set of fields, then the fields.
    package mutating func change(_ change: Change) {
        byte(change.fields.rawValue)
        fields(of: change)
    }
}

extension WireReader {
    fileprivate mutating func piece() throws(WireError) -> Loss.Piece {
        let number = try byte("kind of piece")
        let item = try item()
        switch number {
        case 0: return .insert(item, behind: try optionalItem())
        case 1: return .edit(try change(), of: item)
        case 2: return .move(item, behind: try optionalItem())
        case 3: return .delete(item)
        default: throw .unknownValue(field: "kind of piece", found: UInt64(number))
        }
    }

    fileprivate mutating func loss() throws(WireError) -> Superseded.Loss {
        let number = try byte("kind of loss")
        switch number {
        case 0: return .move
        case 1: return .edit(Change.Fields(rawValue: try byte("fields")))
        case 2:
            let field = Change.Fields(rawValue: try byte("field"))
            let words = TextChange.Loss(
                at: try count("position"), original: try string("original"), lost: try string("lost words"),
                present: try string("present words"))
            return .words(words, in: field)
        default: throw .unknownValue(field: "kind of loss", found: UInt64(number))
        }
    }

    fileprivate mutating func optionalItem() throws(WireError) -> ItemID? {
        try flag("whether there is an item") ? ItemID(rawValue: try word("item id")) : nil
    }

    package mutating func change() throws(WireError) -> Change {
        let mask = try byte("fields of a change")
        return mask == 0 ? Change() : try change(UInt64(mask))
    }
}
