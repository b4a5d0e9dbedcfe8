import Disk
import FoundationEssentials
import Glibc
import HandSimulation
import HandStore
import HandSync

/// SQLite in a temporary folder for a simulated server; in memory if the system has /dev/shm.
final class SQLiteBench: StoreBench {
    private let folder: String
    private var opening = 0
    private var opened: SQLiteStore

    init() throws {
        let base =
            FileManager.default.fileExists(atPath: "/dev/shm")
            ? "/dev/shm" : FileManager.default.temporaryDirectory.path
        folder = base + "/hand-simulate-" + UUID().uuidString
        opened = try SQLiteStore(folder: folder + "/0", durability: .fsync)
    }

    deinit {
        try? opened.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var store: any CommitStore { opened }

    var isFull = false {
        didSet {
            // SQLite raises a smaller number to the number of pages that exist.
            let pages = isFull ? 1 : 4_294_967_294
            _ = try? opened.database.withConnection { try $0.integer("PRAGMA max_page_count = \(pages)") }
        }
    }

    /// Copies the files as a killed process would leave them, and opens the copy, so that closing the old store cannot
    /// change it.
    func crash(torn: [UInt8]) throws {
        let (from, to) = ("\(folder)/\(opening)", "\(folder)/\(opening + 1)")
        opening += 1
        try FileManager.default.copyItem(atPath: from, toPath: to)
        // This file is an index of the log. Opening the store makes it again.
        try? FileManager.default.removeItem(atPath: to + "/hand.sqlite-shm")
        let log = Glibc.open(to + "/hand.sqlite-wal", O_WRONLY | O_APPEND | O_CLOEXEC)
        if log >= 0 {
            guard write(log, torn, torn.count) == torn.count else { throw FileError("write", to + "/hand.sqlite-wal") }
            close(log)
        }
        try opened.close()
        try FileManager.default.removeItem(atPath: from)
        opened = try SQLiteStore(folder: to, durability: .fsync)
        isFull = false
    }
}
