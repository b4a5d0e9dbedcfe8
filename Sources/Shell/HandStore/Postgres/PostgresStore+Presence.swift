import HandSync
import HandWire

/// Presence, in a table that is not flushed and that a database empties when it restarts after a crash.
extension PostgresStore: SharedServers {
    /// The time without a heartbeat after which a server counts as gone.
    private static let silence = "interval '5 seconds'"

    package func exchange(
        _ mine: [PresenceNews], at server: UInt64, on lists: [ListNumber], knowing known: [PresencePlace: Int]
    ) throws -> [PresenceNews] {
        if !mine.isEmpty { try put(mine) }
        let sql = """
            SELECT list, server, version FROM presence JOIN servers ON id = server
            WHERE list = ANY ($1) AND seen > now() - \(Self.silence)
            UNION SELECT list, server, version FROM presence WHERE server = $2
            """
        let asked = PostgresValue.numbers(lists)
        let found = try ask(sql, asked, .init(bits: server)) { rows in
            try rows.map { row in
                let place = PresencePlace(list: try row.number(0), server: try row.bits(1))
                return PresenceNews(place: place, version: try row.integer(2), frames: nil)
            }
        }
        let isNew = { (news: PresenceNews) in news.place.server != server && known[news.place] != news.version }
        return try found.filter { !isNew($0) } + get(found.filter(isNew).map(\.place))
    }

    private func put(_ news: [PresenceNews]) throws {
        try write { session in
            try session.run("SELECT set_config('synchronous_commit', 'off', true)")
            for one in news {
                let (list, server) = (PostgresValue(one.place.list), PostgresValue(bits: one.place.server))
                guard let frames = one.frames, !frames.isEmpty else {
                    try session.run("DELETE FROM presence WHERE list = $1 AND server = $2", list, server)
                    continue
                }
                try session.run(
                    """
                    INSERT INTO presence (list, server, version, people) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (list, server) DO UPDATE SET version = excluded.version, people = excluded.people
                    """, list, server, .init(one.version), .bytes(frames))
            }
        }
        feed.tell(news.map { .presence(list: $0.place.list) })
    }

    private func get(_ places: [PresencePlace]) throws -> [PresenceNews] {
        if places.isEmpty { return [] }
        let sql = """
            SELECT list, server, version, people FROM presence
            JOIN unnest($1::bigint[], $2::bigint[]) AS places (l, s) ON list = l AND server = s
            """
        let (lists, servers) = (places.map(\.list), places.map { Int64(bitPattern: $0.server) })
        return try ask(sql, .numbers(lists), .integers(servers)) { rows in
            try rows.map { row in
                let place = PresencePlace(list: try row.number(0), server: try row.bits(1))
                return PresenceNews(place: place, version: try row.integer(2), frames: try row.bytes(3))
            }
        }
    }
}
