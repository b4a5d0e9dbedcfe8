import HandCore

/// The fields before a commit's delta. They can be decoded from a frame without decoding the delta.
package struct CommitHeader {
    package let revision: Int
    package let author: AuthorID
    package let sequence: SequenceNumber
    /// The number of revisions from the base to the commit's revision; 0 if the submission was refused and a reason
    /// replaces the delta.
    let lag: Int
    let time: UInt64
    package let count: Int
    package let digest: UInt64

    package var isRefusal: Bool { lag == 0 }

    /// Decodes the body of a commit's frame.
    package init(_ body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(body)
        _ = try reader.byte("message type")
        _ = try reader.number("list") as ListNumber
        try self.init(&reader)
    }

    init(_ reader: inout WireReader) throws(WireError) {
        revision = try reader.revision("revision")
        author = try reader.number("author")
        sequence = try reader.number("sequence")
        lag = try reader.count("revisions since the base", limit: revision)
        time = try reader.varint("time")
        count = try reader.count("number of items")
        digest = try reader.word("digest")
    }
}

extension DownMessage {
    /// Returns the number of items in a chunk, given the body of its frame.
    package static func countOfChunk(_ body: UnsafeRawBufferPointer) throws(WireError) -> Int {
        var reader = WireReader(body)
        _ = try reader.byte("message type")
        _ = try reader.number("request") as RequestNumber
        return try reader.count("number of items")
    }
}
