import HandSync
import HandWire

extension PostgresStore {
    /// First a snapshot of the list at the cut replaces the history up to the cut; then the commits before the cut are
    /// removed, step by step. If the removal is interrupted, the next call continues it, whichever server makes that
    /// call.
    package func trim(_ list: ListNumber, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        let cut = try read { session in
            let list = try PostgresListRow.get(list, session).list
            let sql = "SELECT last FROM commits WHERE list = $1 ORDER BY last LIMIT 1"
            let oldest = try session.run(sql, .init(list.number)).first?.integer(0)
            return try session.cut(of: list, keeping: retention, now: now, oldest: oldest)
        }
        try raiseFloor(of: list, to: cut)
        let hasMore = try write { session in
            // Rows that another server is removing are left to that server: two servers that wait for each other's rows
            // would both fail.
            let removed = try session.run(
                """
                DELETE FROM commits WHERE list = $1 AND last IN (
                    SELECT last FROM commits WHERE list = $1 AND last <= $2 ORDER BY last LIMIT $3
                    FOR UPDATE SKIP LOCKED)
                RETURNING octet_length(frames)::bigint
                """, .init(list), .init(cut), .init(RemovalStep.commits))
            if !removed.isEmpty {
                let bytes = try removed.map { try $0.integer(0) }.reduce(0, +)
                try session.run(
                    "UPDATE lists SET bytes = bytes - $2 WHERE number = $1", .init(list), .init(bytes))
            }
            return try !session.run(Self.left, .init(list), .init(cut)).isEmpty
        }
        return Trimmed(floor: cut, hasMore: hasMore)
    }

    /// Selects whether rows of commits remain to be removed.
    private static let left = "SELECT 1 FROM commits WHERE list = $1 AND last <= $2 LIMIT 1"

    /// Makes the history begin at `floor`, with a snapshot of the list at that revision. Does nothing if another server
    /// has already raised the floor that far.
    private func raiseFloor(of list: ListNumber, to floor: Int) throws {
        let past = try read { session in
            let row = try PostgresListRow.get(list, session)
            return row.list.floor < floor ? try session.replay(row.list, deck: row.firstDeck, through: floor) : nil
        }
        guard let (start, sequences) = past else { return }
        try write { session in
            let number = PostgresValue(list)
            // Waits for a snapshot that another server is writing, which would be left below the new floor.
            try session.run("SELECT 1 FROM lists WHERE number = $1 FOR UPDATE", number)
            let raised = "UPDATE lists SET floor = $2 WHERE number = $1 AND floor < $2"
            guard try session.run(raised, number, .init(floor)).changed == 1 else {
                _ = try PostgresListRow.get(list, session)
                return
            }
            let head = SnapshotHead(of: start.hand, deck: start.deck, sequences: sequences)
            try Self.write(start.hand, head, of: list, at: floor, session)
            try session.run("DELETE FROM snapshots WHERE list = $1 AND revision < $2", number, .init(floor))
        }
    }
}
