/// A run of memory that only grows at its end: commits as encoded frames, one behind the other.
///
/// Connections write from a segment to their sockets while later frames are appended, so a segment is a reference and
/// never copied. `@unchecked Sendable` is safe: bytes that a run covers are never written again, other threads read
/// only these bytes and nothing else that changes, and only the list's authority, on one thread, appends.
package final class Segment: @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    private(set) var count = 0

    static let standardCapacity = 64 << 10

    init(capacity: Int) {
        self.capacity = capacity
        base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        base.deallocate()
    }

    func hasRoom(for bytes: Int) -> Bool { capacity - count >= bytes }

    /// - Precondition: there is room.
    func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    /// - Precondition: there is room.
    func append(_ bytes: UnsafeRawBufferPointer) {
        precondition(hasRoom(for: bytes.count), "a segment is full")
        guard let start = bytes.baseAddress else { return }
        base.advanced(by: count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    /// Forgets the bytes that were appended behind `count`, which nobody has seen.
    func truncate(to count: Int) { self.count = count }

    /// The bytes at `range`, valid while the segment lives. Any thread may call this, so it does not look at `count`,
    /// which may be changing.
    ///
    /// - Precondition: the bytes were appended.
    package func bytes(in range: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(range.upperBound <= capacity, "beyond the end of a segment")
        return UnsafeRawBufferPointer(start: base.advanced(by: range.lowerBound), count: range.count)
    }
}

/// Some frames that are contiguous in memory.
public struct FrameRun: Sendable {
    package let segment: Segment
    package let range: Range<Int>

    public var bytes: UnsafeRawBufferPointer { segment.bytes(in: range) }

    init(segment: Segment, range: Range<Int>) {
        precondition(range.upperBound <= segment.count, "beyond what was appended to a segment")
        self.segment = segment
        self.range = range
    }

    /// Bytes that are copied to the end of a segment, which has room for them.
    init(copying bytes: UnsafeRawBufferPointer, to segment: Segment) {
        let start = segment.count
        segment.append(bytes)
        self.init(segment: segment, range: start..<segment.count)
    }

    /// Frames in a segment of their own: an answer to one client.
    init(_ bytes: [UInt8]) {
        segment = Segment(capacity: bytes.count)
        segment.append(bytes)
        range = 0..<bytes.count
    }
}
