import HandSync

extension PostgresStore: SharedSettings {
    package func setting(_ key: String, after version: Int) throws -> (value: [UInt8], version: Int)? {
        let sql = "SELECT value, version FROM settings WHERE key = $1 AND version <> $2 AND version > 0"
        return try ask(sql, .text(key), .init(version)) { rows in
            try rows.first.map { (try $0.bytes(0), try $0.integer(1)) }
        }
    }

    package func change(_ key: String, _ body: ([UInt8]?) throws -> [UInt8]?) throws {
        try write { session in
            // The row must exist to be locked, even before it has a value.
            try session.run("INSERT INTO settings VALUES ($1, 0, '') ON CONFLICT (key) DO NOTHING", .text(key))
            let row = try session.run("SELECT value, version FROM settings WHERE key = $1 FOR UPDATE", .text(key))[0]
            guard let value = try body(try row.integer(1) > 0 ? try row.bytes(0) : nil) else { return }
            try session.run(
                "UPDATE settings SET version = version + 1, value = $2 WHERE key = $1", .text(key), .bytes(value))
        }
    }

    /// Returns warnings for the operator: ways in which the database may lose what it has confirmed.
    package func warnings() throws -> [String] {
        let sql = """
            SELECT current_setting('fsync') = 'off',
                current_setting('synchronous_standby_names') = '' AND EXISTS (SELECT 1 FROM pg_stat_replication)
            """
        return try ask(sql) { rows in
            var warnings: [String] = []
            if try rows[0].isTrue(0) {
                warnings.append(
                    "the database runs with fsync = off: after a power failure acknowledged edits may be lost")
            }
            if try rows[0].isTrue(1) {
                warnings.append(
                    "the database does not wait for its standby: if that takes over, acknowledged edits may be lost; "
                        + "see synchronous_standby_names")
            }
            return warnings
        }
    }
}
