import Disk
import FoundationEssentials
import Glibc
import HandSync
import HandWire

package enum StoreBackup {
    /// Writes the store of a folder, as it is at one moment, into a file, also while a server writes to the store. The
    /// file gets its name when it is complete and flushed.
    ///
    /// - Parameter rules: the access rules in force, if there are any; they contain no secrets.
    /// - Throws: `StoreError` if there is no store, or the file exists already.
    package static func write(_ folder: String, to file: String, rules: [UInt8]? = nil) throws {
        let source = StoreVerifier.file(at: folder)
        try StoreFile.expectThere(source, of: folder)
        try write(to: file) { partial in
            try copy(source, to: partial)
            guard let rules else { return }
            try StoreFile.translating(partial) {
                let copy = try SQLiteDatabase(partial)
                try copy.write { try SQLiteStore.remember(rules, $0) }
                try copy.close()
            }
        }
    }

    /// Copies a database and its log, as they are at one moment, into an empty file.
    private static func copy(_ source: String, to file: String) throws {
        try LogCheck.check(source)
        try StoreFile.translating(source) {
            let database = try StoreFile.opened(source)
            guard try database.read({ try Schema.isThere($0, source) }) else {
                throw StoreError.notAStore(path: source)
            }
            do {
                _ = try database.withConnection { try $0.run("VACUUM INTO ?", [.text(file)]) }
            } catch let error as SQLiteError where error.isFull {
                throw StoreError.failed("\(file): \(error)")
            }
            try database.close()
        }
    }

    /// Runs `body` to fill an empty file, which gets its name when it is complete and flushed.
    ///
    /// - Throws: `StoreError` if there is a file of that name, or what `body` throws.
    static func write(to file: String, _ body: (_ partial: String) throws -> Void) throws {
        guard try !PrivateFile.exists(file) else {
            throw StoreError.failed("\(file) exists already; name another file")
        }
        let partial = file + ".partial"
        try translating { try PrivateFile.make(partial) }
        // Whoever writes the file holds its lock; what a killed backup has left is begun anew.
        let writer = open(partial, O_RDWR | O_CLOEXEC)
        guard writer >= 0, flock(writer, LOCK_EX | LOCK_NB) == 0, try !PrivateFile.exists(file) else {
            if writer >= 0 { Glibc.close(writer) }
            throw StoreError.failed("\(file) is being written by another backup; name another file")
        }
        defer { Glibc.close(writer) }
        try translating { for part in try parts(of: partial).dropFirst() { try PrivateFile.remove(part) } }
        guard ftruncate(writer, 0) == 0 else {
            throw StoreError.failed("cannot empty \(partial): \(String(cString: strerror(errno)))")
        }
        do { try body(partial) } catch {
            try? removeAll(partial)
            throw error
        }
        try DurabilityMark.flush(fileAt: partial)
        try move(partial, to: file)
        try translating { try PrivateFile.flushFolder(of: file) }
    }

    /// Replaces a store's database by a backup. The lists get new histories: commits after the backup are gone, so a
    /// client that has seen such commits must not continue from them. The clients keep their pending edits.
    ///
    /// Existing access rules stay. If there are none, those of the backup apply. But if the store had rules and their
    /// file got lost, the new store keeps a copy of these rules, so that the loss is still known, and nobody is let in.
    ///
    /// If the process is killed, either nothing has changed, or the next opening of the store completes the recovery.
    ///
    /// - Parameters:
    ///   - replaces: whether an existing database may be replaced. The replaced database is moved aside, as is a log
    ///     without a database.
    ///   - renews: whether the lists get new histories; otherwise clients continue where they were.
    ///   - salvages: whether a damaged backup is restored without what is damaged.
    ///   - stamp: distinguishes the files that are moved aside from earlier ones.
    ///   - accessFile: the path of the access rules.
    ///   - random: generates the ids of the new histories.
    /// - Throws: `StoreError` if a server has the store open, or a store exists and may not be replaced; nothing is
    ///   changed then.
    package static func restore(
        _ file: String, to folder: String, replaces: Bool, renews: Bool = true, salvages: Bool = false, stamp: Int,
        accessFile: String, random: inout some RandomNumberGenerator
    ) throws -> Recovery {
        try StoreFile.makeFolder(folder)
        let lock = try StoreLock(path: folder + "/lock", of: folder, folder: folder)
        defer { lock.release() }
        try finishRecovery(in: folder)
        let target = folder + "/hand.sqlite"
        let there = try parts(of: target)
        if there.contains(target), !replaces { throw StoreError.failed("there is a store in \(folder) already") }
        let stamp = try (stamp...).first { try parts(of: aside(folder, "\($0)")).isEmpty } ?? stamp
        let partial = target + ".partial"
        try removeAll(partial)
        do {
            if try PrivateFile.exists(file + "-wal") {
                // It is no backup, but a store of which some is only in its log.
                try translating { try PrivateFile.make(partial) }
                try copy(file, to: partial)
            } else {
                try translating { try PrivateFile.copy(file, to: partial) }
            }
        } catch StoreError.damaged where salvages {
            // The copy reads every page of the store, so it fails at a damaged one.
            try removeAll(partial)
            for ending in ["", "-wal"] {
                try translating { try PrivateFile.copy(file + ending, to: partial + ending) }
            }
        }
        let salvage = salvages ? try StoreSalvage.run(partial) : (losses: [], isRebuilt: false)
        if renews { try renewHistories(partial, &random) }
        let access = try takeAccess(partial, folder, accessFile)
        guard try FileState(at: partial + "-wal")?.size ?? 0 == 0 else {
            throw StoreError.failed("\(partial) is in use by another program")
        }
        try translating { for part in try parts(of: partial).dropFirst() { try PrivateFile.remove(part) } }
        try DurabilityMark.flush(fileAt: partial)
        // From here on the recovery is completed, whatever happens.
        try move(partial, to: target + StoreFile.recovered + "\(stamp)")
        try finishRecovery(in: folder)
        return Recovery(
            aside: there.isEmpty ? nil : aside(folder, "\(stamp)"), access: access,
            losses: salvage.losses, isRebuilt: salvage.isRebuilt)
    }

    package struct Recovery: Sendable {
        /// The path of the replaced store, or nil if there was none.
        package let aside: String?
        package let access: Access
        /// The lists that were damaged.
        package let losses: [StoreSalvage.Loss]
        /// Whether the file itself was damaged, and not only some rows.
        package let isRebuilt: Bool

        /// Which access rules apply.
        package enum Access: Sendable {
            case kept
            /// The store had rules, but their file is lost.
            case lost
            case fromBackup
            /// There never were any rules, as far as is known.
            case none
        }
    }

    /// Stores lost access rules in the copy that becomes the store, or writes the backup's rules to the access file.
    private static func takeAccess(_ copy: String, _ folder: String, _ file: String) throws -> Recovery.Access {
        if try PrivateFile.exists(file) { return .kept }
        // A damaged store has no rules to read.
        if let lost = try? SQLiteStore.accessRules(in: folder) {
            let database = try SQLiteDatabase(copy)
            try database.write { try SQLiteStore.remember(lost, $0) }
            try database.close()
            return .lost
        }
        guard let rules = try SQLiteStore.accessRules(in: copy) else { return .none }
        try translating { try PrivateFile.replace(file, with: rules) }
        return .fromBackup
    }

    private static func aside(_ folder: String, _ stamp: some StringProtocol) -> String {
        folder + "/hand.sqlite.replaced-" + stamp
    }

    /// Moves a prepared recovery into the store's place. Call this while holding the store's lock.
    static func finishRecovery(in folder: String) throws {
        let target = folder + "/hand.sqlite"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasPrefix("hand.sqlite" + StoreFile.recovered) {
            try translating { try PrivateFile.flushFolder(of: target) }
            let aside = aside(folder, name.dropFirst("hand.sqlite\(StoreFile.recovered)".count))
            // The database first: a database without its log would seem to be complete.
            for part in try parts(of: target) { try move(part, to: aside + part.dropFirst(target.count)) }
            try translating { try PrivateFile.flushFolder(of: target) }
            try move(folder + "/" + name, to: target)
            try translating { try PrivateFile.flushFolder(of: target) }
        }
    }

    private static func renewHistories(_ file: String, _ random: inout some RandomNumberGenerator) throws {
        try StoreFile.translating(file) {
            let database = try SQLiteDatabase(file)
            let lists = try database.read { try ListRow.all("TRUE", [], $0) }
            let fresh = lists.map { ($0, LogID.renewed($0.logID, using: &random)) }
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

    /// Returns the existing files of a database: the database itself, and the files that SQLite keeps next to it.
    private static func parts(of database: String) throws -> [String] {
        try ["", "-wal", "-shm", "-journal"].map { database + $0 }.filter { try PrivateFile.exists($0) }
    }

    static func removeAll(_ database: String) throws {
        try translating { for part in try parts(of: database).reversed() { try PrivateFile.remove(part) } }
    }

    static func move(_ from: String, to: String) throws {
        guard rename(from, to) == 0 else {
            throw StoreError.failed("cannot rename \(from) to \(to): \(String(cString: strerror(errno)))")
        }
    }

    /// Runs `body` and translates the errors of files to `StoreError`.
    private static func translating(_ body: () throws -> Void) throws {
        do { try body() } catch let error as FileError { throw StoreError.failed(error.description) }
    }
}
