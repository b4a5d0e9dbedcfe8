import HandWire

/// What stands in front of a commit's delta, read without looking at the delta.
package struct CommitHeader {
    package static let type: UInt8 = 4

    package let revision: Int
    package let author: UInt64
    package let sequence: UInt64
    package let count: Int
    package let digest: UInt64

    /// Reads the body of a commit's frame.
    @inline(__always)
    package init(_ body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(body)
        _ = try reader.byte("message type")
        _ = try reader.varint("list")
        revision = try reader.revision("revision")
        author = try reader.varint("author")
        sequence = try reader.varint("sequence")
        _ = try reader.varint("lag")
        _ = try reader.varint("time")
        count = try reader.count("count")
        digest = try reader.word("digest")
    }
}

/// What stands in front of a chunk's items.
struct ChunkHeader {
    static let type: UInt8 = 3

    let count: Int

    /// Reads the body of a chunk's frame.
    init(_ body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(body)
        _ = try reader.byte("message type")
        _ = try reader.varint("request")
        count = try reader.count("number of items")
    }
}
