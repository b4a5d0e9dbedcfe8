import HandCore
import HandSync
import HandWire
import Postgres
import Synchronization

/// A `CommitStore` in a PostgreSQL database that several servers share.
///
/// None of them owns a list. Each appends under compare-and-set on the list's row; whoever comes too late is given what was
/// appended meanwhile. Everything that is decided between servers is decided by the database.
package final class PostgresStore: CommitStore {
    let address: PostgresAddress
    /// Where it is, for messages.
    package let place: String
    /// How long the database may take to answer.
    let patience: Duration
    private let connector: PostgresConnector
    let writers: PostgresPool
    private let readers: PostgresPool
    let contention: Contention
    let feed: PostgresFeed

    /// Connections for what writes, and for what only reads.
    static let writerCount = 8
    private static let readerCount = 4

    package var isShared: Bool { true }

    /// Opens the store in a database, and makes its tables if need be.
    ///
    /// - Parameters:
    ///   - address: as libpq reads it, without a password. It leads to the database itself, not to a pooler that has several
    ///     clients share a session.
    ///   - schema: in which schema of the database the tables are: a lowercase word.
    ///   - passwordFile: whose first line is the password, if it does not come from libpq's environment.
    ///   - lockTime: how long a list may stay locked for a server that is to come back.
    /// - Throws: `StoreError` if the database cannot be reached, or holds something else or something newer; then nothing is changed.
    package init(
        _ address: String, schema: String = "hand", passwordFile: String? = nil, patience: Duration = .seconds(5),
        lockTime: Duration = .milliseconds(250)
    ) throws {
        do { self.address = try PostgresAddress(address, passwordFile: passwordFile) } catch {
            throw StoreError.failed(error.message)
        }
        // The name of the channel for hints is longer by five.
        guard schema.wholeMatch(of: #/[a-z_][a-z0-9_]{0,57}/#) != nil else {
            throw StoreError.failed(
                "'\(schema)' names no schema. Use at most 58 lowercase letters, digits and underscores.")
        }
        self.patience = patience
        contention = Contention(lockTime: lockTime)
        place = "\(self.address.description), schema \(schema)"
        connector = PostgresConnector(to: self.address, setup: Self.settings(schema: schema, patience: patience))
        writers = PostgresPool(connector, size: Self.writerCount)
        readers = PostgresPool(connector, size: Self.readerCount, setup: Self.readerSettings)
        feed = PostgresFeed(connector, channel: "hand_\(schema)", patience: patience)
        do {
            try translating { try writers.with(by: Deadline(in: patience)) { try migrate($0, schema: schema) } }
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
        contention.releaseAll(to: writers)
        connector.close()
        writers.close()
        readers.close()
    }

    // MARK: Sessions

    /// What every session is told. A server that does not know one of the words is older, and does without.
    private static func settings(schema: String, patience: Duration) -> [PostgresCall] {
        let words = [
            "search_path": schema,
            // Plans are made while tables are empty, and kept.
            "enable_seqscan": "off", "jit": "off",
            "default_transaction_isolation": "read committed",
            // What we have given up should not go on, nor keep others from a list.
            "statement_timeout": "\(Int(patience / .milliseconds(1)))",
            "idle_in_transaction_session_timeout": "1000", "client_connection_check_interval": "1000",
        ]
        let sql = words.keys.sorted().map { "('\($0)', '\(words[$0] ?? "")')" }.joined(separator: ", ")
        return [
            PostgresCall(
                "SELECT set_config(name, value, false) FROM (VALUES \(sql)) AS words (name, value) JOIN pg_settings USING (name)",
                isKept: false),
            // An acknowledgement is a promise, whatever the database makes of other programs'.
            PostgresCall(
                "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')",
                isKept: false),
        ]
    }

    /// One moment is read, in as many statements as it takes; the caller may think in between.
    private static let readerSettings = [
        PostgresCall(
            """
            SELECT set_config('default_transaction_isolation', 'repeatable read', false),
                set_config('default_transaction_read_only', 'on', false),
                set_config('idle_in_transaction_session_timeout', '60000', false)
            """, isKept: false)
    ]

    /// What words are set to in a session that appends.
    package func settings(_ words: [String]) throws -> [String] {
        try write { session in
            try words.map { try session.run("SELECT current_setting($1)", .text($0))[0].text(0) }
        }
    }

    /// Runs `body`, which only reads, as if at one moment.
    func read<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
        try retrying { try transaction(readers, by: $0, body) }
    }

    /// Reads with one statement, which is one moment by itself, and makes something of the rows.
    func ask<Result>(
        _ sql: String, _ values: PostgresValue..., then body: (PostgresRows) throws -> Result
    ) throws -> Result {
        try retrying { deadline in
            try body(
                try readers.with(by: deadline) { try $0.run(PostgresCall(sql, values), by: Deadline(in: patience)) })
        }
    }

    /// Runs what only reads, and once or twice more if the connection was lost.
    private func retrying<Result>(_ body: (Deadline) throws -> Result) throws -> Result {
        try translating {
            let deadline = Deadline(in: patience)
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

    /// Runs `body` as one transaction: all of what it changes or nothing, unless the connection is lost at the wrong moment.
    func write<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
        try translating { try transaction(writers, by: Deadline(in: patience), body) }
    }

    /// Runs `body`, which only reads, as if at one moment, and may do something with what it reads: it is not run again.
    func readOnce<Result>(_ body: (PostgresSession) throws -> Result) throws -> Result {
        try translating { try transaction(readers, by: Deadline(in: patience), body) }
    }

    /// The same as `write`, where statements may take longer.
    func write<Result>(patience: Duration, _ body: (PostgresSession) throws -> Result) throws -> Result {
        try translating { try transaction(writers, by: Deadline(in: self.patience), patience: patience, body) }
    }

    private func transaction<Result>(
        _ pool: PostgresPool, by deadline: Deadline, patience: Duration? = nil,
        _ body: (PostgresSession) throws -> Result
    ) throws -> Result {
        try pool.with(by: deadline) { connection in
            let session = PostgresSession(connection: connection, patience: patience ?? self.patience)
            try session.begin()
            do {
                let result = try body(session)
                try session.commit()
                return result
            } catch {
                session.rollBack()
                throw error
            }
        }
    }

    /// Runs `body` and says what the database complains of as a `StoreError`.
    func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PostgresError {
            throw translated(error)
        } catch let error as WireError {
            throw StoreError.damaged("\(place) does not read: \(error)")
        }
    }

    func translated(_ error: PostgresError) -> StoreError {
        switch error.state {
        case _ where error.isAboutConnection || error.isPassing: .unreachable(place, why: error.description)
        // A statement of this program fails only if the tables are not what they were.
        case "42P01", "42703", "42883", "3F000", "XX001", "XX002", "22P03": .damaged("\(place): \(error.description)")
        default: .failed("\(place): \(error.description)")
        }
    }
}

/// A connection with a transaction under way.
struct PostgresSession {
    let connection: PostgresConnection
    let patience: Duration

    @discardableResult
    func run(_ sql: String, _ values: PostgresValue...) throws(PostgresError) -> PostgresRows {
        try connection.run(PostgresCall(sql, values), by: Deadline(in: patience))
    }

    func begin() throws(PostgresError) { try run("BEGIN") }

    func commit() throws(PostgresError) {
        switch connection.run([[PostgresCall("COMMIT")]], by: Deadline(in: patience))[0] {
        case .done(_, let notices):
            if let warning = notices.first(where: \.isUncertainty) { throw .uncertain(warning) }
        case .failed(let error), .unknown(let error): throw error
        }
    }

    /// What is not rolled back is not used again.
    func rollBack() {
        if !connection.isIdle { _ = connection.run([[PostgresCall("ROLLBACK")]], by: Deadline(in: patience)) }
    }
}

extension PostgresError {
    /// A warning in front of an answer that is no more than a hope: a standby has not confirmed the transaction.
    var isUncertainty: Bool { state == "01000" }

    static func uncertain(_ warning: PostgresError) -> PostgresError {
        PostgresError(state: connectionLost, "it is not known whether it will last: \(warning.message)")
    }
}
