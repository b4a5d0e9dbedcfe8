import Files
import Foundation
import GRDB
import HandCore
import HandSync
import HandWire
import Synchronization

/// A `CommitStore` in one SQLite file, with a write-ahead log.
///
/// One writer at a time, and any number of readers alongside it. Group commit is up to the caller, who passes
/// everything that one transaction writes.
package final class SQLiteStore: CommitStore {
    let database: DatabasePool
    private let lock: StoreLock
    let path: String
    private let files: OpenFiles
    /// Author numbers that are reserved and not assigned yet.
    let freeNumbers = Mutex<Range<UInt64>>(0..<0)

    /// Opens the store in a folder, and creates folder and store if necessary.
    ///
    /// - Parameter progress: called with the progress of converting an older format, which takes long if the history is
    ///   long.
    /// - Throws: `StoreError` if the store is in use, newer than this program, or damaged; nothing is changed then.
    package init(
        folder: String, durability: Durability, progress: (Schema.Conversion) -> Void = { _ in }
    ) throws {
        try Self.makeFolder(folder)
        let file = folder + "/hand.sqlite"
        lock = try StoreLock(path: folder + "/lock", of: folder, folder: folder)
        try StoreBackup.finishRecovery(in: folder)
        try Self.expectUsable(file)
        try Self.checkHeader(file)
        if DurabilityMark(folder: folder).isSet { try LogCheck.check(file) }
        try Self.makePrivate(file)
        database = try Self.translating(file) { try DatabasePool(path: file) }
        path = file
        files = OpenFiles(of: file)
        try Self.translating(path) {
            try prepare(durability, progress)
            try remember(durability, DurabilityMark(folder: folder))
        }
        files.remember()
    }

    /// Makes a database private. The files that SQLite creates next to it get the same mode.
    static func makePrivate(_ database: String) throws {
        do { try PrivateFile.make(database) } catch { throw StoreError.failed(error.description) }
        for ending in ["-wal", "-shm"] { PrivateFile.tighten(database + ending) }
    }

    /// Sets or clears the durability mark. The log may not keep anything that was written with another durability.
    private func remember(_ durability: Durability, _ mark: DurabilityMark) throws {
        if mark.isSet && durability != .fsync { try mark.clear() }
        guard durability == .fsync else { return }
        // The library writes a transaction of its own when it starts a log, without a flush.
        try DurabilityMark.flush(fileAt: path + "-wal")
        guard !mark.isSet else { return }
        // If the log cannot be emptied now, it works as it is, and the next opening tries again.
        guard (try? database.writeWithoutTransaction({ try $0.checkpoint(.truncate) })) != nil else { return }
        try DurabilityMark.flush(fileAt: path + "-wal")
        try mark.set()
    }

    static func makeFolder(_ folder: String) throws {
        do { try PrivateFile.makeFolder(folder) } catch { throw StoreError.failed(error.description) }
    }

    /// Names the file that cannot be used, where the database would only report "read-only" or "cannot open".
    static func expectUsable(_ path: String) throws {
        do { for ending in ["", "-wal", "-shm"] { try PrivateFile.expectUsable(path + ending) } } catch {
            throw StoreError.failed("\(error)")
        }
    }

    /// Refuses a file that does not start as SQLite files do, before anything is written next to it.
    ///
    /// A file that ends within its first bytes may be a store whose very first write was cut short; SQLite recognizes
    /// that and rolls it back. But SQLite would throw away a log whose database is empty, and all commits with it.
    static func checkHeader(_ path: String) throws {
        let start: [UInt8]
        do { start = try PrivateFile.read(path, upTo: 16)?.bytes ?? [] } catch {
            throw StoreError.failed(error.description)
        }
        guard Data("SQLite format 3\0".utf8).starts(with: start) else { throw StoreError.notAStore(path: path) }
        let log = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        guard !start.isEmpty || log?[.size] as? Int ?? 0 == 0 else {
            throw StoreError.damaged("\(path) is empty, but its log \(path)-wal is not")
        }
    }

    private func prepare(_ durability: Durability, _ progress: (Schema.Conversion) -> Void) throws {
        try database.write { database in
            let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let mark = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
            if !isEmpty && mark != Schema.applicationID { throw StoreError.notAStore(path: path) }
            if found > Schema.version { throw StoreError.newer(path: path, found: found, known: Schema.version) }
            if found < Schema.version { try Schema.migrate(database, from: found, progress: progress) }
            // A list that is not found by its name could be created a second time.
            let finding = try String.fetchOne(database, sql: "PRAGMA integrity_check(lists)")
            guard finding == "ok" else { throw StoreError.damaged("the lists: \(finding ?? "cannot be read")") }
        }
        // Not earlier: DatabasePool sets its own level while it opens.
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = \(durability == .fsync ? "FULL" : "NORMAL")")
        }
    }

    /// Returns `PRAGMA synchronous` of the writing connection: 2 is FULL.
    package func synchronousLevel() throws -> Int {
        try database.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    /// Makes writes that need more pages fail, as on a full disk, or lets them succeed again; for tests.
    package func stopGrowing(_ isStopped: Bool) throws {
        // SQLite raises a smaller number to the number of pages that exist.
        try database.writeWithoutTransaction { database in
            _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(isStopped ? 1 : 4_294_967_294)")
        }
    }

    package func close() throws {
        defer { lock.release() }
        // DatabasePool closes a reader last, and a reader does not copy the log into the database. If this checkpoint
        // fails, the log has everything, and the next opening reads it.
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try Self.translating(path) { try database.close() }
    }

    /// Runs `body` and translates the database's errors to `StoreError`.
    static func translating<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_NOTADB: throw StoreError.notAStore(path: path)
            case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_FSYNC:
                throw StoreError.syncFailed(path: path)
            // The statements of this program fail only if somebody else changed the tables.
            case .SQLITE_CORRUPT, .SQLITE_ERROR: throw StoreError.damaged(error.message ?? "\(path) is malformed")
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw StoreError.inUse(path: path)
            default: throw StoreError.failed("\(path): \(error.message ?? error.description)")
            }
        } catch let error as WireError {
            throw StoreError.damaged("\(path) cannot be read: \(error)")
        } catch let error as RowDecodingError {
            throw StoreError.damaged("\(path) cannot be read: \(error)")
        } catch {
            throw StoreError.failed("\(path): \(error)")
        }
    }

    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let result = try Self.translating(path) { try database.write(body) }
        try expectFiles()
        return result
    }

    /// Expects the store's files at their paths, so that nothing is acknowledged that went into a removed file.
    ///
    /// - Throws: `StoreError.removed` if the store's files were removed or replaced by others.
    package func expectFiles() throws {
        if !files.areThere() { throw StoreError.removed(path: path, saved: files.saving { try saveAll(as: $0) }) }
    }

    /// Copies the whole store from the files that this process has open; they exist until it ends.
    private func saveAll(as file: String) throws {
        try Self.makeFolder((file as NSString).deletingLastPathComponent)
        try PrivateFile.make(file)
        try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [file]) }
        try DurabilityMark.flush(fileAt: file)
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try Self.translating(path) { try database.read(body) }
    }
}

extension Row {
    /// Returns the value in a column. If the column holds another type, this throws; the subscript would end the
    /// process.
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ index: Int) throws -> Value {
        try decode(atIndex: index)
    }

    /// Returns a number that uses all 64 bits.
    func bits(_ index: Int) throws -> UInt64 {
        UInt64(stored: try value(index))
    }
}

extension UInt64 {
    /// The same bits as a signed integer, because SQLite's integers are signed.
    var stored: Int64 { Int64(bitPattern: self) }

    init(stored: Int64) {
        self.init(bitPattern: stored)
    }
}
