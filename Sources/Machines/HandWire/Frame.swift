import HandCore

/// A message on a stream: its length as a varint, then its type and fields.
package enum Frame {
    package static func around(_ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter(reserving: body.count + 4)
        writer.varint(body.count)
        writer.raw(body)
        return writer.bytes
    }

    /// Bytes of the length of a frame with a body of that many bytes, and of the frame in all.
    package static func size(ofBody count: Int) -> Int {
        UInt64(count).varintSize + count
    }

    /// Where each of some whole frames stands, one behind the other.
    ///
    /// - Throws: `WireError` of a frame's length, or if the last one is cut short.
    public static func places(in bytes: UnsafeRawBufferPointer) throws(WireError) -> [Range<Int>] {
        var frames = Frames(bytes)
        var places: [Range<Int>] = []
        var end = 0
        while let body = try frames.next(limit: bytes.count) {
            let start = end
            end += size(ofBody: body.count)
            places.append(start..<end)
        }
        guard end == bytes.count else { throw .truncated(field: "frame") }
        return places
    }
}

/// Cuts a stream of bytes into frames, whatever the pieces in which it arrives.
///
/// Holds no more than one unfinished frame, and of that only what has arrived.
package struct FrameReader: Sendable {
    /// The largest frame that is taken; a larger one is an error as soon as its length is known.
    package var limit: Int
    private var unfinished: [UInt8] = []

    /// Bytes that are held of it.
    package var unfinishedCount: Int { unfinished.count }

    package init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes and hands on the body of each frame that is complete, in order; `body` says whether to go on. If not,
    /// the rest is kept until the next call, which may bring no bytes at all.
    ///
    /// - Throws: `WireError` of the frame's length. What `body` throws is handed on; the reader is of no use afterwards.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(WireError) -> Bool
    ) throws(WireError) {
        var frames = frames(of: bytes)
        while let frame = try frames.next(limit: limit), try body(frame) {}
        keep(frames)
    }

    /// What was kept, and the bytes behind it, to be read one frame after the other. What is left is to be given back to
    /// `keep`.
    package mutating func frames(of bytes: UnsafeRawBufferPointer) -> Frames {
        if unfinished.isEmpty { return Frames(bytes) }
        unfinished.append(contentsOf: bytes)
        // A frame that comes in many pieces is not moved with each of them.
        guard unfinished.withUnsafeBytes({ Frames.isNextDue($0, limit: limit) }) else {
            return Frames(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        var kept: [UInt8] = []
        swap(&kept, &unfinished)
        return Frames(moving: kept)
    }

    /// Keeps what was not read. Who waits for nothing keeps no memory for it.
    package mutating func keep(_ rest: Frames) {
        if !rest.rest.isEmpty { unfinished.append(contentsOf: rest.rest) }
    }
}

/// Frames that have come, and the beginning of the next one. Valid as long as the bytes of which it was made.
public struct Frames {
    /// What has not been read yet.
    fileprivate var rest: UnsafeRawBufferPointer
    /// Keeps it where it is, if a part of it was kept from before.
    private let moved: Moved?

    private final class Moved {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ bytes: [UInt8]) {
            self.bytes = .allocate(byteCount: bytes.count, alignment: 1)
            self.bytes.copyBytes(from: bytes)
        }

        deinit { bytes.deallocate() }
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
        moved = nil
    }

    fileprivate init(moving bytes: [UInt8]) {
        let moved = Moved(bytes)
        rest = UnsafeRawBufferPointer(moved.bytes)
        self.moved = moved
    }

    /// Whether `next` has something to say of these bytes: a frame, or an error.
    fileprivate static func isNextDue(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        do {
            guard let (header, length) = try length(of: bytes, limit: limit) else { return false }
            return header + length <= bytes.count
        } catch {
            return true
        }
    }

    /// The body of the next frame, valid as long as this value; nil if there is no complete one.
    ///
    /// - Throws: `WireError` of the frame's length.
    package mutating func next(limit: Int) throws(WireError) -> UnsafeRawBufferPointer? {
        guard let (header, length) = try Self.length(of: rest, limit: limit), header + length <= rest.count else {
            return nil
        }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[(header + length)...]) }
        return UnsafeRawBufferPointer(rebasing: rest[header..<header + length])
    }

    /// Bytes of the length field and the length itself; nil if more bytes are needed to tell.
    private static func length(
        of bytes: UnsafeRawBufferPointer, limit: Int
    ) throws(WireError) -> (header: Int, length: Int)? {
        var value = 0
        for index in 0..<min(5, bytes.count) {
            let byte = bytes[index]
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
