import HandCore

/// A message on a stream: its length as a varint, then its type and fields.
public enum Frame {
    public static func around(_ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter(reserving: body.count + 4)
        writer.varint(body.count)
        writer.raw(body)
        return writer.bytes
    }

    /// Bytes of the length of a frame with a body of that many bytes, and of the frame in all.
    public static func size(ofBody count: Int) -> Int {
        UInt64(count).varintSize + count
    }
}

/// Cuts a stream of bytes into frames, whatever the pieces in which it arrives.
///
/// Holds no more than one unfinished frame, and of that only what has arrived.
public struct FrameReader: Sendable {
    /// The largest frame that is taken; a larger one is an error as soon as its length is known.
    public var limit: Int
    private var unfinished: [UInt8] = []

    /// Bytes that are held of it.
    public var unfinishedCount: Int { unfinished.count }

    public init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes and hands on the body of each frame that is complete, in order; `body` says whether to go on. If not,
    /// the rest is kept until the next call, which may bring no bytes at all.
    ///
    /// - Throws: `WireError` of the frame's length. What `body` throws is handed on; the reader is of no use afterwards.
    public mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(WireError) -> Bool
    ) throws(WireError) {
        if unfinished.isEmpty {
            let used = try cut(bytes, body)
            unfinished.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[used...]))
        } else {
            unfinished.append(contentsOf: bytes)
            var joined: [UInt8] = []
            swap(&joined, &unfinished)
            // The standard library's closure is not typed in what it throws, so the outcome is carried out as a value.
            let outcome = joined.withUnsafeBytes { all in Result { () throws(WireError) in try cut(all, body) } }
            let used = try outcome.get()
            // Who waits for nothing keeps no memory for it.
            if used == joined.count { return }
            joined.removeFirst(used)
            swap(&joined, &unfinished)
        }
    }

    /// Number of bytes of the complete frames at the front.
    private func cut(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(WireError) -> Bool
    ) throws(WireError) -> Int {
        var used = 0
        while let (header, length) = try Self.length(of: bytes[used...], limit: limit) {
            let end = used + header + length
            guard end <= bytes.count else { return used }
            let goesOn = try body(UnsafeRawBufferPointer(rebasing: bytes[(used + header)..<end]))
            used = end
            if !goesOn { return used }
        }
        return used
    }

    /// Bytes of the length field and the length itself; nil if more bytes are needed to tell.
    private static func length(
        of bytes: Slice<UnsafeRawBufferPointer>, limit: Int
    ) throws(WireError) -> (header: Int, length: Int)? {
        var value = 0
        for (index, byte) in bytes.prefix(5).enumerated() {
            if index == 4 && byte > 7 || byte == 0 && index > 0 { throw .badVarint(field: "length of a frame") }
            value |= Int(byte & 0x7F) << (7 * index)
            if byte < 0x80 {
                if value == 0 { throw .truncated(field: "message type") }
                if value > limit { throw .tooLarge(field: "length of a frame", limit: limit, found: UInt64(value)) }
                return (index + 1, value)
            }
        }
        if bytes.count >= 5 { throw .badVarint(field: "length of a frame") }
        return nil
    }
}
