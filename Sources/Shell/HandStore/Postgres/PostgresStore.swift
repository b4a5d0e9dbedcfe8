import HandSync
import HandWire

/// A `CommitStore` in a PostgreSQL database that several servers share.
///
/// No server owns a list. Each server appends with a compare-and-set on the list's row; a server that comes too late
/// gets the commits that others have appended. The database decides everything that is decided between servers.
package final class PostgresStore: CommitStore {
    let address: PostgresAddress
    /// The database and schema, for messages.
    package let place: String
    /// How long the database may take to answer.
    let timeout: Duration
    private let connector: PostgresConnector
    let writers: PostgresPool
    private let readers: PostgresPool
    let contention: Contention
    let feed: PostgresFeed

    /// The number of connections for writing; `readerCount` counts those for reading only.
    package static let writerCount = 8
    private static let readerCount = 4

    package var isShared: Bool { true }

    /// Opens the store in a database.
    ///
    /// - Parameters:
    ///   - address: in libpq's syntax, without a password. It leads to the database itself, not to a pooler whose
    ///     clients share a session.
    ///   - schema: the database schema of the tables: a lowercase word.
    ///   - passwordFile: a file whose first line is the password, if it does not come from libpq's environment.
    ///   - creates: whether the tables are created if the database has none.
    ///   - lockTime: how long a list may stay locked for a server that prepares its next batch.
    /// - Throws: `StoreError` if the database cannot be reached, or has other tables or a newer format; nothing is
    ///   changed then.
    package init(
        _ address: String, schema: String = "hand", passwordFile: String? = nil, creates: Bool = true,
        timeout: Duration = .seconds(5), lockTime: Duration = .milliseconds(250)
    ) throws {
        do { self.address = try PostgresAddress(address, passwordFile: passwordFile) } catch {
            throw StoreError.failed(error.message)
        }
        // The name of the channel for hints is five characters longer.
        guard schema.wholeMatch(of: #/[a-z_][a-z0-9_]{0,57}/#) != nil else {
            throw StoreError.failed(
                "'\(schema)' is not a schema name. Use at most 58 lowercase letters, digits and underscores.")
        }
        self.timeout = timeout
        contention = Contention(lockTime: lockTime)
        place = "\(self.address.description), schema \(schema)"
        connector = PostgresConnector(to: self.address, setup: Self.settings(schema: schema, timeout: timeout))
        writers = PostgresPool(connector, size: Self.writerCount)
        readers = PostgresPool(connector, size: Self.readerCount, setup: Self.readerSettings)
        feed = PostgresFeed(connector, channel: "hand_\(schema)", timeout: timeout)
        do {
            try translating {
                try writers.with(by: Deadline(in: timeout)) { try prepareTables($0, schema: schema, creates: creates) }
            }
        } catch {
            close()
            throw error
        }
    }

    deinit {
        close()
    }

    package func close() {
        feed.close()
        contention.release(to: writers, onlyOld: false)
        connector.close()
        writers.close()
        readers.close()
    }

    // MARK: Sessions

    /// Returns the statements that set up every session. An older server ignores the settings that it does not know.
    private static func settings(schema: String, timeout: Duration) -> [PostgresCall] {
        let words = [
            "search_path": schema,
            // Statements are planned while the tables are empty, and the plans are kept.
            "enable_seqscan": "off", "jit": "off",
            "default_transaction_isolation": "read committed",
            // A statement that we gave up on must not continue, or block others from a list.
            "statement_timeout": "\(Int(timeout / .milliseconds(1)))",
            "idle_in_transaction_session_timeout": "1000", "client_connection_check_interval": "1000",
        ]
        let sql = words.keys.sorted().map { "('\($0)', '\(words[$0] ?? "")')" }.joined(separator: ", ")
        return [
            PostgresCall(
                "SELECT set_config(name, value, false) FROM (VALUES \(sql)) AS words (name, value) JOIN pg_settings USING (name)",
                isKept: false),
            // An acknowledgement must be durable, whatever the database's default for other programs.
            PostgresCall(
                "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')",
                isKept: false),
        ]
    }

    /// All statements of a reading transaction see the database at one moment; the caller may compute between them.
    private static let readerSettings = [
        PostgresCall(
            """
            SELECT set_config('default_transaction_isolation', 'repeatable read', false),
                set_config('default_transaction_read_only', 'on', false),
                set_config('idle_in_transaction_session_timeout', '60000', false)
            """, isKept: false)
    ]

    /// Returns the values of settings in a session that appends.
    package func settings(_ words: [String]) throws -> [String] {
        try write { session in
            try words.map { try session.run("SELECT current_setting($1)", .text($0))[0].text(0) }
        }
    }

    /// Runs `body`, which only reads and sees the database at one moment. `body` may run several times.
    func read<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
        try retrying { try transaction(readers, by: $0, body) }
    }

    /// Reads with one statement, which by itself sees the database at one moment, and passes its rows to `body`.
    func ask<Result>(
        _ sql: String, _ values: PostgresValue..., then body: (PostgresRows) throws -> Result
    ) throws -> Result {
        try retrying { deadline in
            try body(
                try readers.with(by: deadline) { try $0.run(PostgresCall(sql, values), by: Deadline(in: timeout)) })
        }
    }

    /// Runs `body`, which only reads, and once or twice more if the connection was lost.
    private func retrying<Result>(_ body: (Deadline) throws -> Result) throws -> Result {
        try translating {
            let deadline = Deadline(in: timeout)
            for _ in 0..<2 {
                do { return try body(deadline) } catch let error as PostgresError {
                    guard error.isAboutConnection, error.state != PostgresError.unreachable, !deadline.hasPassed else {
                        throw error
                    }
                }
            }
            return try body(deadline)
        }
    }

    /// Runs `body` as one transaction, so that all of its changes are made or none. If the connection is lost at the
    /// wrong moment, the changes may be made although `write` throws.
    ///
    /// - Parameter timeout: how long a statement may take; nil for the usual time.
    func write<Result>(
        timeout: Duration? = nil, _ body: (PostgresSession) throws -> Result
    ) throws -> Result {
        try translating { try transaction(writers, by: Deadline(in: self.timeout), timeout: timeout, body) }
    }

    /// Runs `body`, which only reads and sees the database at one moment. `body` runs once, so it may have side
    /// effects.
    func readOnce<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
        try translating {
            try transaction(readers, by: Deadline(in: timeout), timeout: Self.copyTimeout) { session in
                // A statement may read all, and the caller may compute for as long as that takes.
                try session.run(
                    "SELECT set_config('idle_in_transaction_session_timeout', '0', true), "
                        + "set_config('statement_timeout', '0', true)")
                return try body(session)
            }
        }
    }

    private func transaction<Result>(
        _ pool: PostgresPool, by deadline: Deadline, timeout: Duration? = nil,
        _ body: (PostgresSession) throws -> Result
    ) throws -> Result {
        try pool.with(by: deadline) { connection in
            try PostgresSession(connection: connection, timeout: timeout ?? self.timeout).transaction(body)
        }
    }

    /// Runs `body` and translates the database's errors to `StoreError`.
    func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PostgresError {
            throw translated(error)
        } catch let error as WireError {
            throw StoreError.damaged("\(place) cannot be read: \(error)")
        }
    }

    func translated(_ error: PostgresError) -> StoreError {
        switch error.state {
        case _ where error.isAboutConnection || error.isPassing: .unreachable(place, why: error.description)
        // The statements of this program fail only if somebody else changed the tables.
        case "42P01", "42703", "42883", "3F000", "XX001", "XX002", "22P03": .damaged("\(place): \(error.description)")
        default: .failed("\(place): \(error.description)")
        }
    }
}

/// A connection with a transaction under way.
struct PostgresSession {
    let connection: PostgresConnection
    let timeout: Duration

    @discardableResult
    func run(_ sql: String, _ values: PostgresValue...) throws(PostgresError) -> PostgresRows {
        try connection.run(PostgresCall(sql, values), by: Deadline(in: timeout))
    }

    /// Runs `body` as a transaction, and rolls it back if `body` throws or the commit fails.
    func transaction<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
        try run("BEGIN")
        do {
            let result = try body(self)
            try commit()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private func commit() throws(PostgresError) {
        switch connection.run([[PostgresCall("COMMIT")]], by: Deadline(in: timeout))[0] {
        case .done(_, let notices):
            if let warning = notices.first(where: \.isUncertainty) { throw .uncertain(warning) }
        case .failed(let error), .unknown(let error): throw error
        }
    }

    /// Rolls back. The pool does not reuse a connection whose rollback failed.
    func rollBack() {
        if !connection.isIdle { _ = connection.run([[PostgresCall("ROLLBACK")]], by: Deadline(in: timeout)) }
    }
}

extension PostgresError {
    /// Whether this is a warning that a standby has not confirmed the transaction, so that it may not be durable.
    var isUncertainty: Bool { state == "01000" }

    static func uncertain(_ warning: PostgresError) -> PostgresError {
        PostgresError(state: connectionLost, "the transaction may not be durable: \(warning.message)")
    }
}
