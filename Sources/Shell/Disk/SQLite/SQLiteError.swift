import CSQLite
import Glibc

/// An error of the database, or a value of another type than was expected.
package struct SQLiteError: Error, Equatable, Sendable {
    /// SQLite's extended result code; its lowest byte is the primary code.
    package let code: Int32
    package let message: String

    package init(code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    package enum Kind: Sendable {
        case notADatabase
        /// The file is malformed, or a statement does not fit the tables in it.
        case damaged
        /// A row holds a value of another type.
        case wrongType
        /// Another connection holds a lock.
        case locked
        /// A flush failed: nobody knows what is on the disk.
        case flushFailed
        case other
    }

    package var kind: Kind {
        switch code & 0xFF {
        case SQLITE_NOTADB: .notADatabase
        case SQLITE_CORRUPT, SQLITE_ERROR: .damaged
        case SQLITE_MISMATCH: .wrongType
        case SQLITE_BUSY, SQLITE_LOCKED: .locked
        case SQLITE_IOERR where code == SQLITE_IOERR | 4 << 8: .flushFailed
        default: .other
        }
    }

    /// Whether the disk, or the space that the database may take, is full.
    package var isFull: Bool { code & 0xFF == SQLITE_FULL }

    /// Whether a journal next to the database has to be rolled back before anybody can read.
    var isUnfinishedTransaction: Bool { code == SQLITE_READONLY | 3 << 8 }

    init(of connection: OpaquePointer?) {
        let code = sqlite3_extended_errcode(connection)
        var message = String(cString: sqlite3_errmsg(connection))
        // "disk I/O error" may be a full disk.
        let cause = sqlite3_system_errno(connection)
        if cause != 0, [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) {
            message += ": \(String(cString: strerror(cause)))"
        }
        self.init(code: code, message)
    }

    static func misuse(_ message: String) -> SQLiteError { SQLiteError(code: SQLITE_MISUSE, message) }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String { message }
}
