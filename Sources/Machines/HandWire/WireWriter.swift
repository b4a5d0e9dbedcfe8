import HandCore

/// Writes fields one after the other.
package struct WireWriter: Sendable {
    package private(set) var bytes: [UInt8]

    package init(reserving capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    package mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    /// Writes seven bits per byte, the lowest first; the top bit is set if more bytes follow.
    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// - Precondition: `value` is not negative.
    package mutating func varint(_ value: Int) {
        varint(UInt64(value))
    }

    /// Writes eight bytes, the lowest first.
    package mutating func word(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func raw(_ value: some Collection<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// Writes the length, then the bytes in UTF-8.
    package mutating func string(_ value: String) {
        varint(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    /// Writes the length, then the bytes.
    package mutating func blob(_ value: [UInt8]) {
        varint(value.count)
        bytes.append(contentsOf: value)
    }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}
