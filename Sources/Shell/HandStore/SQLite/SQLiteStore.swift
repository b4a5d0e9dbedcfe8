import Disk
import Glibc
import HandCore
import HandSync
import HandWire
import Synchronization

/// A `CommitStore` in one SQLite file, with a write-ahead log.
///
/// One writer at a time, and any number of readers alongside it. Group commit is up to the caller, who passes
/// everything that one transaction writes.
package final class SQLiteStore: CommitStore {
    package let database: SQLiteDatabase
    private let lock: StoreLock
    let path: String
    private let files: OpenFiles
    /// The most threads that read at once, each with a connection of its own.
    private static let readers = 5
    /// Author numbers that are reserved and not assigned yet.
    let freeNumbers = Mutex<Range<AuthorID>>(0..<0)
    /// The list to which the last write has appended commits, and its revision since; nil after any other write. Used
    /// with the writing connection.
    let lastAppend = Mutex<(list: ListNumber, revision: Int)?>(nil)

    /// Opens the store in a folder, and creates folder and store if necessary.
    ///
    /// - Throws: `StoreError` if the store is in use, of another format, or damaged; nothing is changed then.
    package init(folder: String, durability: Durability) throws {
        try StoreFile.makeFolder(folder)
        let file = folder + "/hand.sqlite"
        lock = try StoreLock(path: folder + "/lock", of: folder, folder: folder)
        try StoreBackup.finishRecovery(in: folder)
        try StoreFile.expectUsable(file)
        try Self.checkFormat(file)
        try Self.expectKept(file, DurabilityMark(folder: folder))
        try LogCheck.check(file)
        try StoreFile.makePrivate(file)
        database = try StoreFile.translating(file) { try SQLiteDatabase(file, readers: Self.readers) }
        path = file
        files = OpenFiles(of: file)
        try StoreFile.translating(path) {
            try prepare()
            try stamp()
            files.remember()
            try remember(durability, DurabilityMark(folder: folder))
            guard durability != .fsync else { return }
            _ = try database.withConnection { try $0.run("PRAGMA synchronous = NORMAL") }
        }
    }

    /// Runs a statement that writes the whole database, if any, and notes by what the database is known from now on.
    func stamp(after statement: String? = nil) throws {
        try files.stamp { stamp in
            try database.withConnection { database in
                if let statement { try database.run(statement) }
                try database.run("PRAGMA schema_version = \(Int32(bitPattern: stamp))")
                // If this fails because others are reading, the log keeps its size until the next time.
                return (try? database.emptyLog()) != nil
            }
        }
    }

    /// Sets or clears the durability mark. The log may not keep anything that was written with another durability.
    private func remember(_ durability: Durability, _ mark: DurabilityMark) throws {
        if mark.isSet && durability != .fsync { try mark.clear() }
        guard durability == .fsync else { return }
        guard !mark.isSet else { return }
        // If the log cannot be emptied now, it works as it is, and the next opening tries again.
        guard (try? database.withConnection { try $0.emptyLog() }) != nil else { return }
        try DurabilityMark.flush(fileAt: path + "-wal")
        try mark.set()
    }

    /// Expects a database where there was one: an empty store in its place would look as if all were well. The mark is
    /// set when the tables are on the disk.
    private static func expectKept(_ file: String, _ mark: DurabilityMark) throws {
        guard mark.isSet, try FileState(at: file)?.size ?? 0 == 0 else { return }
        throw StoreError.damaged(
            "\(file) is \(try PrivateFile.exists(file) ? "empty" : "missing"), although its folder had a store. "
                + "To begin with an empty one, choose another folder")
    }

    /// Reads an existing file, which reading does not change. A store that was being created when the process ended
    /// has a journal instead of a log; it cannot be read before that is rolled back.
    private static func checkFormat(_ file: String) throws {
        guard try FileState(at: file)?.size ?? 0 > 0, try !PrivateFile.exists(file + "-journal") else {
            return try StoreFile.checkHeader(file)
        }
        try StoreFile.translating(file) {
            let database = try StoreFile.opened(file)
            _ = try database.read { try Schema.isThere($0, file) }
            try database.close()
        }
    }

    private func prepare() throws {
        try database.withConnection { database in
            let mode = try database.first("PRAGMA journal_mode = WAL")?.text(0)
            guard mode == "wal" else {
                throw StoreError.failed(
                    "\(path): this file system supports no write-ahead log. Move the folder to a local disk")
            }
            try database.run("PRAGMA synchronous = FULL")
        }
        try database.write { database in
            if try !Schema.isThere(database, path) { try Schema.create(database) }
            // A list that is not found by its name could be created a second time.
            let finding = try database.first("PRAGMA integrity_check(lists)")?.text(0)
            guard finding == "ok" else { throw StoreError.damaged("the lists: \(finding ?? "cannot be read")") }
        }
    }

    /// Returns `PRAGMA synchronous` of the writing connection: 2 is FULL.
    package func synchronousLevel() throws -> Int {
        try database.withConnection { try $0.integer("PRAGMA synchronous") ?? -1 }
    }

    package func close() throws {
        defer { lock.release() }
        // If this fails because others are reading, the log has everything, and the next opening reads it.
        _ = try? database.withConnection { try $0.emptyLog() }
        try StoreFile.translating(path) { try database.close() }
    }

    func write<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        let result = try StoreFile.translating(path) {
            try database.write { database in
                lastAppend.withLock { $0 = nil }
                return try body(database)
            }
        }
        try expectFiles()
        return result
    }

    /// Expects the store's files at their paths, so that nothing is acknowledged that went into a removed file.
    ///
    /// - Throws: `StoreError.removed` if the store's files were removed or replaced by others, and
    ///   `StoreError.overwritten` if something else was written to them.
    package func expectFiles() throws {
        if !files.isOwn() { throw StoreError.overwritten(path: path, log: files.moveLog()) }
        if !files.areThere() { throw StoreError.removed(path: path, saved: files.saving { try saveAll(as: $0) }) }
    }

    /// Copies the whole store from the files that this process has open; they exist until it ends.
    private func saveAll(as file: String) throws {
        try StoreFile.makeFolder(PrivateFile.folder(of: file))
        try PrivateFile.make(file)
        _ = try database.withConnection { try $0.run("VACUUM INTO ?", [.text(file)]) }
        try DurabilityMark.flush(fileAt: file)
    }

    func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try StoreFile.translating(path) { try database.read(body) }
    }
}

extension SQLiteStore {
    /// Returns whether a process has the store of a folder open.
    package static func isInUse(folder: String) -> Bool {
        [folder + "/lock", folder].contains { path in
            let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { Glibc.close(descriptor) }
            return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        }
    }
}
