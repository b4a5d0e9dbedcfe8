import HandSync

extension PostgresStore {
    package func delete(_ list: StoredList, by person: String, at time: UInt64) throws {
        try write { session in
            let (name, number) = (PostgresValue.text(list.name), PostgresValue(list.number))
            let naming = "DELETE FROM names WHERE name = $1 AND list = $2"
            guard try session.run(naming, name, number).changed == 1 else { throw StoreError.noSuchList(list.name) }
            // An append waits for this row, and then finds the list deleted.
            try session.run("UPDATE lists SET is_deleted = true WHERE number = $1", number)
            try session.run(
                """
                INSERT INTO deleted_lists (number, list, name, time, person, start)
                SELECT nextval('deletion_numbers'), $1, $2, $3, $4, passed FROM clock
                """, number, name, .integer(Int64(clamping: time)), .text(person))
        }
    }

    package func undelete(_ deletion: UInt64, as name: String) throws {
        try write { session in
            // Clamping is safe: the sequence never reaches the highest numbers.
            let number = PostgresValue.integer(Int64(clamping: deletion))
            let found = try session.run("DELETE FROM deleted_lists WHERE number = $1 RETURNING list", number).first
            let list = PostgresValue(bits: try found?.bits(0))
            let sql = "UPDATE lists SET is_deleted = false WHERE number = $1 AND is_deleted"
            guard found != nil, try session.run(sql, list).changed == 1 else { throw StoreError.notDeleted(name) }
            let naming = "INSERT INTO names (name, list) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING"
            guard try session.run(naming, .text(name), list).changed == 1 else { throw StoreError.listExists(name) }
        }
    }

    package func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList] {
        let sql = """
            SELECT lists.number, deleted_lists.name, log_id, rules, deck_seed, revision, count, digest, floor, is_deleted,
                deleted_lists.number, time, person, passed - start
            FROM clock, deleted_lists JOIN lists ON lists.number = list
            WHERE deleted_lists.number < $1 AND ($2::text IS NULL OR deleted_lists.name = $2)
                AND ($3::bigint[] IS NULL OR (log_id & 4294967295) = ANY ($3))
            ORDER BY deleted_lists.number DESC LIMIT $4
            """
        let ids = lists.map { PostgresValue.integers($0.map(Int64.init)) } ?? .null
        return try ask(sql, .integer(Int64(clamping: number)), .init(name), ids, .init(limit)) { rows in
            try rows.map { row in
                DeletedList(
                    deletion: try row.bits(10), list: try PostgresListRow(row).list, time: try row.bits(11),
                    person: try row.text(12), age: UInt64(clamping: try row.integer(13)))
            }
        }
    }

    package func purgeOldest(of owner: String?) throws -> String? {
        try giveUp("$1::text IS NULL OR owner = $1", .init(owner), limit: 1).first
    }

    /// Several servers report the same passed time. Together they add no more to the clock than the time that the
    /// database has seen pass.
    package func sweep(keeping kept: UInt64, passed: UInt64) throws -> Sweep {
        // Most of the time there are no deletions, and then nothing is written.
        guard try ask("SELECT 1 FROM deleted_lists LIMIT 1", then: { !$0.isEmpty }) else { return Sweep() }
        if passed > 0 {
            let sql = """
                UPDATE clock SET seen = now(), passed = passed
                    + greatest(0, least($1, (extract(epoch FROM now() - seen) * 1000)::bigint))
                """
            try write { _ = try $0.run(sql, .integer(Int64(clamping: passed))) }
        }
        let condition = "start <= (SELECT passed FROM clock) - $1"
        let kept = PostgresValue.integer(Int64(clamping: kept))
        let due = """
            SELECT 1 FROM deleted_lists
            WHERE \(condition) OR NOT EXISTS (SELECT 1 FROM lists WHERE lists.number = list) LIMIT 1
            """
        guard try ask(due, kept, then: { !$0.isEmpty }) else { return Sweep() }
        let names = try giveUp(condition, kept, limit: RemovalStep.lists)
        guard names.isEmpty else { return Sweep(names: names, hasMore: true) }
        return try write { session in
            // A list that another server is removing is left to that server.
            let unfinished = """
                SELECT number, list FROM deleted_lists
                WHERE NOT EXISTS (SELECT 1 FROM lists WHERE lists.number = list)
                ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED
                """
            guard let deletion = try session.run(unfinished).first else { return Sweep() }
            try Self.removePart(of: .init(bits: try deletion.bits(1)), as: .init(bits: try deletion.bits(0)), session)
            return Sweep(hasMore: true)
        }
    }

    /// Removes deleted lists from `lists`, the oldest deletion first, and returns their former names. The sweep removes
    /// the other rows of these lists. Two servers that do this at the same time give up different lists.
    private func giveUp(_ condition: String, _ value: PostgresValue, limit: Int) throws -> [String] {
        try write { session in
            try session.run(
                """
                DELETE FROM lists WHERE is_deleted AND number IN (
                    SELECT lists.number FROM deleted_lists JOIN lists ON lists.number = list
                    WHERE is_deleted AND (\(condition)) ORDER BY deleted_lists.number LIMIT \(limit)
                    FOR UPDATE OF lists SKIP LOCKED)
                RETURNING (SELECT name FROM deleted_lists WHERE list = lists.number)
                """, value
            ).map { try $0.text(0) }
        }
    }

    /// Removes rows of a list that was given up, and the deletion once no rows are left.
    private static func removePart(
        of list: PostgresValue, as deletion: PostgresValue, _ session: PostgresSession
    ) throws {
        for (table, key, step) in RemovalStep.tables {
            let sql = """
                DELETE FROM \(table) WHERE list = $1 AND (\(key)) IN (
                    SELECT \(key) FROM \(table) WHERE list = $1 ORDER BY \(key) LIMIT \(step))
                """
            if try session.run(sql, list).changed == step { return }
        }
        try session.run("DELETE FROM deleted_lists WHERE number = $1", deletion)
    }
}
