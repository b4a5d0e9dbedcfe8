import HandCore

/// A message on a stream: its length as a varint, then its type and fields.
package enum Frame {
    package static func around(_ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter(reserving: body.count)
        writer.raw(body)
        return writer.frame
    }

    /// Returns the size in bytes of a frame, length field included, for a body of `count` bytes.
    package static func size(ofBody count: Int) -> Int {
        UInt64(count).varintSize + count
    }

    /// Returns the range of each frame in a sequence of complete frames.
    ///
    /// - Throws: `WireError` if a frame's length is invalid, or if the last frame is truncated.
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

/// Splits a stream of bytes into frames, regardless of the pieces in which it arrives.
///
/// It stores at most one incomplete frame, and only the bytes of it that have arrived.
package struct FrameReader: Sendable {
    /// The size of the largest accepted frame, in bytes; a larger one is an error as soon as its length is known.
    package var limit: Int
    private var unfinished: [UInt8] = []

    /// The number of stored bytes of the incomplete frame.
    package var unfinishedCount: Int { unfinished.count }

    package init(limit: Int) {
        self.limit = limit
    }

    /// Consumes bytes and calls `body` with the body of each complete frame, in order, until `body` returns false. The
    /// rest is then kept until the next call, which may pass no bytes at all.
    ///
    /// - Throws: `WireError` if a frame's length is invalid. Errors of `body` are rethrown; the reader is unusable
    ///   afterwards.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(WireError) -> Bool
    ) throws(WireError) {
        var frames = frames(of: bytes)
        while let frame = try frames.next(limit: limit), try body(frame) {}
        keep(frames)
    }

    /// Returns the stored bytes followed by `bytes`, to be read frame by frame. Pass what remains of them to `keep`.
    package mutating func frames(of bytes: UnsafeRawBufferPointer) -> Frames {
        if unfinished.isEmpty { return Frames(bytes) }
        unfinished.append(contentsOf: bytes)
        // A frame that arrives in many pieces is not copied for each of them.
        guard unfinished.withUnsafeBytes({ Frames.isNextDue($0, limit: limit) }) else {
            return Frames(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        var kept: [UInt8] = []
        swap(&kept, &unfinished)
        return Frames(moving: kept)
    }

    /// Stores the unread bytes. A reader without an incomplete frame uses no memory.
    package mutating func keep(_ rest: Frames) {
        if !rest.rest.isEmpty { unfinished.append(contentsOf: rest.rest) }
    }
}

/// Received frames, and the beginning of the next one. Valid as long as the bytes that it was created from.
public struct Frames {
    /// The unread bytes.
    fileprivate var rest: UnsafeRawBufferPointer
    /// Owns the bytes, if a part of them was stored earlier.
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

    /// Whether `next` would return a frame of these bytes or throw an error.
    fileprivate static func isNextDue(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        do {
            guard let (header, length) = try length(of: bytes, limit: limit) else { return false }
            return header + length <= bytes.count
        } catch {
            return true
        }
    }

    /// Returns the body of the next frame, valid as long as this value, or nil if there is no complete one.
    ///
    /// - Throws: `WireError` if the frame's length is invalid.
    package mutating func next(limit: Int) throws(WireError) -> UnsafeRawBufferPointer? {
        guard let (header, length) = try Self.length(of: rest, limit: limit), header + length <= rest.count else {
            return nil
        }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[(header + length)...]) }
        return UnsafeRawBufferPointer(rebasing: rest[header..<header + length])
    }

    /// Returns the size of the length field and the length itself, or nil if more bytes are needed.
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
