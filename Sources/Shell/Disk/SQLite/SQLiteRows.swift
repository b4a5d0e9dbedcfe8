import CSQLite

/// The rows of a running statement, one at a time. The statement ends after the last row, or when nobody holds this
/// object or a row any more.
package final class SQLiteRows {
    fileprivate let statement: SQLiteStatement

    init(_ statement: SQLiteStatement) {
        self.statement = statement
    }

    deinit {
        if statement.isRunning { statement.stop() }
    }

    /// Advances to the next row, which replaces the one before it; returns nil after the last one.
    package func next() throws(SQLiteError) -> SQLiteRow? {
        try statement.step() ? SQLiteRow(rows: self) : nil
    }
}

/// The present row of a statement: valid until its rows advance. Columns are counted from 0. Reading a value as another
/// type is an error of the kind `wrongType`.
package struct SQLiteRow {
    fileprivate let rows: SQLiteRows
    private var handle: OpaquePointer { rows.statement.handle }

    package var count: Int { Int(sqlite3_data_count(handle)) }

    package func value(_ column: Int) -> SQLiteValue {
        SQLiteValue(sqlite3_column_value(handle, Int32(column)))
    }

    /// Returns a value; the bytes of a blob instead, which are not copied and valid as long as the row.
    package func valueOrBlob(_ column: Int) -> (value: SQLiteValue, blob: UnsafeRawBufferPointer?) {
        let value = sqlite3_column_value(handle, Int32(column))
        return sqlite3_value_type(value) == SQLITE_BLOB ? (.null, .blob(of: value)) : (SQLiteValue(value), nil)
    }

    private func type(_ column: Int) -> Int32 { sqlite3_column_type(handle, Int32(column)) }

    private func expect(_ type: Int32, _ column: Int, _ name: String) throws(SQLiteError) {
        guard self.type(column) == type else {
            throw SQLiteError(code: SQLITE_MISMATCH, "column \(column) of a row is not \(name)")
        }
    }

    package func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

    package func integer(_ column: Int) throws(SQLiteError) -> Int {
        try expect(SQLITE_INTEGER, column, "an integer")
        return Int(sqlite3_column_int64(handle, Int32(column)))
    }

    /// Returns a number that uses all 64 bits.
    package func bits(_ column: Int) throws(SQLiteError) -> UInt64 { UInt64(bitPattern: Int64(try integer(column))) }

    package func text(_ column: Int) throws(SQLiteError) -> String {
        try expect(SQLITE_TEXT, column, "a text")
        guard case .text(let text) = value(column) else { return "" }
        return text
    }

    /// Returns the bytes of a blob, or of a text: a single flipped bit turns one into the other, and the code that
    /// reads the bytes can better tell whether they are right.
    package func bytes(_ column: Int) throws(SQLiteError) -> [UInt8] {
        [UInt8](try blob(column))
    }

    /// Calls `body` with the bytes of a blob or a text, without copying them.
    package func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(blob(column))
    }

    private func blob(_ column: Int) throws(SQLiteError) -> UnsafeRawBufferPointer {
        let type = type(column)
        if type != SQLITE_BLOB && type != SQLITE_TEXT { try expect(SQLITE_BLOB, column, "a blob") }
        return .blob(of: sqlite3_column_value(handle, Int32(column)))
    }

    package func optionalBits(_ column: Int) throws(SQLiteError) -> UInt64? {
        isNull(column) ? nil : try bits(column)
    }

    package func optionalText(_ column: Int) throws(SQLiteError) -> String? {
        isNull(column) ? nil : try text(column)
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a text or blob.
    fileprivate static func blob(of value: OpaquePointer?) -> UnsafeRawBufferPointer {
        // The address comes first: asking for it may change the length.
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }
}

extension SQLiteValue {
    /// Copies a value of the library.
    init(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT: self = .text(String(decoding: UnsafeRawBufferPointer.blob(of: value), as: UTF8.self))
        case SQLITE_BLOB: self = .bytes([UInt8](UnsafeRawBufferPointer.blob(of: value)))
        default: self = .null
        }
    }
}
