import CSQLite

final class SQLiteStatement {
    let handle: OpaquePointer
    private let connection: OpaquePointer
    /// Whether its rows are being read, so that it cannot be started again.
    @exclusivity(unchecked) private(set) var isRunning = false

    /// - Throws: `SQLiteError`, also if the text is empty or has more than one statement.
    init(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) {
        self.connection = connection
        var compiled: OpaquePointer?
        var sql = sql
        let isWhole = sql.withUTF8 { text -> Bool in
            var end: UnsafePointer<CChar>?
            return text.withMemoryRebound(to: CChar.self) { text in
                guard sqlite3_prepare_v2(connection, text.baseAddress, Int32(text.count), &compiled, &end) == SQLITE_OK,
                    let start = text.baseAddress, let end
                else { return false }
                return text[(end - start)...].allSatisfy { $0 <= 0x20 }
            }
        }
        guard let compiled else {
            guard sqlite3_errcode(connection) == SQLITE_OK else { throw SQLiteError(of: connection) }
            throw .misuse("there is no statement in: \(sql)")
        }
        handle = compiled
        guard isWhole else { throw .misuse("there is more than one statement in: \(sql)") }
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Sets all parameters, and begins.
    func start(_ values: [SQLiteValue]) throws(SQLiteError) {
        let places = sqlite3_bind_parameter_count(handle)
        guard places == values.count else {
            throw .misuse(
                "\(values.count) values for the \(places) parameters of: \(String(cString: sqlite3_sql(handle)))")
        }
        isRunning = true
        for (place, value) in zip(Int32(1)..., values) where bind(value, at: place) != SQLITE_OK {
            defer { stop() }
            throw SQLiteError(of: connection)
        }
    }

    private func bind(_ value: SQLiteValue, at place: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, place)
        case .integer(let number): return sqlite3_bind_int64(handle, place, number)
        case .real(let number): return sqlite3_bind_double(handle, place, number)
        case .text(var text):
            return text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { text in
                    // The address of an empty text may be nil, which would mean null.
                    sqlite3_bind_text64(
                        handle, place, text.baseAddress ?? UnsafePointer(bitPattern: 1), UInt64(text.count),
                        hand_sqlite_transient(), UInt8(SQLITE_UTF8))
                }
            }
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, place, 0) }
            return sqlite3_bind_blob64(handle, place, bytes, UInt64(bytes.count), hand_sqlite_transient())
        }
    }

    /// Advances to the next row; returns false after the last one.
    func step() throws(SQLiteError) -> Bool {
        guard isRunning else { return false }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            stop()
            return false
        default:
            defer { stop() }
            throw SQLiteError(of: connection)
        }
    }

    /// Ends reading, which releases the locks of the statement, and forgets the parameters.
    func stop() {
        // The result only repeats the error of the last step, which was already thrown.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isRunning = false
    }
}
