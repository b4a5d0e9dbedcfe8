import Foundation
import GRDB
import Glibc
import HandCore
import HandSync
import HandWire

/// Copies of a store.
public enum StoreBackup {
    /// Writes the store of a folder into a file, as it is at one moment, also while a server writes to it. The file appears
    /// under its name when it is complete and flushed.
    ///
    /// - Throws: `StoreError` if there is no store, or the file exists already.
    public static func write(_ folder: String, to file: String) throws {
        let source = StoreVerifier.file(at: folder)
        guard FileManager.default.fileExists(atPath: source) else {
            throw StoreError.noStore(path: folder)
        }
        guard !FileManager.default.fileExists(atPath: file) else {
            throw StoreError.failed("\(file) exists already; name another file")
        }
        try SQLiteStore.checkHeader(source)
        let partial = file + ".partial"
        try remove(partial)
        try SQLiteStore.translating(source) {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let database = try DatabaseQueue(path: source, configuration: configuration)
            try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [partial]) }
            try database.close()
        }
        try finish(partial, as: file)
    }

    /// Puts a backup in the place of a store's database. Its lists get new histories: what was committed after the backup is
    /// gone, so a client that has seen it must not go on from there. The clients keep what they have pending.
    ///
    /// - Parameters:
    ///   - aside: where a store that is there is moved; nil refuses to replace one.
    ///   - random: gives the new histories their ids.
    /// - Throws: `StoreError` if a server has the store open, or one is there and may not be replaced; nothing is changed then.
    public static func restore(
        _ file: String, to folder: String, aside: String?, random: inout some RandomNumberGenerator
    ) throws {
        try SQLiteStore.makeFolder(folder)
        let lock = try StoreLock(path: folder + "/lock", folder: folder)
        defer { lock.release() }
        let target = folder + "/hand.sqlite"
        let manager = FileManager.default
        let isThere = manager.fileExists(atPath: target)
        if isThere, aside == nil { throw StoreError.failed("there is a store in \(folder) already") }
        if let aside, manager.fileExists(atPath: aside) { throw StoreError.failed("\(aside) exists already") }
        let partial = target + ".partial"
        try remove(partial)
        do { try manager.copyItem(atPath: file, toPath: partial) } catch {
            throw StoreError.failed("cannot copy \(file): \(error.localizedDescription)")
        }
        try renewHistories(partial, &random)
        if isThere, let aside {
            for ending in ["", "-wal", "-shm"] where manager.fileExists(atPath: target + ending) {
                try move(target + ending, to: aside + ending)
            }
        }
        try finish(partial, as: target)
    }

    /// And brings an older backup to the present format.
    private static func renewHistories(_ file: String, _ random: inout some RandomNumberGenerator) throws {
        try SQLiteStore.translating(file) {
            let database = try DatabaseQueue(path: file)
            try database.write { database in
                let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                if found < Schema.version { try Schema.migrate(database, from: found) }
            }
            let lists = try database.read { try ListRow.all("TRUE", [], $0) }
            let fresh = lists.map { ($0, LogID.renewed($0.list.logID, using: &random)) }
            try database.write { database in
                for (list, logID) in fresh {
                    var list = list
                    try list.update(logID: logID, database)
                }
            }
            try database.close()
        }
    }

    // MARK: Files

    /// Flushes a file that is complete, gives it its name, and flushes that.
    private static func finish(_ partial: String, as file: String) throws {
        try flush(partial)
        try move(partial, to: file)
        try flush((file as NSString).deletingLastPathComponent)
    }

    private static func flush(_ path: String) throws {
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreError.failed("cannot open \(path): \(String(cString: strerror(errno)))")
        }
        defer { Glibc.close(descriptor) }
        if fsync(descriptor) != 0 { throw StoreError.syncFailed(path: path) }
    }

    private static func move(_ from: String, to: String) throws {
        guard rename(from, to) == 0 else {
            throw StoreError.failed("cannot rename \(from) to \(to): \(String(cString: strerror(errno)))")
        }
    }

    private static func remove(_ path: String) throws {
        if unlink(path) != 0, errno != ENOENT {
            throw StoreError.failed("cannot remove \(path): \(String(cString: strerror(errno)))")
        }
    }
}
