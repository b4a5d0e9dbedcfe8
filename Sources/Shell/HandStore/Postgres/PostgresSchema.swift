import HandSync
import Postgres

/// The tables of a shared store, and the migrations from older formats. Each key begins with the list, so that a
/// database that distributes tables over machines can distribute these.
enum PostgresSchema {
    /// The format that this program writes.
    static var version: Int { steps.count }

    /// The migrations: from nothing to format 1, from 1 to 2, and so on.
    private static let steps = [first, second, third]

    /// The time that servers have seen pass, in milliseconds, and when that was last added to. A deletion stores what
    /// it was.
    private static let third = [
        "CREATE TABLE clock (passed bigint NOT NULL, seen timestamptz NOT NULL)",
        "INSERT INTO clock VALUES (0, now())",
        "ALTER TABLE deleted_lists ADD COLUMN start bigint NOT NULL DEFAULT 0",
    ]

    /// The servers, and the presence at each. The tables are not flushed: when the database restarts after a crash,
    /// servers write them again.
    private static let second = [
        """
        CREATE UNLOGGED TABLE servers (
            id bigint PRIMARY KEY,
            address text NOT NULL,
            seen timestamptz NOT NULL,
            report bytea NOT NULL
        )
        """,
        """
        CREATE UNLOGGED TABLE presence (
            list bigint NOT NULL,
            server bigint NOT NULL,
            version bigint NOT NULL,
            people bytea NOT NULL,
            PRIMARY KEY (list, server)
        )
        """,
        "CREATE INDEX presence_by_server ON presence (server)",
    ]

    /// A list in `names` is visible; a list without a name is deleted. The row of its deletion has its former name, the
    /// time, and the person who deleted it. If such a row has no list, the rest of the list is being removed.
    ///
    /// A row of `commits` is a batch that one server appended, or a part of it. Part 0 of a snapshot has everything
    /// except the items: digest, deck, and each client's last submission.
    private static let first = [
        "CREATE SEQUENCE list_numbers",
        "CREATE SEQUENCE author_numbers",
        "CREATE SEQUENCE deletion_numbers",
        "CREATE TABLE names (name text COLLATE \"C\" PRIMARY KEY, list bigint NOT NULL UNIQUE)",
        // Half of each page is left free: the next version of a row goes into the same page, and no index must be
        // updated.
        """
        CREATE TABLE lists (
            number bigint PRIMARY KEY,
            log_id bigint NOT NULL,
            rules bytea NOT NULL,
            deck_seed bigint,
            owner text,
            is_deleted boolean NOT NULL DEFAULT false,
            revision bigint NOT NULL DEFAULT 0,
            count bigint NOT NULL DEFAULT 0,
            digest bigint NOT NULL DEFAULT 0,
            floor bigint NOT NULL DEFAULT 0,
            bytes bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50)
        """,
        "CREATE INDEX lists_by_owner ON lists (owner)",
        "CREATE INDEX lists_by_id ON lists ((log_id & 4294967295))",
        """
        CREATE TABLE commits (
            list bigint NOT NULL,
            last bigint NOT NULL,
            first bigint NOT NULL,
            nonce bigint NOT NULL,
            frames bytea NOT NULL,
            PRIMARY KEY (list, last)
        )
        """,
        """
        CREATE TABLE snapshots (
            list bigint NOT NULL,
            revision bigint NOT NULL,
            part bigint NOT NULL,
            items bytea NOT NULL,
            PRIMARY KEY (list, revision, part)
        )
        """,
        "CREATE TABLE clients (id bytea PRIMARY KEY, number bigint NOT NULL UNIQUE)",
        """
        CREATE TABLE authors (
            number bigint PRIMARY KEY,
            client bigint NOT NULL,
            person text COLLATE "C" NOT NULL,
            UNIQUE (client, person)
        )
        """,
        """
        CREATE TABLE deleted_lists (
            number bigint PRIMARY KEY,
            list bigint NOT NULL UNIQUE,
            name text COLLATE "C" NOT NULL,
            time bigint NOT NULL,
            person text NOT NULL
        )
        """,
        "CREATE TABLE settings (key text PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL)",
    ]

    /// Returns the statements that migrate an older format to the present one.
    static func statements(from found: Int) -> [String] { steps[found...].flatMap(\.self) }
}

extension PostgresStore {
    /// Brings a schema to the present format. If two servers try at once, the second waits, and finds it done.
    ///
    /// - Throws: `StoreError` if it has a newer format or other tables.
    func migrate(_ connection: PostgresConnection, schema: String) throws {
        guard connection.parameter("server_encoding") == "UTF8" else {
            throw StoreError.failed("\(place): its encoding is not UTF8. Create a database with ENCODING 'UTF8'.")
        }
        let session = PostgresSession(connection: connection, patience: patience)
        if try format(session, schema: schema) == PostgresSchema.version { return }
        try session.begin()
        do {
            try session.run("SELECT pg_advisory_xact_lock(1751215716, hashtext($1))", .text(schema))
            let found = try format(session, schema: schema)
            if found == nil { try session.once("CREATE SCHEMA \"\(schema)\"") }
            let statements = PostgresSchema.statements(from: found ?? 0)
            if !statements.isEmpty {
                for statement in statements { try session.once(statement) }
                try session.once("CREATE TABLE IF NOT EXISTS format (version bigint NOT NULL)")
                try session.once("DELETE FROM format")
                try session.once("INSERT INTO format VALUES (\(PostgresSchema.version))")
            }
            try session.commit()
        } catch {
            session.rollBack()
            throw error
        }
    }

    /// Returns the format of a schema: nil if the schema does not exist, 0 if it is empty.
    private func format(_ session: PostgresSession, schema: String) throws -> Int? {
        let state = try session.run(
            """
            SELECT count(*) FILTER (WHERE relname = 'format'), count(relname) FROM pg_namespace AS spaces
            LEFT JOIN pg_class AS tables ON relnamespace = spaces.oid WHERE nspname = $1 GROUP BY spaces.oid
            """, .text(schema)
        ).first
        guard let state else { return nil }
        if try state.integer(1) == 0 { return 0 }
        guard try state.integer(0) > 0, let found = try session.run("SELECT version FROM format").first?.integer(0)
        else {
            throw StoreError.failed("\(place): there are tables of something else in it. Name another schema.")
        }
        guard found <= PostgresSchema.version else {
            throw StoreError.newer(path: place, found: found, known: PostgresSchema.version)
        }
        return found
    }
}

extension PostgresSession {
    /// Runs a statement without keeping it prepared, because it runs only once.
    fileprivate func once(_ sql: String) throws(PostgresError) {
        _ = try connection.run(PostgresCall(sql, isKept: false), by: Deadline(in: patience))
    }
}
