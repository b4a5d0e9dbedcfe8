import HandCore
import HandWire

/// Writes deltas as they were before version 3 of the protocol: they set texts.
enum FormerWriter {
    /// Returns the frame of a commit that was made on `list`.
    static func frame(_ commit: Commit, in number: UInt64, on list: Hand) throws -> [UInt8] {
        var body = WireWriter()
        body.byte(DownMessage.commitType)
        body.varint(number)
        body.raw(try bytes(commit, on: list))
        return Frame.around(body.bytes)
    }

    static func bytes(_ commit: Commit, on list: Hand) throws -> [UInt8] {
        var header = commit
        header.delta = .identity
        var writer = WireWriter()
        writer.commit(header)
        // The header ends with the number of components, which is 0.
        return writer.bytes.dropLast() + (try bytes(commit.delta, on: list))
    }

    static func bytes(_ delta: Delta, on list: Hand) throws -> [UInt8] {
        var (old, picked): (Int, [Int]) = (0, [])
        for component in delta.components {
            switch component {
            case .keep(let count), .delete(let count): old += count
            case .edit: old += 1
            case .pick(let count):
                picked += old..<old + count
                old += count
            case .insert, .drop: break
            }
        }
        var writer = WireWriter()
        writer.varint(delta.componentCount)
        old = 0
        func head(_ number: Int, _ code: Int) { writer.varint(UInt64(number << 3 | code)) }
        for component in delta.components {
            switch component {
            case .keep(let count): head(count, 0)
            case .edit(let change):
                head(Int(change.fields.rawValue), 1)
                try write(change, to: list[old].content, &writer)
            case .delete(let count): head(count, 2)
            case .pick(let count): head(count, 3)
            case .insert(let items, let side):
                head(items.count, 4 + Int(side.rawValue))
                for item in items { writer.item(item) }
            case .drop(let slots, let side, let change):
                head(slots.count, 6 + Int(side.rawValue))
                writer.varint(UInt64(slots.lowerBound << 1 | (change == nil ? 0 : 1)))
                if let change {
                    writer.varint(UInt64(change.fields.rawValue))
                    try write(change, to: list[picked[slots.lowerBound]].content, &writer)
                }
            }
            switch component {
            case .keep(let count), .delete(let count), .pick(let count): old += count
            case .edit: old += 1
            case .insert, .drop: break
            }
        }
        return writer.bytes
    }

    private static func write(_ change: Change, to content: Content, _ writer: inout WireWriter) throws {
        let after = try content.applying(change)
        if change.fields.contains(.text) { writer.string(after.text) }
        if let done = change.done { writer.byte(done ? 1 : 0) }
        if change.fields.contains(.url), case .link(_, let url) = after { writer.string(url) }
        if let card = change.card { writer.byte(card.code) }
        if let bytes = change.bytes { writer.blob(bytes) }
    }
}
