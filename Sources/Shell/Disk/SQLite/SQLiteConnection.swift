import CSQLite
import Glibc

/// One connection to a database file. Its functions block.
///
/// `@unchecked Sendable` is safe: only one thread at a time uses it, the one to which `SQLiteDatabase` lends it.
package final class SQLiteConnection: @unchecked Sendable {
    /// Nil once it is closed.
    @exclusivity(unchecked) private var handle: OpaquePointer?
    // Accesses to the fields that each statement needs never overlap.
    /// Compiled statements by their text.
    @exclusivity(unchecked) private var kept: [Text: SQLiteStatement] = [:]
    private static let maxKept = 100
    private var entry: OpenDatabases.Entry?
    /// Whether `transaction` runs. An error such as a full disk ends a transaction at once.
    @exclusivity(unchecked) private var isInTransaction = false

    /// The text of a statement as a key. Its length is its hash: SipHash of a whole text would take 1,000 instructions
    /// for each statement of a commit.
    private struct Text: Hashable {
        let sql: String

        init(_ sql: String) { self.sql = sql }

        func _rawHashValue(seed: Int) -> Int { sql.utf8.count }
    }

    /// - Parameter path: the file; empty for a temporary database.
    /// - Throws: `SQLiteError` if the file cannot be opened, or is not a database.
    init(_ path: String, _ access: SQLiteDatabase.Access) throws(SQLiteError) {
        var flags = access == .reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var name = path
        if access == .reading, Self.isUnchangeable(path) { (name, flags) = (Self.fixed(path), flags | SQLITE_OPEN_URI) }
        let status = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard status == SQLITE_OK else { throw handle.map { .init(of: $0) } ?? .init(code: status, "out of memory") }
        entry = OpenDatabases.Entry(path)
        sqlite3_busy_timeout(handle, access == .reading ? 10_000 : 0)
        do { try check() } catch {
            guard access == .reading, error.isUnfinishedTransaction else { throw error }
            // Only who may write can roll back the transaction of a process that was killed. Another one may be doing
            // it; then this connection waits.
            try? SQLiteConnection(path, .writing).close()
            try check()
        }
    }

    /// Whether a file is on a disk that is read-only, and its log has nothing that it lacks. There, SQLite cannot make
    /// the file by which those who use a log agree.
    private static func isUnchangeable(_ path: String) -> Bool {
        var (disk, log) = (statvfs(), stat())
        return statvfs(path, &disk) == 0 && disk.f_flag & UInt(ST_RDONLY) != 0
            && (stat(path + "-wal", &log) != 0 || log.st_size == 0)
    }

    /// SQLite's name for a file that does not change while it is open.
    private static func fixed(_ path: String) -> String {
        let escaped = path.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }
        return "file:\(escaped.joined())?immutable=1"
    }

    /// Reads something, so that errors of the file are known.
    private func check() throws(SQLiteError) { _ = try first("SELECT 1 FROM sqlite_master") }

    deinit {
        kept = [:]
        sqlite3_close_v2(handle)
    }

    /// The last connection to a file copies its log into the database, and removes it.
    func close() throws(SQLiteError) {
        kept = [:]
        guard sqlite3_close(handle) == SQLITE_OK else { throw SQLiteError(of: handle) }
        (handle, entry) = (nil, nil)
    }

    private func opened() throws(SQLiteError) -> OpaquePointer {
        guard let handle else { throw .misuse("the database is closed") }
        return handle
    }

    // MARK: Statements

    /// Starts a statement.
    ///
    /// - Returns: its rows. The connection's other statements can run while they are read.
    package func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> SQLiteRows {
        let statement = try compiled(sql)
        try statement.start(values)
        return SQLiteRows(statement)
    }

    /// Returns a statement that does not run. It stays compiled for the next time.
    private func compiled(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        let handle = try opened()
        // A write outside of the transaction could not be rolled back.
        if isInTransaction, sqlite3_get_autocommit(handle) != 0 {
            throw SQLiteError(code: SQLITE_ABORT, "an earlier error has ended the transaction")
        }
        let found = kept[Text(sql)]
        if let found, !found.isRunning { return found }
        let statement = try SQLiteStatement(sql, on: handle)
        if kept.count >= Self.maxKept { kept = kept.filter { $0.value.isRunning } }
        // A pragma may take its value when it is compiled.
        if found == nil, !sql.hasPrefix("PRAGMA") { kept[Text(sql)] = statement }
        return statement
    }

    /// Runs a statement to its end.
    ///
    /// - Returns: the number of rows that the last `INSERT`, `UPDATE` or `DELETE` has changed.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int {
        let statement = try compiled(sql)
        try statement.start(values)
        while try statement.step() {}
        return Int(sqlite3_changes(handle))
    }

    /// Runs several statements without parameters.
    package func runAll(_ script: String) throws(SQLiteError) {
        guard sqlite3_exec(try opened(), script, nil, nil, nil) == SQLITE_OK else { throw SQLiteError(of: handle) }
    }

    /// Returns the first row, which is valid as long as it is held.
    package func first(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> SQLiteRow? {
        try rows(sql, values).next()
    }

    package func all<Element>(
        _ sql: String, _ values: [SQLiteValue] = [], _ body: (SQLiteRow) throws -> Element
    ) throws -> [Element] {
        let rows = try rows(sql, values)
        var found: [Element] = []
        while let row = try rows.next() { found.append(try body(row)) }
        return found
    }

    /// Returns the integer in the first row, or nil if there is no row or its value is null.
    package func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int? {
        guard let row = try first(sql, values), !row.isNull(0) else { return nil }
        return try row.integer(0)
    }

    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    // MARK: Transactions

    /// Runs `body` in a transaction, which is rolled back if `body` throws or the commit fails.
    ///
    /// - Parameter begin: `BEGIN IMMEDIATE` locks out other writers at once; with `BEGIN`, the first read determines
    ///   what all others see.
    func transaction(_ begin: String, _ body: (SQLiteConnection) throws -> Void) throws {
        try run(begin)
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            try body(self)
            try run("COMMIT")
        } catch {
            isInTransaction = false
            if sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    /// Runs `body` in a savepoint of the transaction, which is rolled back if `body` throws.
    package func savepoint(_ body: () throws -> Void) throws {
        try run("SAVEPOINT part")
        do { try body() } catch {
            _ = try? run("ROLLBACK TO part")
            _ = try? run("RELEASE part")
            throw error
        }
        try run("RELEASE part")
    }

    // MARK: The whole database

    /// Copies the log into the database, and empties it.
    ///
    /// - Throws: `SQLiteError`, of the kind `locked` if others read the log.
    package func emptyLog() throws(SQLiteError) {
        let status = sqlite3_wal_checkpoint_v2(try opened(), nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard status == SQLITE_OK else { throw SQLiteError(of: handle) }
    }
}
