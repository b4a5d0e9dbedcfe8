import CLibpq
import HandCore

package struct PostgresRows: Sendable {
    /// Owns libpq's result. `@unchecked Sendable` is safe: a result does not change once it exists.
    fileprivate final class Handle: @unchecked Sendable {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) { self.pointer = pointer }

        deinit { PQclear(pointer) }
    }

    fileprivate let handle: Handle

    init(owning result: OpaquePointer) {
        handle = Handle(result)
    }

    package var count: Int { Int(PQntuples(handle.pointer)) }
    package var isEmpty: Bool { count == 0 }
    package var first: PostgresRow? { isEmpty ? nil : self[0] }

    package subscript(index: Int) -> PostgresRow { PostgresRow(rows: self, index: Int32(index)) }

    package func map<Result>(_ body: (PostgresRow) throws -> Result) rethrows -> [Result] {
        try (0..<count).map { try body(self[$0]) }
    }

    /// The number of rows that a statement has changed.
    package var changed: Int { Int(String(cString: PQcmdTuples(handle.pointer))) ?? 0 }
}

/// A row that a statement returned. Columns are counted from 0. Reading a value as another type is an error.
package struct PostgresRow {
    fileprivate let rows: PostgresRows
    fileprivate let index: Int32

    /// Returns the bytes of a value, valid while the rows live; nil for null.
    private func raw(_ column: Int) -> UnsafeRawBufferPointer? {
        let pointer = rows.handle.pointer
        guard PQgetisnull(pointer, index, Int32(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, index, Int32(column)), count: Int(PQgetlength(pointer, index, Int32(column))))
    }

    /// Calls `body` with the bytes of a value.
    package func withBytes<Result>(
        _ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        guard let raw = raw(column) else { throw wrong(column, "bytes") }
        defer { withExtendedLifetime(rows) {} }
        return try body(raw)
    }

    package func optionalBits(_ column: Int) throws(PostgresError) -> UInt64? {
        guard let raw = raw(column) else { return nil }
        guard raw.count == 8 else { throw wrong(column, "bigint") }
        defer { withExtendedLifetime(rows) {} }
        return UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))
    }

    package func bits(_ column: Int) throws(PostgresError) -> UInt64 {
        guard let bits = try optionalBits(column) else { throw wrong(column, "bigint") }
        return bits
    }

    package func number<Number: TypedNumber>(_ column: Int) throws(PostgresError) -> Number {
        Number(rawValue: try bits(column))
    }

    package func integer(_ column: Int) throws(PostgresError) -> Int { Int(Int64(bitPattern: try bits(column))) }

    package func bytes(_ column: Int) throws(PostgresError) -> [UInt8] {
        guard let bytes = optionalBytes(column) else { throw wrong(column, "bytes") }
        return bytes
    }

    package func optionalBytes(_ column: Int) -> [UInt8]? {
        defer { withExtendedLifetime(rows) {} }
        return raw(column).map { [UInt8]($0) }
    }

    package func text(_ column: Int) throws(PostgresError) -> String {
        String(decoding: try bytes(column), as: UTF8.self)
    }

    package func isTrue(_ column: Int) throws(PostgresError) -> Bool {
        let bytes = try bytes(column)
        guard bytes.count == 1 else { throw wrong(column, "boolean") }
        return bytes[0] != 0
    }

    private func wrong(_ column: Int, _ type: String) -> PostgresError {
        PostgresError(state: PostgresError.wrongValue, "column \(column) of a row is not of type \(type)")
    }
}
