import HandCore

/// Reads fields one after the other and checks each length before it allocates anything.
package struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    package internal(set) var position = 0

    /// Creates a reader of bytes that must outlive the reader.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var remaining: Int { bytes.count - position }

    package mutating func byte(_ field: @autoclosure () -> String) throws(WireError) -> UInt8 {
        guard position < bytes.count else { throw .truncated(field: field()) }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number up to 2⁵³ − 1, which every language can represent exactly.
    @inline(__always)
    package mutating func varint(_ field: @autoclosure () -> String) throws(WireError) -> UInt64 {
        // Most varints have one byte.
        guard position < bytes.count, bytes[position] < 0x80 else { return try longVarint(field()) }
        defer { position += 1 }
        return UInt64(bytes[position])
    }

    private mutating func longVarint(_ field: @autoclosure () -> String) throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard position < bytes.count else { throw .truncated(field: field()) }
            let next = bytes[position]
            position += 1
            // The eighth byte contains the last four bits of 53; a zero byte at the end would be an overlong form.
            if shift == 49 && next > 0x0F || next == 0 && shift > 0 { throw .badVarint(field: field()) }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    /// Reads a varint that is a count and must not exceed `limit`.
    package mutating func count(
        _ field: @autoclosure () -> String, limit: Int = Int(Int32.max)
    ) throws(WireError) -> Int {
        let value = try varint(field())
        guard value <= UInt64(limit) else { throw .tooLarge(field: field(), limit: limit, found: value) }
        return Int(value)
    }

    /// Reads a number, as the caller's type.
    package mutating func number<Number: TypedNumber>(_ field: @autoclosure () -> String) throws(WireError) -> Number {
        Number(rawValue: try varint(field()))
    }

    package mutating func revision(_ field: @autoclosure () -> String) throws(WireError) -> Int {
        Int(try varint(field()))
    }

    package mutating func word(_ field: @autoclosure () -> String) throws(WireError) -> UInt64 {
        guard remaining >= 8 else { throw .truncated(field: field()) }
        defer { position += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    package mutating func raw(_ count: Int, _ field: @autoclosure () -> String) throws(WireError) -> [UInt8] {
        [UInt8](try slice(count, field()))
    }

    package mutating func blob(_ field: @autoclosure () -> String) throws(WireError) -> [UInt8] {
        let length = try count(field(), limit: .max)
        return try raw(length, field())
    }

    package mutating func string(_ field: @autoclosure () -> String, limit: Int = .max) throws(WireError) -> String {
        let length = try count(field(), limit: limit)
        let bytes = try slice(length, field())
        if Self.isASCII(bytes) { return String(decoding: bytes, as: UTF8.self) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8(field: field()) }
        return text
    }

    /// Skips `count` bytes, which must be valid text.
    mutating func checkText(_ count: Int, _ field: @autoclosure () -> String) throws(WireError) {
        let text = try slice(count, field())
        if Self.isASCII(text) { return }
        if String(validating: text, as: UTF8.self) == nil { throw .invalidUTF8(field: field()) }
    }

    /// Whether the bytes are ASCII, as in most texts. This check is fast; the standard library validates all other
    /// texts.
    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var all: UInt64 = 0
        var position = 0
        while position + 8 <= bytes.count {
            all |= bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            position += 8
        }
        for byte in bytes[position...] { all |= UInt64(byte) }
        return all & 0x8080_8080_8080_8080 == 0
    }

    /// Returns the bytes read since a position.
    func passed(since start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    /// Returns a reader for the next `count` bytes, and skips them.
    package mutating func part(_ count: Int, _ field: @autoclosure () -> String) throws(WireError) -> WireReader {
        WireReader(try slice(count, field()))
    }

    private mutating func slice(
        _ count: Int, _ field: @autoclosure () -> String
    ) throws(WireError) -> UnsafeRawBufferPointer {
        guard count <= remaining else { throw .truncated(field: field()) }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    package func expectEnd(of message: @autoclosure () -> String) throws(WireError) {
        if remaining > 0 { throw .trailingBytes(message: message(), count: remaining) }
    }
}

extension WireReader {
    /// Reads a count and that many elements of at least `size` bytes each. It never reserves memory for more elements
    /// than the bytes can contain.
    package mutating func list<Element>(
        _ field: @autoclosure () -> String, limit: Int = Int(Int32.max), size: Int,
        _ read: (inout WireReader) throws(WireError) -> Element
    ) throws(WireError) -> [Element] {
        let number = try count(field(), limit: limit)
        guard number <= remaining / size else { throw .truncated(field: field()) }
        var elements: [Element] = []
        elements.reserveCapacity(number)
        for _ in 0..<number { elements.append(try read(&self)) }
        return elements
    }
}
