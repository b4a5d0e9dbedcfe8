import HandCore
import HandWire

/// What a client could undo and redo when it closed a list, so that the commits up to there need not be read.
public struct UndoBase: Sendable {
    let history: UndoHistory
    package let revision: Int
    /// The authors whose commits the history takes for the person's.
    let persons: Set<AuthorID>

    package init(_ replica: Replica) {
        (history, revision, persons) = (replica.history, replica.revision, replica.persons)
    }
}

// MARK: - Bytes

extension UndoBase {
    package var bytes: [UInt8] {
        var writer = WireWriter()
        history.write(to: &writer)
        writer.varint(revision)
        writer.authors(persons)
        return writer.bytes
    }

    package init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        history = try UndoHistory(&reader)
        revision = try reader.revision("revision")
        persons = try reader.authors()
        try reader.expectEnd(of: "undo history")
    }
}
