import HandCore

/// A message on a stream: its length as a varint, then its type and fields.
package enum Frame {
    package static func around(_ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter(reserving: body.count)
        writer.raw(body)
        return writer.frame
    }

    /// Returns the size in bytes of a frame, length field included, for a body of `count` bytes.
    package static func size(ofBody count: Int) -> Int { UInt64(count).varintSize + count }

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
/// A reader stores only the bytes that have arrived and were not read. These bytes are stored in pieces and take about
/// as much memory as there are bytes; a large array that grows would take several times its size.
package struct FrameReader: Sendable {
    /// The size of the largest accepted frame, in bytes; a larger one is an error as soon as its length is known.
    package var limit: Int
    /// All pieces but the last are full.
    private var pieces: [[UInt8]] = []
    /// Pieces that were joined; the last bytes of them were not read. While there are such bytes, there are no pieces.
    private var joined: Frames.Memory?
    /// The number of stored bytes that were not read.
    package private(set) var unfinishedCount = 0

    /// The memory that the stored bytes take, in bytes.
    package var memory: Int {
        unfinishedCount == 0 ? 0 : pieces.reduce(joined?.bytes.count ?? 0) { $0 + $1.capacity }
    }

    private static let pieceSize = 64 << 10

    package init(limit: Int) { self.limit = limit }

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

    /// Returns the stored bytes followed by `bytes`, to be read frame by frame. Pass what remains of the frames to
    /// `keep`.
    package mutating func frames(of bytes: UnsafeRawBufferPointer) -> Frames {
        if unfinishedCount == 0 { return Frames(bytes) }
        if let joined = joined.take() {
            let count = unfinishedCount
            unfinishedCount = 0
            if bytes.isEmpty { return Frames(joined, unread: count) }
            add(joined.suffix(count))
        }
        add(bytes)
        // A frame that arrives in many pieces is not copied for each of them.
        let isDue = pieces[0].withUnsafeBytes { Frames.isNextDue($0, of: unfinishedCount, limit: limit) }
        guard isDue else { return Frames(UnsafeRawBufferPointer(start: nil, count: 0)) }
        defer { (pieces, unfinishedCount) = ([], 0) }
        return Frames(Frames.Memory(pieces, count: unfinishedCount), unread: unfinishedCount)
    }

    /// Stores the unread bytes. A reader without unread bytes uses no memory.
    package mutating func keep(_ rest: Frames) {
        if rest.isEmpty { return }
        // Frames that are read one at a time, with pauses, are not copied each time.
        if let memory = rest.memoryIfMostIsLeft, unfinishedCount == 0 {
            (joined, unfinishedCount) = (memory, rest.rest.count)
        } else {
            add(rest.rest)
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        unfinishedCount += bytes.count
        var rest = bytes[...]
        while !rest.isEmpty {
            if pieces.last?.count ?? Self.pieceSize == Self.pieceSize {
                pieces.append([])
                if pieces.count > 1 { pieces[pieces.count - 1].reserveCapacity(Self.pieceSize) }
            }
            let part = rest.prefix(Self.pieceSize - pieces[pieces.count - 1].count)
            pieces[pieces.count - 1].append(contentsOf: part)
            rest = rest[part.endIndex...]
        }
    }
}

/// Received frames, and the beginning of the next one. Valid as long as the bytes that it was created from.
public struct Frames {
    /// The unread bytes.
    fileprivate var rest: UnsafeRawBufferPointer
    /// Owns the bytes, if a part of them was stored earlier.
    private let memory: Memory?

    /// `@unchecked Sendable` is safe: its bytes do not change.
    fileprivate final class Memory: @unchecked Sendable {
        let bytes: UnsafeRawBufferPointer

        init(_ pieces: [[UInt8]], count: Int) {
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
            var start = 0
            for piece in pieces {
                UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyBytes(from: piece)
                start += piece.count
            }
            self.bytes = UnsafeRawBufferPointer(bytes)
        }

        deinit { bytes.deallocate() }

        func suffix(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes.suffix(count)) }
    }

    package var isEmpty: Bool { rest.isEmpty }

    package init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
        memory = nil
    }

    fileprivate init(_ memory: Memory, unread count: Int) {
        rest = memory.suffix(count)
        self.memory = memory
    }

    /// The memory whose last bytes are the unread ones; nil if this value does not own the bytes, or if so few are
    /// unread that keeping the memory of all would be a waste.
    fileprivate var memoryIfMostIsLeft: Memory? {
        guard let memory, rest.count > memory.bytes.count / 2 else { return nil }
        return memory
    }

    /// Whether `next` would return a frame, or throw an error, if there were `count` bytes, of which `bytes` are the
    /// first.
    fileprivate static func isNextDue(_ bytes: UnsafeRawBufferPointer, of count: Int, limit: Int) -> Bool {
        do {
            guard let (header, length) = try length(of: bytes, limit: limit) else { return false }
            return header + length <= count
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
