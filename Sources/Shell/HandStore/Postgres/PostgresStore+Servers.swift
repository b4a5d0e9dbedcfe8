import HandSync

extension PostgresStore {
    /// The time without a heartbeat after which a server's rows are removed.
    private static let memory = "interval '1 minute'"

    /// Stores a heartbeat, and removes servers that are long gone.
    package func heartbeat(of server: UInt64, at address: String, report: [UInt8]) throws {
        try write { session in
            try session.run("SELECT set_config('synchronous_commit', 'off', true)")
            try session.run(
                """
                INSERT INTO servers (id, address, seen, report) VALUES ($1, $2, now(), $3)
                ON CONFLICT (id) DO UPDATE SET address = excluded.address, seen = excluded.seen, report = excluded.report
                """, .init(bits: server), .text(address), .bytes(report))
            let gone = try session.run("DELETE FROM servers WHERE seen < now() - \(Self.memory) RETURNING id")
            guard !gone.isEmpty else { return }
            let ids = try gone.map { Int64(bitPattern: try $0.bits(0)) }
            try session.run("DELETE FROM presence WHERE server = ANY ($1)", .integers(ids))
        }
    }

    package func leave(_ server: UInt64) throws {
        try write { session in
            try session.run("DELETE FROM servers WHERE id = $1", .init(bits: server))
            try session.run("DELETE FROM presence WHERE server = $1", .init(bits: server))
        }
    }

    package func servers() throws -> [SharedServer] {
        let sql = """
            SELECT id, address, (extract(epoch FROM now() - seen) * 1000)::bigint, report FROM servers ORDER BY address, id
            """
        return try ask(sql) { rows in
            try rows.map { row in
                SharedServer(
                    id: try row.bits(0), address: try row.text(1), silence: try row.integer(2), report: try row.bytes(3)
                )
            }
        }
    }
}
