import Disk
import HandCore
import HandSync
import HandWire

// The lists of a journal: of each, a checkpoint and what has happened since.

extension ClientJournal {
    /// The most commits that follow a checkpoint outside of a followed list. Then the checkpoint is written anew.
    private static let maxEvents = 1_000

    /// Adds events of a list in one transaction.
    package func append(_ events: [JournalEvent], to list: String) throws {
        try writing { try append(events, to: list, $0) }
    }

    func append(_ events: [JournalEvent], to list: String, _ database: SQLiteConnection) throws {
        let sql = "INSERT INTO events (list, event) VALUES (?, ?)"
        for event in events { try database.run(sql, [.text(list), .bytes(event.bytes)]) }
        if events.contains(where: \.isEdit) { try noteWaiting(list, database) }
    }

    /// Replaces the stored state of a list by its present replica.
    ///
    /// - Parameter formerName: the list's former name in the journal, if the list was renamed. Edits that wait under
    ///   the new name must belong to some other list, and are set aside.
    package func checkpoint(_ replica: Replica, of list: String, formerName: String? = nil) throws {
        try writing { try checkpoint(replica, of: list, formerName: formerName, $0) }
    }

    func checkpoint(
        _ replica: Replica, of list: String, formerName: String?, _ database: SQLiteConnection
    ) throws {
        if let formerName {
            try Self.setAside(list, database, path)
            try Self.move(formerName, to: list, database)
        }
        try Self.write(replica, of: list, database)
        try replica.hasPending ? noteWaiting(list, database) : Self.forgetWaiting(list, database)
    }

    /// Continues the stored state of a list with its newest commits, if no edits wait on it. If another list has the
    /// name now, discards the stored state.
    ///
    /// - Returns: the first revision that is missing before these commits; nil if none is, or there is nothing to
    ///   continue in this history.
    package func advance(_ list: String, in log: UInt64, by commits: [Commit]) throws -> Int? {
        try writing { database in
            guard let first = commits.first, try !Self.mayHavePending(list, database),
                let stored = try Self.place(of: list, database)
            else { return nil }
            if !LogID.isSameList(stored.log, log) { try Self.forget(list, database) }
            guard stored.log == log else { return nil }
            if stored.revision + 1 < first.revision { return stored.revision + 1 }
            let newer = commits.drop { $0.revision <= stored.revision }
            try append(newer.map { .commit($0) }, to: list, database)
            if try Self.eventCount(of: list, database) > Self.maxEvents,
                let replica = try Self.load(list, database, path)
            {
                try Self.write(replica, of: list, database)
            }
            return nil
        }
    }

    /// Returns the history and the revision of a list's stored state, if it was not edited here since.
    private static func place(of list: String, _ database: SQLiteConnection) throws -> (log: UInt64, revision: Int)? {
        guard let head = try database.first("SELECT head FROM checkpoints WHERE list = ?", [.text(list)]),
            let checkpoint = try? head.withBytes(0, { try Replica.Checkpoint($0) })
        else { return nil }
        let last = try database.first(
            "SELECT event FROM events WHERE list = ? ORDER BY number DESC LIMIT 1", [.text(list)])
        switch try last?.withBytes(0, { try JournalEvent($0) }) {
        case nil: return (checkpoint.logID, checkpoint.revision)
        case .commit(let commit): return (checkpoint.logID, commit.revision)
        default: return nil
        }
    }

    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try StoreFile.translating(path) { try database.read(body) }
    }

    /// Runs `body` in a transaction.
    func writing<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try StoreFile.translating(path) { try database.write(body) }
    }

    /// Returns the stored replica of a list, or nil if there is none.
    package func load(_ list: String) throws -> Replica? {
        try reading { try Self.load(list, $0, path) }
    }

    /// Returns the stored replica of a list, or nil if there is none. Works while another process has the journal open,
    /// or is making it.
    package static func copy(of list: String, inJournalAt path: String) throws -> Replica? {
        try reading(path) { database in
            if try isEmpty(database) { return nil }
            try checkFormat(database, path)
            return try load(list, database, path)
        }
    }

    static func load(_ list: String, _ database: SQLiteConnection, _ path: String) throws -> Replica? {
        let sql = "SELECT head FROM checkpoints WHERE list = ?"
        guard let head = try database.first(sql, [.text(list)]) else { return nil }
        let parts = try database.rows("SELECT items FROM items WHERE list = ? ORDER BY part", [.text(list)])
        let events = try database.rows("SELECT event FROM events WHERE list = ? ORDER BY number", [.text(list)])
        do {
            return try replica(head, parts, events)
        } catch let error as SQLiteError {
            throw error
        } catch {
            throw StoreError.damaged("\(path): the copy of '\(list)' cannot be read: \(error)")
        }
    }

    /// Returns whether a submission under this client's id is in flight, so that its result is not known yet.
    static func hasInFlight(_ database: SQLiteConnection, _ path: String) throws -> Bool {
        try lists(database).contains {
            try load($0, database, path)?.inFlight != nil
        }
    }

    private static func replica(
        _ head: SQLiteRow, _ parts: SQLiteRows, _ events: SQLiteRows
    ) throws -> Replica {
        let checkpoint = try head.withBytes(0) { try Replica.Checkpoint($0) }
        var items: [PackedItem] = []
        while let part = try parts.next() { items += try part.withBytes(0, PackedItem.all) }
        var replica = try Replica(checkpoint, confirmed: Hand(packed: items, rules: checkpoint.rules))
        while let row = try events.next() { try replica.replay(try row.withBytes(0) { try JournalEvent($0) }) }
        return replica
    }

    /// Discards the stored state of a list, including edits that were not sent.
    package func forget(_ list: String) throws {
        try writing { try Self.forget(list, $0) }
    }

    private static let tables = ["events", "items", "checkpoints", "waiting"]

    private static func forget(_ list: String, _ database: SQLiteConnection) throws {
        if let replica = try? load(list, database, "") { try noteUsed(replica.sequence, in: replica.logID, database) }
        for table in tables { try database.run("DELETE FROM \(table) WHERE list = ?", [.text(list)]) }
    }

    private static func move(_ list: String, to name: String, _ database: SQLiteConnection) throws {
        for table in tables {
            try database.run("UPDATE \(table) SET list = ? WHERE list = ?", [.text(name), .text(list)])
        }
    }

    /// Moves waiting edits to a name that no list has: they belong to the list with their log id. Afterwards nothing is
    /// kept under the old name.
    private static func setAside(_ list: String, _ database: SQLiteConnection, _ path: String) throws {
        if try load(list, database, path)?.hasPending == true {
            let taken = try Set(lists(database))
            let free = (1...).lazy.map { "\(list)~\($0)" }.first { !taken.contains($0) }
            try move(list, to: free ?? list, database)
        } else {
            try forget(list, database)
        }
    }

    /// Returns the number of events of a list since its last checkpoint.
    package func eventCount(of list: String) throws -> Int {
        try reading { try Self.eventCount(of: list, $0) }
    }

    private static func eventCount(of list: String, _ database: SQLiteConnection) throws -> Int {
        try database.integer("SELECT count(*) FROM events WHERE list = ?", [.text(list)]) ?? 0
    }

    /// Returns whether the journal may have edits of a list that the server has not answered. Looks only at the edits
    /// since the last checkpoint, not at their results: true may be wrong, false never is. Does not read the items.
    package func mayHavePending(_ list: String) throws -> Bool {
        try reading { try Self.mayHavePending(list, $0) }
    }

    private static func mayHavePending(_ list: String, _ database: SQLiteConnection) throws -> Bool {
        guard let head = try database.first("SELECT head FROM checkpoints WHERE list = ?", [.text(list)]) else {
            return false
        }
        let checkpoint = try? head.withBytes(0) { try Replica.Checkpoint($0) }
        guard let checkpoint, checkpoint.inFlight == nil, checkpoint.buffer.isEmpty else { return true }
        return try database.all(
            "SELECT DISTINCT substr(event, 1, 1) FROM events WHERE list = ?", [.text(list)]
        ) { try $0.bytes(0).first.map(JournalEvent.isEdit) ?? true }.contains(true)
    }

    /// Returns the names of all lists in the journal.
    package static func lists(inJournalAt path: String) throws -> [String] {
        try reading(path) { database in
            if try isEmpty(database) { return [] }
            try checkFormat(database, path)
            return try lists(database)
        }
    }

    package func lists() throws -> [String] {
        try reading { try Self.lists($0) }
    }

    static func lists(_ database: SQLiteConnection) throws -> [String] {
        try database.all("SELECT list FROM checkpoints ORDER BY list") { try $0.text(0) }
    }
}

extension JournalEvent {
    fileprivate var isEdit: Bool {
        switch self {
        case .edit, .step: true
        case .submitted, .commit, .rejected, .caughtUp, .authors: false
        }
    }
}
