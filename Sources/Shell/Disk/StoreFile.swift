import FoundationEssentials
import Glibc
import HandSync
import HandWire

/// The files of SQLite databases that keep people's lists, on a server or a client.
package enum StoreFile {
    package static func makeFolder(_ folder: String) throws {
        do { try PrivateFile.makeFolder(folder) } catch { throw StoreError.failed(error.description) }
    }

    /// Makes a database private. The files that SQLite creates next to it get the same mode.
    package static func makePrivate(_ database: String) throws {
        do { try PrivateFile.make(database) } catch { throw StoreError.failed(error.description) }
        for ending in ["-wal", "-shm"] { PrivateFile.tighten(database + ending) }
    }

    /// Names the file that cannot be used, where the database would only report "read-only" or "cannot open".
    ///
    /// - Parameter isRead: whether the database is only read, which is possible on a read-only disk.
    package static func expectUsable(_ path: String, isRead: Bool = false) throws {
        do { for ending in ["", "-wal", "-shm"] { try PrivateFile.expectUsable(path + ending) } } catch {
            if !isRead || error.code != EROFS { throw StoreError.failed("\(error)") }
        }
    }

    /// The end of the name of what a recovery puts into the place of a database.
    package static let recovered = ".recovered-"

    /// Throws if there is no database `file` of the store `path`.
    package static func expectThere(_ file: String, of path: String) throws {
        if try PrivateFile.exists(file) { return }
        let next = (file.split(separator: "/").last ?? "") + recovered
        let names = try? FileManager.default.contentsOfDirectory(atPath: PrivateFile.folder(of: file))
        if names?.contains(where: { $0.hasPrefix(next) }) == true { throw StoreError.recovering(path: path) }
        // A recovery may just have ended.
        if try !PrivateFile.exists(file) { throw StoreError.noStore(path: path) }
    }

    /// Refuses a file that does not start as SQLite files do, before anything is written next to it.
    ///
    /// A file that ends within its first bytes may be a store whose very first write was cut short; SQLite recognizes
    /// that and rolls it back. But SQLite would throw away a log whose database is empty, and all commits with it.
    package static func checkHeader(_ path: String) throws {
        let found: [UInt8]?
        do {
            found = try OpenDatabases.unlessOpen(path) { () throws(FileError) in
                try PrivateFile.read(path, upTo: 16)?.bytes ?? []
            }
        } catch {
            throw StoreError.failed(error.description)
        }
        // SQLite has read the start of an open database.
        guard let start = found else { return }
        guard Array("SQLite format 3\0".utf8).starts(with: start) else { throw StoreError.notAStore(path: path) }
        let log = try? FileState(at: path + "-wal")
        guard !start.isEmpty || log?.size ?? 0 == 0 else {
            throw StoreError.damaged("\(path) is empty, but its log \(path)-wal is not")
        }
    }

    /// Opens a database to read it, while other processes may be using it.
    package static func opened(_ path: String) throws -> SQLiteDatabase {
        try whileInPlace(path) {
            try checkHeader(path)
            return try SQLiteDatabase(path, .reading)
        }
    }

    /// Runs `body`, which looks at a database and its log, until it has seen the two of the same store.
    ///
    /// A recovery moves a database aside, and then its log. Whoever looks at them in between finds no log and misses
    /// the last commits, or takes the log for that of the new database. So the result, or the error, counts only if
    /// the same database is still in its place.
    package static func whileInPlace<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        while true {
            try expectThere(path, of: path)
            guard let state = try FileState(at: path) else { continue }
            let result = Result { try body() }
            if try FileState(at: path)?.isSameFile(as: state) == true { return try result.get() }
        }
    }

    /// Expects the format that this program writes.
    package static func expectVersion(_ known: Int, _ database: SQLiteConnection, _ path: String) throws {
        let found = try database.integer("PRAGMA user_version") ?? 0
        if found > known { throw StoreError.newer(path: path, found: found, known: known) }
        if found < known { throw StoreError.older(path: path) }
    }

    /// Runs `body` and translates the database's errors to `StoreError`.
    package static func translating<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw translated(error, path) }
    }

    private static func translated(_ error: any Error, _ path: String) -> StoreError {
        switch error {
        case let error as StoreError: error
        case let error as SQLiteError:
            switch error.kind {
            case .notADatabase: .notAStore(path: path)
            case .flushFailed: .syncFailed(path: path)
            // The statements of this program fail only if somebody else changed the tables.
            case .damaged: .damaged("\(path): \(error.message)")
            case .wrongType: .damaged("\(path) cannot be read: \(error)")
            case .locked: .inUse(path: path)
            case .other: .failed("\(path): \(error)")
            }
        case let error as WireError: .damaged("\(path) cannot be read: \(error)")
        default: .failed("\(path): \(error)")
        }
    }
}
