import HandCore

/// Writes fields one after the other.
///
/// The server writes each commit with a writer, so a writer is plain memory and a position: an array would check its
/// owner and its capacity for each byte. There is room for the length in front of the fields, so that the fields become
/// a frame without a copy.
package struct WireWriter: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var ownsMemory = true
    private var end = headroom

    /// The most bytes of a frame's length field.
    private static let headroom = 5

    package init(reserving capacity: Int = 64) {
        memory = .allocate(byteCount: Self.headroom + capacity, alignment: 8)
    }

    /// Creates a writer to memory that outlives the writer. When this memory is full, the writer allocates its own.
    package init(in memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        ownsMemory = false
    }

    deinit {
        if ownsMemory { memory.deallocate() }
    }

    /// The number of bytes written.
    package var count: Int { end - Self.headroom }

    /// The bytes written. O(n).
    package var bytes: [UInt8] { withBytes { [UInt8]($0) } }

    /// The bytes written, as a frame. O(n).
    package var frame: [UInt8] { withFrame { [UInt8]($0) } }

    package borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(rebasing: memory[Self.headroom..<end]))
    }

    /// Calls `body` with the bytes written, as a frame: their number, then the bytes.
    package borrowing func withFrame<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let length = UInt64(count)
        let start = Self.headroom - length.varintSize
        var position = start
        memory.put(varint: length, &position)
        return body(UnsafeRawBufferPointer(rebasing: memory[start..<end]))
    }

    /// Forgets the bytes written, and keeps the memory.
    package mutating func removeAll() { end = Self.headroom }

    /// Makes room for `more` bytes. Amortized O(1) a byte.
    @inline(__always)
    private mutating func reserve(_ more: Int) {
        if memory.count - end < more { grow(to: end + more) }
    }

    @inline(never)
    private mutating func grow(to least: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(2 * memory.count, least), alignment: 8)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<end]))
        if ownsMemory { memory.deallocate() }
        (memory, ownsMemory) = (larger, true)
    }

    @inline(__always)
    package mutating func byte(_ value: UInt8) {
        reserve(1)
        memory[end] = value
        end += 1
    }

    /// Writes seven bits per byte, the lowest first; the top bit is set if more bytes follow.
    package mutating func varint(_ value: UInt64) {
        if value < 0x80 { return byte(UInt8(truncatingIfNeeded: value)) }
        reserve(10)
        memory.put(varint: value, &end)
    }

    /// Writes the numbers of a commit's header. It takes a fixed number of values, so that no array is allocated.
    mutating func varints(
        _ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64, _ fifth: UInt64, _ sixth: UInt64
    ) {
        reserve(60)
        memory.put(varint: first, &end)
        memory.put(varint: second, &end)
        memory.put(varint: third, &end)
        memory.put(varint: fourth, &end)
        memory.put(varint: fifth, &end)
        memory.put(varint: sixth, &end)
    }

    /// - Precondition: `value` is not negative.
    package mutating func varint(_ value: Int) { varint(UInt64(value)) }

    package mutating func number(_ value: some TypedNumber) { varint(value.rawValue) }

    /// Writes eight bytes, the lowest first.
    package mutating func word(_ value: UInt64) {
        reserve(8)
        memory.storeBytes(of: value.littleEndian, toByteOffset: end, as: UInt64.self)
        end += 8
    }

    package mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + bytes.count]).copyMemory(from: bytes)
        end += bytes.count
    }

    package mutating func raw(_ bytes: [UInt8]) { bytes.withUnsafeBytes { raw($0) } }

    /// Writes the length, then the bytes in UTF-8.
    package mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { text in
            varint(text.count)
            raw(UnsafeRawBufferPointer(text))
        }
    }

    /// Writes the length, then the bytes.
    package mutating func blob(_ value: [UInt8]) {
        varint(value.count)
        raw(value)
    }
}
