import HandCore
import HandWire

/// A submission as the journal records it under its sequence, before it is sent.
public struct JournalSubmission: Equatable, Sendable {
    public let log: UInt64
    public let sequence: SequenceNumber
    public let list: String
    /// Whether the submission is an undo or a redo.
    public let step: UndoStep?
    /// The number of the user's edits in the submission.
    public let count: Int
    /// The edit, if it was made on an excerpt, so that the edit can be sent again. Other edits are in a replica.
    public let edit: ExcerptEdit?

    public init(
        log: UInt64, sequence: SequenceNumber, list: String, step: UndoStep? = nil, count: Int = 1,
        edit: ExcerptEdit? = nil
    ) {
        (self.log, self.sequence, self.list) = (log, sequence, list)
        (self.step, self.count, self.edit) = (step, count, edit)
    }
}

/// An edit made on an excerpt of a list.
public struct ExcerptEdit: Equatable, Sendable {
    public let excerpt: Excerpt
    public let delta: Delta
    public let isExact: Bool

    public init(excerpt: Excerpt, delta: Delta, isExact: Bool = false) {
        (self.excerpt, self.delta, self.isExact) = (excerpt, delta, isExact)
    }

    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.flag(isExact)
        writer.delta(delta)
        writer.excerpt(excerpt)
        return writer.bytes
    }

    package init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        isExact = try reader.flag("whether the edit is exact")
        delta = try reader.delta()
        excerpt = try reader.excerpt()
        try reader.expectEnd(of: "edit")
    }
}
