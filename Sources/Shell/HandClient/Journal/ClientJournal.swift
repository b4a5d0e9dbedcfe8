import Disk
import EventLoop
import HandCore
import HandSync
import HandWire

/// The state that a client keeps on disk: its secret id, and for each list the last confirmed items and the events
/// since, so that edits made offline survive the process.
///
/// One process at a time has the journal open. Methods may be called from any thread; they block, and throw
/// `StoreError`.
package final class ClientJournal: Sendable {
    let database: SQLiteDatabase
    private let lock: StoreLock
    let path: String
    let person: String
    private let token: String?
    /// The client's secret id when the journal was opened. The journal creates the id once, and a new id if another
    /// program has the same id.
    package let client: ClientID
    /// The last sequence used in each history when the journal was opened, for histories whose list is not kept.
    package let used: [UInt64: SequenceNumber]

    /// The format of 1.0. Earlier formats have lower numbers, and are refused.
    private static let version = 14
    private static let applicationID = 0x6861_6E63
    private static let partBytes = 256 << 10

    /// Opens the journal at `path`, and creates it and its folder if necessary.
    ///
    /// - Parameters:
    ///   - person: the name of the person who edits.
    ///   - token: the person's token, whose own name counts on the server.
    /// - Throws: `StoreError` if the file is in use, newer than this program, or not a journal.
    package init(path: String, fresh: ClientID, person: String = "", token: String? = nil) throws {
        let folder = PrivateFile.folder(of: path)
        try StoreFile.makeFolder(folder)
        lock = try StoreLock(path: path + ".lock", of: path)
        try StoreFile.expectUsable(path)
        try StoreFile.checkHeader(path)
        try StoreFile.makePrivate(path)
        self.path = path
        (self.person, self.token) = (person, token)
        let database = try StoreFile.translating(path) { try SQLiteDatabase(path) }
        self.database = database
        (client, used) = try StoreFile.translating(path) {
            try database.withConnection { try $0.runAll("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL") }
            return try database.write { database in
                (try Self.prepare(database, path: path, fresh: fresh), try Self.usedSequences(database))
            }
        }
    }

    private static func prepare(_ database: SQLiteConnection, path: String, fresh: ClientID) throws -> ClientID {
        if try isEmpty(database) { try create(database, fresh) }
        try checkFormat(database, path)
        guard let row = try database.first("SELECT high, low, is_shared FROM client") else {
            throw StoreError.damaged("\(path): it has lost its client id")
        }
        if try row.integer(2) != 0, try take(fresh, database, path) { return fresh }
        return ClientID(high: try row.bits(0), low: try row.bits(1))
    }

    /// The key of a person's author numbers.
    func key(of person: String) -> String { Self.key(of: person, token) }

    static func key(of person: String, _ token: String?) -> String {
        person + (token.map { " \(Fingerprint.sha256($0).prefix(16))" } ?? "")
    }

    /// Whether the journal is still to be made.
    static func isEmpty(_ database: SQLiteConnection) throws -> Bool {
        try database.integer("SELECT count(*) FROM sqlite_master") == 0
    }

    static func checkFormat(_ database: SQLiteConnection, _ path: String) throws {
        guard try database.integer("PRAGMA application_id") == applicationID else {
            throw StoreError.notAStore(path: path)
        }
        try StoreFile.expectVersion(version, database, path)
    }

    /// Lists are rebuilt from their checkpoint, items and events. An entry of `submissions` without a revision has no
    /// answer yet, and is submitted again under its sequence.
    private static func create(_ database: SQLiteConnection, _ fresh: ClientID) throws {
        try database.runAll(
            """
            CREATE TABLE client (high INTEGER NOT NULL, low INTEGER NOT NULL, is_shared INTEGER NOT NULL);
            CREATE TABLE checkpoints (list TEXT PRIMARY KEY, head BLOB NOT NULL) WITHOUT ROWID;
            CREATE TABLE items (list TEXT, part INTEGER, items BLOB NOT NULL, PRIMARY KEY (list, part)) WITHOUT ROWID;
            CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL, event BLOB NOT NULL);
            CREATE INDEX events_by_list ON events (list, number);
            CREATE TABLE waiting (list TEXT PRIMARY KEY, person TEXT NOT NULL);
            CREATE TABLE authors (person TEXT PRIMARY KEY, number INTEGER NOT NULL);
            CREATE TABLE sequences (log_id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
            CREATE TABLE submissions (
                number INTEGER PRIMARY KEY, log_id INTEGER NOT NULL, sequence INTEGER NOT NULL, person TEXT NOT NULL,
                list TEXT NOT NULL, step INTEGER, count INTEGER NOT NULL, edit BLOB, revision INTEGER,
                UNIQUE (log_id, sequence));
            CREATE TABLE empty_steps (
                number INTEGER PRIMARY KEY, log_id INTEGER NOT NULL, step INTEGER NOT NULL, revision INTEGER NOT NULL,
                author INTEGER NOT NULL);
            CREATE TABLE undo (
                log_id INTEGER, person TEXT, base BLOB NOT NULL, PRIMARY KEY (log_id, person)) WITHOUT ROWID;
            CREATE TABLE work (
                log_id INTEGER, person TEXT, list TEXT NOT NULL, work BLOB NOT NULL, PRIMARY KEY (log_id, person))
                WITHOUT ROWID;
            CREATE TABLE losses (
                number INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL, log_id INTEGER NOT NULL,
                person TEXT NOT NULL, time INTEGER NOT NULL, is_refused INTEGER NOT NULL, is_told INTEGER NOT NULL,
                loss BLOB NOT NULL);
            CREATE TABLE folds (number INTEGER PRIMARY KEY, log_id INTEGER NOT NULL UNIQUE, items BLOB NOT NULL);
            CREATE TABLE seen (
                log_id INTEGER, person TEXT, list TEXT NOT NULL, revision INTEGER NOT NULL, unseen BLOB NOT NULL,
                PRIMARY KEY (log_id, person)) WITHOUT ROWID;
            PRAGMA application_id = \(applicationID);
            PRAGMA user_version = \(version);
            """)
        try database.run("INSERT INTO client VALUES (?, ?, 0)", [fresh.high.stored, fresh.low.stored])
    }

    static func write(_ replica: Replica, of list: String, _ database: SQLiteConnection) throws {
        try database.run("DELETE FROM events WHERE list = ?", [.text(list)])
        try database.run("DELETE FROM items WHERE list = ?", [.text(list)])
        try database.run(
            "INSERT OR REPLACE INTO checkpoints (list, head) VALUES (?, ?)",
            [.text(list), .bytes(replica.checkpoint.bytes)])
        try replica.confirmed.forEachPart(about: partBytes) { part, bytes in
            try database.run(
                "INSERT INTO items (list, part, items) VALUES (?, ?, ?)", [.text(list), .init(part), .bytes(bytes)])
        }
    }

    /// Gives the client another id, unless something is in flight; returns whether the client has got the id.
    static func take(_ fresh: ClientID, _ database: SQLiteConnection, _ path: String) throws -> Bool {
        if try hasInFlight(database, path) { return false }
        try database.run(
            "UPDATE client SET high = ?, low = ?, is_shared = 0", [fresh.high.stored, fresh.low.stored])
        try database.runAll(
            "DELETE FROM authors; DELETE FROM submissions; DELETE FROM empty_steps; DELETE FROM sequences")
        return true
    }

    /// Returns `PRAGMA synchronous`: 2 is FULL.
    package func synchronousLevel() throws -> Int {
        try reading { try $0.integer("PRAGMA synchronous") ?? -1 }
    }

    package func close() throws {
        defer { lock.release() }
        try StoreFile.translating(path) { try database.close() }
    }
}

// MARK: - Whose edits wait

extension ClientJournal {
    func noteWaiting(_ list: String, _ database: SQLiteConnection) throws {
        try database.run("INSERT OR IGNORE INTO waiting VALUES (?, ?)", [.text(list), .text(person)])
    }

    static func forgetWaiting(_ list: String, _ database: SQLiteConnection) throws {
        try database.run("DELETE FROM waiting WHERE list = ?", [.text(list)])
    }

    private static let unansweredPerson = "SELECT person FROM submissions WHERE edit IS NOT NULL"

    /// Returns the person whose edits wait, to be sent or for an answer, or nil if no edits wait. The edits may only be
    /// sent under that person's name. Looks at the edits' results.
    package func waitingPerson() throws -> String? {
        try writing { database in
            let waiting = try database.all("SELECT list, person FROM waiting") { (try $0.text(0), try $0.text(1)) }
            for (list, person) in waiting {
                if try Self.load(list, database, path)?.hasPending == true { return person }
                try Self.forgetWaiting(list, database)
            }
            return try database.first(Self.unansweredPerson)?.text(0)
        }
    }

    /// Reads everything in a journal and changes nothing. Works while another process has the journal open.
    ///
    /// - Returns: the lists with edits that wait to be sent.
    /// - Throws: `StoreError` if anything in the journal is damaged.
    package static func check(at path: String) throws -> [String] {
        try reading(path) { database in
            let verdicts = try database.all("PRAGMA quick_check") { try $0.text(0) }
            guard verdicts == ["ok"] else {
                throw StoreError.damaged("\(path): \(verdicts.first ?? "it does not say where")")
            }
            if try isEmpty(database) { return [] }
            try checkFormat(database, path)
            return try lists(database).filter { try load($0, database, path)?.hasPending == true }
        }
    }

    /// Returns whether a process has a journal open.
    package static func isInUse(at path: String) -> Bool {
        do { try StoreLock(path: path + ".lock", of: path).release() } catch .inUse { return true } catch {}
        return false
    }

    /// Returns the lists whose edits wait to be sent; none if the journal cannot be read. Works while another process
    /// has the journal open.
    package static func waitingLists(inJournalAt path: String) -> [String] {
        let found = try? reading(path) { database in
            let lists = try database.all("SELECT list FROM waiting ORDER BY list") { try $0.text(0) }
            return try lists.filter { try load($0, database, path)?.hasPending == true }
        }
        return found ?? []
    }

    /// Returns the person whose edits may wait in a journal. A returned name may be wrong, nil never is. Works while
    /// another process has the journal open.
    package static func waitingPerson(inJournalAt path: String) -> String? {
        try? reading(path) { try $0.first("SELECT person FROM waiting UNION ALL \(unansweredPerson)")?.text(0) }
    }
}
