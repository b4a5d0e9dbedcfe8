/// A value in a row, or a parameter of a statement.
package enum SQLiteValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    package init(_ number: Int) { self = .integer(Int64(number)) }
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    /// Keeps all 64 bits, the highest as the sign: SQLite's integers are signed.
    package init(bits: UInt64) { self = .integer(Int64(bitPattern: bits)) }
    package init(bits: UInt64?) { self = bits.map { .init(bits: $0) } ?? .null }
}
