import CLibpq
import HandCore

package enum PostgresValue: Sendable {
    case null
    /// A `bigint`.
    case integer(Int64)
    /// A `text`. NUL, which the database does not allow, is replaced by U+FFFD.
    case text(String)
    /// A `bytea`.
    case bytes([UInt8])
    /// A `bigint[]`.
    case integers([Int64])
    /// A `bytea[]`.
    case rows([[UInt8]])

    package init(_ number: Int) { self = .integer(Int64(number)) }
    /// Keeps all 64 bits; the highest becomes the sign.
    package init(bits: UInt64) { self = .integer(Int64(bitPattern: bits)) }
    package init(bits: UInt64?) { self = bits.map { .init(bits: $0) } ?? .null }
    package init(_ number: some TypedNumber) { self.init(bits: number.rawValue) }
    package static func numbers(_ numbers: [some TypedNumber]) -> PostgresValue {
        .integers(numbers.map { Int64(bitPattern: $0.rawValue) })
    }
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }

    /// Appends the value in the binary format of the protocol; nothing for null.
    func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: break
        case .integer(let number): bytes.append(bigEndian: number)
        case .text(let text):
            let start = bytes.count
            bytes.append(contentsOf: text.utf8)
            guard bytes[start...].contains(0) else { break }
            bytes.removeSubrange(start...)
            bytes.append(contentsOf: text.replacing("\0", with: "\u{FFFD}").utf8)
        case .bytes(let value): bytes.append(contentsOf: value)
        case .integers(let numbers):
            Self.writeHead(of: numbers.count, type: 20, to: &bytes)
            for number in numbers {
                bytes.append(bigEndian: Int32(8))
                bytes.append(bigEndian: number)
            }
        case .rows(let rows):
            Self.writeHead(of: rows.count, type: 17, to: &bytes)
            for row in rows {
                bytes.append(bigEndian: Int32(row.count))
                bytes.append(contentsOf: row)
            }
        }
    }

    /// - Parameter type: the OID of the element's type, which is the same in every database.
    private static func writeHead(of count: Int, type: Int32, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
        bytes.append(bigEndian: Int32(0))
        bytes.append(bigEndian: type)
        guard count > 0 else { return }
        bytes.append(bigEndian: Int32(count))
        bytes.append(bigEndian: Int32(1))
    }

    fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

package struct PostgresCall: Sendable {
    let sql: String
    let values: [PostgresValue]
    /// Whether the server keeps the statement prepared for the connection's life.
    let isKept: Bool

    package init(_ sql: String, _ values: [PostgresValue] = [], isKept: Bool = true) {
        self.sql = sql
        self.values = values
        self.isKept = isKept
    }

    /// Calls `body` with the parameters in libpq's form.
    func withParameters<Result>(
        _ body: (
            _ count: Int32, UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for value in values {
            value.write(to: &bytes)
            ends.append(bytes.count)
        }
        // Without any bytes there would be no base address, and an empty value would become null.
        bytes.append(0)
        return bytes.withUnsafeBytes { all in
            let starts = [0] + ends.dropLast()
            let pointers = values.indices.map { index -> UnsafePointer<CChar>? in
                guard !values[index].isNull else { return nil }
                return all.baseAddress?.advanced(by: starts[index]).assumingMemoryBound(to: CChar.self)
            }
            let lengths = zip(starts, ends).map { Int32($1 - $0) }
            let formats = [Int32](repeating: 1, count: values.count)
            return body(Int32(values.count), pointers, lengths, formats)
        }
    }
}
