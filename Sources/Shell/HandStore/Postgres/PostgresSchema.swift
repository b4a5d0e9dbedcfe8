import HandSync

/// The tables of a shared store. Each key begins with the list, so that a database that distributes tables over
/// machines can distribute these.
enum PostgresSchema {
    /// The format of version 1.0. Lower numbers were used before, and are refused.
    static let version = 5

    /// A list in `names` is visible; a list without a name is deleted. The row of a deletion has the list's former
    /// name, the time, and the person who deleted the list. If the list of a deletion is no longer in `lists`, the rest
    /// of the list is being removed.
    ///
    /// A row of `commits` is a batch that one server appended, or a part of it. Part 0 of a snapshot has everything
    /// except the items: digest, deck, and each client's last submission.
    ///
    /// `clock` has the time that servers have seen pass (`passed`, in milliseconds), and when `passed` was last updated
    /// (`seen`). The row of a deletion has the value of `passed` at the deletion (`start`). `servers` and `presence`
    /// are not flushed: when the database restarts after a crash, servers write them again.
    static let creation = [
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
            person text NOT NULL,
            start bigint NOT NULL DEFAULT 0
        )
        """,
        "CREATE TABLE settings (key text PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL)",
        "CREATE TABLE clock (passed bigint NOT NULL, seen timestamptz NOT NULL)",
        "INSERT INTO clock VALUES (0, now())",
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
        "CREATE TABLE format (version bigint NOT NULL)",
        "INSERT INTO format VALUES (\(version))",
    ]
}

extension PostgresStore {
    /// Checks that the tables exist, or creates them. If two servers try at once, the second one waits, and finds the
    /// tables created.
    ///
    /// - Throws: `StoreError` if there are tables of another format or of something else, or if there are none and none
    ///   may be created.
    func prepareTables(_ connection: PostgresConnection, schema: String, creates: Bool) throws {
        guard connection.parameter("server_encoding") == "UTF8" else {
            throw StoreError.failed("\(place): its encoding is not UTF8. Create a database with ENCODING 'UTF8'.")
        }
        let session = PostgresSession(connection: connection, timeout: timeout)
        if try state(session, schema: schema) == .ready { return }
        if !creates { throw StoreError.emptyDatabase(place) }
        try session.transaction { session in
            try session.run("SELECT pg_advisory_xact_lock(1751215716, hashtext($1))", .text(schema))
            let found = try state(session, schema: schema)
            if found == .missing { try session.once("CREATE SCHEMA \"\(schema)\"") }
            if found != .ready { for statement in PostgresSchema.creation { try session.once(statement) } }
        }
    }

    private enum SchemaState {
        case missing, empty, ready
    }

    private func state(_ session: PostgresSession, schema: String) throws -> SchemaState {
        let counts = try session.run(
            """
            SELECT count(*) FILTER (WHERE relname = 'format'), count(relname),
                has_schema_privilege(spaces.oid, 'USAGE')::int::bigint FROM pg_namespace AS spaces
            LEFT JOIN pg_class AS tables ON relnamespace = spaces.oid WHERE nspname = $1 GROUP BY spaces.oid
            """, .text(schema)
        ).first
        guard let counts else { return .missing }
        if try counts.integer(1) == 0 { return .empty }
        if try counts.integer(2) == 0 {
            throw StoreError.failed(
                "\(place): the database's user may not use the schema. GRANT USAGE ON SCHEMA \(schema), and ALL on its tables."
            )
        }
        guard try counts.integer(0) > 0, let found = try session.run("SELECT version FROM format").first?.integer(0)
        else {
            throw StoreError.failed("\(place): there are tables of something else in it. Use another database.")
        }
        let known = PostgresSchema.version
        if found > known { throw StoreError.newer(path: place, found: found, known: known) }
        if found < known { throw StoreError.older(path: place) }
        return .ready
    }
}

extension PostgresSession {
    /// Runs a statement without keeping it prepared, because it runs only once.
    fileprivate func once(_ sql: String) throws(PostgresError) {
        _ = try connection.run(PostgresCall(sql, isKept: false), by: Deadline(in: timeout))
    }
}
