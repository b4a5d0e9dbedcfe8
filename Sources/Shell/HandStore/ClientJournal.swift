import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

/// The state that a client keeps on disk: its secret id, and for each list the last confirmed items and the events
/// since, so that edits made offline survive the process.
///
/// One process at a time has it open. Methods may be called from any thread; they block, and throw `StoreError`.
package final class ClientJournal: Sendable {
    let database: DatabaseQueue
    private let lock: StoreLock
    let path: String
    private let person: String
    /// The client's secret id when the journal was opened. The journal creates it once, and again if another program
    /// has the same id.
    package let client: ClientID
    /// The last sequence used in each history when the journal was opened, for histories whose list is not kept.
    package let used: [UInt64: UInt64]

    /// The format that this program writes.
    /// - 2: checkpoints have the revision that the author of an edit saw, and whether the replica has diverged.
    /// - 3: events record that the client has become another author; the journal has the client's author numbers.
    /// - 4: the journal records which of the client's commits are undos or redos, and under which names edits wait.
    /// - 5: edits change texts instead of setting them.
    /// - 6: a sequence is used once, even if its submission is rejected; the journal has the used sequences of lists
    ///   that are not kept.
    private static let version = 6
    private static let applicationID = 0x6861_6E63
    private static let partBytes = 256 << 10

    /// Opens the journal at `path`, and creates it and its folder if necessary.
    ///
    /// - Parameter person: the name of the person who edits.
    /// - Throws: `StoreError` if the file is in use, newer than this program, or not a journal.
    package init(path: String, fresh: ClientID, person: String = "") throws {
        let folder = (path as NSString).deletingLastPathComponent
        try SQLiteStore.makeFolder(folder)
        lock = try StoreLock(path: path + ".lock", of: path)
        try SQLiteStore.expectUsable(path)
        try SQLiteStore.checkHeader(path)
        try SQLiteStore.makePrivate(path)
        self.path = path
        self.person = person
        let database = try SQLiteStore.translating(path) { try DatabaseQueue(path: path) }
        self.database = database
        (client, used) = try SQLiteStore.translating(path) {
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            }
            return try database.write { database in
                (try Self.prepare(database, path: path, fresh: fresh), try Self.usedSequences(database))
            }
        }
    }

    private static func prepare(_ database: Database, path: String, fresh: ClientID) throws -> ClientID {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let mark = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        if !isEmpty && mark != applicationID { throw StoreError.notAStore(path: path) }
        if found > version { throw StoreError.newer(path: path, found: found, known: version) }
        if found < 1 { try createFirstFormat(database, fresh) }
        if found < 3 {
            try database.execute(
                sql: """
                    CREATE TABLE authors (person TEXT PRIMARY KEY, number INTEGER NOT NULL);
                    ALTER TABLE client ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        if found < 4 {
            try database.execute(
                sql: """
                    CREATE TABLE waiting (list TEXT PRIMARY KEY, person TEXT NOT NULL);
                    CREATE TABLE steps (
                        number INTEGER PRIMARY KEY, log_id INTEGER NOT NULL, step INTEGER NOT NULL, sequence INTEGER,
                        revision INTEGER, author INTEGER);
                    """)
        }
        if found < 6 {
            try database.execute(
                sql: """
                    CREATE TABLE sequences (log_id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
                    INSERT INTO sequences
                        SELECT log_id, max(sequence) FROM steps WHERE sequence IS NOT NULL GROUP BY log_id;
                    """)
        }
        if found > 0, found < 6 { try makeSixthFormat(database, from: found) }
        if found < version { try database.execute(sql: "PRAGMA user_version = \(version)") }
        guard let row = try Row.fetchOne(database, sql: "SELECT high, low, is_shared FROM client") else {
            throw StoreError.damaged("\(path) has lost its client id")
        }
        let isShared: Bool = try row.value(2)
        if isShared, try take(fresh, database, path) { return fresh }
        return ClientID(high: try row.bits(0), low: try row.bits(1))
    }

    /// Rewrites each list as its replica is now. An unreadable checkpoint stays, after a prefix that no checkpoint has.
    private static func makeSixthFormat(_ database: Database, from found: Int) throws {
        for list in try String.fetchAll(database, sql: "SELECT list FROM checkpoints") {
            if let replica = try? load(list, database, "", format: found) {
                try write(replica, of: list, database)
            } else {
                let sql = "SELECT head FROM checkpoints WHERE list = ?"
                let head = try Data.fetchOne(database, sql: sql, arguments: [list]) ?? Data()
                try database.execute(
                    sql: "UPDATE checkpoints SET head = ? WHERE list = ?",
                    arguments: [Data(repeating: 0xFF, count: 10) + head, list])
            }
        }
    }

    private static func write(_ replica: Replica, of list: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM events WHERE list = ?", arguments: [list])
        try database.execute(sql: "DELETE FROM items WHERE list = ?", arguments: [list])
        try database.execute(
            sql: "INSERT OR REPLACE INTO checkpoints (list, head) VALUES (?, ?)",
            arguments: [list, Data(replica.checkpoint.bytes)])
        let statement = try database.cachedStatement(sql: "INSERT INTO items (list, part, items) VALUES (?, ?, ?)")
        try replica.confirmed.forEachPart(about: partBytes) { part, bytes in
            try statement.execute(arguments: [list, part, Data(bytes)])
        }
    }

    /// Gives the client another id, unless something is in flight; returns whether it did.
    static func take(_ fresh: ClientID, _ database: Database, _ path: String) throws -> Bool {
        if try hasInFlight(database, path) { return false }
        try database.execute(
            sql: "UPDATE client SET high = ?, low = ?, is_shared = 0; "
                + "DELETE FROM authors; DELETE FROM steps; DELETE FROM sequences",
            arguments: [fresh.high.stored, fresh.low.stored])
        return true
    }

    private static func createFirstFormat(_ database: Database, _ fresh: ClientID) throws {
        try database.execute(
            sql: """
                CREATE TABLE client (high INTEGER NOT NULL, low INTEGER NOT NULL);
                CREATE TABLE checkpoints (list TEXT PRIMARY KEY, head BLOB NOT NULL) WITHOUT ROWID;
                CREATE TABLE items (list TEXT, part INTEGER, items BLOB NOT NULL, PRIMARY KEY (list, part)) WITHOUT ROWID;
                CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, list TEXT NOT NULL, event BLOB NOT NULL);
                CREATE INDEX events_by_list ON events (list, number);
                PRAGMA application_id = \(applicationID);
                """)
        try database.execute(
            sql: "INSERT INTO client VALUES (?, ?)", arguments: [fresh.high.stored, fresh.low.stored])
    }

    /// Returns `PRAGMA synchronous`: 2 is FULL.
    package func synchronousLevel() throws -> Int {
        try SQLiteStore.translating(path) {
            try database.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
        }
    }

    package func close() throws {
        defer { lock.release() }
        try SQLiteStore.translating(path) { try database.close() }
    }
}

// MARK: - Lists

extension ClientJournal {
    /// Adds events of a list in one transaction.
    package func append(_ events: [JournalEvent], to list: String) throws {
        try SQLiteStore.translating(path) {
            try database.write { database in
                let statement = try database.cachedStatement(sql: "INSERT INTO events (list, event) VALUES (?, ?)")
                for event in events { try statement.execute(arguments: [list, Data(event.bytes)]) }
                if events.contains(where: \.isEdit) { try noteWaiting(list, database) }
            }
        }
    }

    /// Replaces the stored state of a list by its present replica.
    ///
    /// - Parameter formerName: the name under which the list was kept before, if it was another. Edits that wait under
    ///   the new name, which must belong to some other list, are set aside.
    package func checkpoint(_ replica: Replica, of list: String, formerName: String? = nil) throws {
        try SQLiteStore.translating(path) {
            try database.write { database in
                if let formerName {
                    try Self.setAside(list, database, path)
                    try Self.move(formerName, to: list, database)
                }
                try Self.write(replica, of: list, database)
                try replica.hasPending ? noteWaiting(list, database) : Self.forgetWaiting(list, database)
            }
        }
    }

    /// Returns the stored replica of a list, or nil if there is none.
    package func load(_ list: String) throws -> Replica? {
        try SQLiteStore.translating(path) {
            try database.read { try Self.load(list, $0, path) }
        }
    }

    private static func load(
        _ list: String, _ database: Database, _ path: String, format: Int = version
    ) throws -> Replica? {
        let sql = "SELECT head FROM checkpoints WHERE list = ?"
        guard let head = try Data.fetchOne(database, sql: sql, arguments: [list]) else { return nil }
        let parts = try Data.fetchCursor(
            database, sql: "SELECT items FROM items WHERE list = ? ORDER BY part", arguments: [list])
        let events = try Data.fetchCursor(
            database, sql: "SELECT event FROM events WHERE list = ? ORDER BY number", arguments: [list])
        do {
            return try replica(head, parts, events, format)
        } catch let error as DatabaseError {
            throw error
        } catch {
            throw StoreError.damaged("the copy of '\(list)' in \(path) cannot be read: \(error)")
        }
    }

    /// Returns whether a submission under this client's id is in flight, so that its result is not known yet.
    private static func hasInFlight(_ database: Database, _ path: String) throws -> Bool {
        try String.fetchAll(database, sql: "SELECT list FROM checkpoints").contains {
            try load($0, database, path)?.inFlight != nil
        }
    }

    private static func replica(
        _ head: Data, _ parts: some Cursor<Data>, _ events: some Cursor<Data>, _ format: Int
    ) throws -> Replica {
        let setsTexts = format < 5
        var checkpoint = try [UInt8](head).withUnsafeBytes { try Replica.Checkpoint($0, setsTexts: setsTexts) }
        var items: [PackedItem] = []
        while let part = try parts.next() { items += try PackedItem.all(in: part) }
        let confirmed = Hand(packed: items, rules: checkpoint.rules)
        if setsTexts { try checkpoint.resolve(on: confirmed) }
        var replica = try Replica(checkpoint, confirmed: confirmed)
        while let bytes = try events.next() {
            let event = try [UInt8](bytes).withUnsafeBytes { try JournalEvent($0, setsTexts: setsTexts) }
            let resolved = setsTexts ? try event.resolved(on: replica) : event
            if format < 6 { try replica.replayFormer(resolved) } else { try replica.replay(resolved) }
        }
        return replica
    }

    /// Discards the stored state of a list, including edits that were not sent.
    package func forget(_ list: String) throws {
        try SQLiteStore.translating(path) {
            try database.write { try Self.forget(list, $0) }
        }
    }

    private static let tables = ["events", "items", "checkpoints", "waiting"]

    private static func forget(_ list: String, _ database: Database) throws {
        if let replica = try? load(list, database, "") { try noteUsed(replica.sequence, in: replica.logID, database) }
        for table in tables { try database.execute(sql: "DELETE FROM \(table) WHERE list = ?", arguments: [list]) }
    }

    private static func move(_ list: String, to name: String, _ database: Database) throws {
        for table in tables {
            try database.execute(sql: "UPDATE \(table) SET list = ? WHERE list = ?", arguments: [name, list])
        }
    }

    /// Moves waiting edits to a name that no list has: they belong to the list with their log id. Nothing is kept under
    /// the old name then.
    private static func setAside(_ list: String, _ database: Database, _ path: String) throws {
        if try load(list, database, path)?.hasPending == true {
            let taken = try Set(String.fetchAll(database, sql: "SELECT list FROM checkpoints"))
            let free = (1...).lazy.map { "\(list)~\($0)" }.first { !taken.contains($0) }
            try move(list, to: free ?? list, database)
        } else {
            try forget(list, database)
        }
    }

    /// Returns the number of events of a list since its last checkpoint.
    package func eventCount(of list: String) throws -> Int {
        try SQLiteStore.translating(path) {
            try database.read { database in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM events WHERE list = ?", arguments: [list]) ?? 0
            }
        }
    }

    /// Returns whether the journal may have edits of a list that the server has not answered. Looks only at the edits
    /// since the last checkpoint, not at their results: true may be wrong, false never is. Does not read the items.
    package func mayHavePending(_ list: String) throws -> Bool {
        try SQLiteStore.translating(path) {
            try database.read { database in
                let sql = "SELECT head FROM checkpoints WHERE list = ?"
                guard let head = try Data.fetchOne(database, sql: sql, arguments: [list]) else { return false }
                let checkpoint = try? [UInt8](head).withUnsafeBytes { try Replica.Checkpoint($0) }
                guard let checkpoint, checkpoint.inFlight == nil, checkpoint.buffer.isEmpty else { return true }
                let kinds = try Data.fetchCursor(
                    database, sql: "SELECT DISTINCT substr(event, 1, 1) FROM events WHERE list = ?", arguments: [list])
                while let kind = try kinds.next() {
                    if kind.first.map(JournalEvent.isEdit) ?? true { return true }
                }
                return false
            }
        }
    }

    /// Returns the names of all lists in the journal.
    package func lists() throws -> [String] {
        try SQLiteStore.translating(path) {
            try database.read { try String.fetchAll($0, sql: "SELECT list FROM checkpoints ORDER BY list") }
        }
    }
}

// MARK: - Whose edits wait

extension ClientJournal {
    private func noteWaiting(_ list: String, _ database: Database) throws {
        try database.execute(sql: "INSERT OR IGNORE INTO waiting VALUES (?, ?)", arguments: [list, person])
    }

    private static func forgetWaiting(_ list: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM waiting WHERE list = ?", arguments: [list])
    }

    /// Returns the person whose edits wait, if any do: they may only be sent under that name. Looks at the edits'
    /// results.
    package func waitingPerson() throws -> String? {
        try SQLiteStore.translating(path) {
            try database.write { database in
                for row in try Row.fetchAll(database, sql: "SELECT list, person FROM waiting") {
                    let list: String = try row.value(0)
                    if try Self.load(list, database, path)?.hasPending == true { return try row.value(1) }
                    try Self.forgetWaiting(list, database)
                }
                return nil
            }
        }
    }

    /// Reads everything in a journal and changes nothing. Works while another process has it open.
    ///
    /// - Returns: the lists with edits that wait to be sent.
    /// - Throws: `StoreError` if anything in it is damaged.
    package static func check(at path: String) throws -> [String] {
        try SQLiteStore.translating(path) {
            try reading(path) { database in
                let verdicts = try String.fetchAll(database, sql: "PRAGMA quick_check")
                guard verdicts == ["ok"] else {
                    throw StoreError.damaged("\(path) is damaged: \(verdicts.first ?? "it does not say where")")
                }
                let format = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                if format > version { throw StoreError.newer(path: path, found: format, known: version) }
                return try String.fetchAll(database, sql: "SELECT list FROM checkpoints ORDER BY list").filter { list in
                    try load(list, database, path, format: format)?.hasPending == true
                }
            }
        }
    }

    /// Returns the person whose edits may wait in a journal. A name may be wrong, nil never is. Works while another
    /// process has the journal open.
    package static func waitingPerson(inJournalAt path: String) -> String? {
        try? reading(path) { try String.fetchOne($0, sql: "SELECT person FROM waiting") }
    }
}

extension JournalEvent {
    fileprivate var isEdit: Bool { if case .edit = self { true } else { false } }
}

// MARK: - Items in rows

extension Hand {
    /// Passes the items to `body` as bytes, in parts of about `size` bytes.
    func forEachPart(about size: Int, _ body: (Int, [UInt8]) throws -> Void) rethrows {
        var writer = WireWriter(reserving: size + 1024)
        var part = 0
        for item in packedItems {
            writer.item(item)
            if writer.count >= size {
                try body(part, writer.bytes)
                writer.removeAll()
                part += 1
            }
        }
        if writer.count > 0 { try body(part, writer.bytes) }
    }
}

extension PackedItem {
    /// Returns the items of a row.
    static func all(in row: Data) throws -> [PackedItem] {
        var items: [PackedItem] = []
        try row.withUnsafeBytes { all in
            var reader = WireReader(all)
            while reader.remaining > 0 { items.append(try reader.packedItem()) }
        }
        return items
    }
}
