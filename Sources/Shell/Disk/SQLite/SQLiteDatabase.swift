import Dispatch
import Synchronization

/// A database file, for any number of threads: one of them at a time writes, and several read alongside it if there are
/// connections for that. Functions block, also while others use the connection; a body must not call them again.
///
/// The functions without a result are not generic: types would be looked up for each commit (1,500 instructions).
package final class SQLiteDatabase: Sendable {
    package enum Access: Sendable {
        /// Reads an existing file. Waits up to ten seconds for other processes' locks.
        case reading
        /// Creates the file if it does not exist. If another process has a lock, that is an error at once.
        case writing
    }

    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    private let path: String
    private let connection: SQLiteConnection
    private let turn = Mutex(())
    private let maxReaders: Int
    private let readers = Mutex(Readers())
    private let places: DispatchSemaphore

    /// - Parameters:
    ///   - path: the file; empty for a temporary database.
    ///   - readers: the most connections that only read; they are opened when they are needed. More than 0 needs a
    ///     write-ahead log.
    /// - Throws: `SQLiteError` if the file cannot be opened, or is not a database.
    package init(_ path: String, _ access: Access = .writing, readers: Int = 0) throws(SQLiteError) {
        self.path = path
        connection = try SQLiteConnection(path, access)
        maxReaders = readers
        places = DispatchSemaphore(value: readers)
    }

    /// Runs `body` on the database as it is at one moment.
    package func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        var result: Result?
        try reading { result = try body($0) }
        guard let result else { preconditionFailure("the body has not run") }
        return result
    }

    /// Runs `body` in a transaction that writes: all that it does takes effect, or nothing if it throws.
    package func write<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        var result: Result?
        try writing { result = try body($0) }
        guard let result else { preconditionFailure("the body has not run") }
        return result
    }

    /// Runs `body` with the writing connection, outside of a transaction.
    package func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        var result: Result?
        try exclusively { result = try body($0) }
        guard let result else { preconditionFailure("the body has not run") }
        return result
    }

    private func reading(_ body: (SQLiteConnection) throws -> Void) throws {
        guard maxReaders > 0 else { return try exclusively { try $0.transaction("BEGIN", body) } }
        places.wait()
        defer { places.signal() }
        let reader = try takeReader()
        defer { readers.withLock { $0.idle.append(reader) } }
        try reader.transaction("BEGIN", body)
    }

    /// Like `write`, without a result.
    package func writing(_ body: (SQLiteConnection) throws -> Void) throws {
        try exclusively { try $0.transaction("BEGIN IMMEDIATE", body) }
    }

    /// Like `withConnection`, without a result.
    package func exclusively(_ body: (SQLiteConnection) throws -> Void) throws {
        var failure: (any Error)?
        turn.withLock { _ in
            do { try body(connection) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func takeReader() throws(SQLiteError) -> SQLiteConnection {
        let (idle, isClosed) = readers.withLock { ($0.idle.popLast(), $0.isClosed) }
        if isClosed { throw .misuse("the database is closed") }
        if let idle { return idle }
        return try SQLiteConnection(path, .reading)
    }

    /// Closes all connections, once nobody uses them; the writing one last, because a reader does not copy the log into
    /// the database.
    ///
    /// - Throws: `SQLiteError` if rows are still being read.
    package func close() throws {
        for _ in 0..<maxReaders { places.wait() }
        defer { for _ in 0..<maxReaders { places.signal() } }
        let idle = readers.withLock { readers in
            defer { readers = Readers(isClosed: true) }
            return readers.idle
        }
        for reader in idle { try reader.close() }
        try withConnection { try $0.close() }
    }
}
