import HandCore
import HandSync
import HandWire

extension PostgresStore {
    /// The rows of commits that one transaction removes.
    private static let trimStep = 500

    /// First a snapshot of the list at the cut replaces the history up to it; then the commits before the cut are
    /// removed, step by step. If that is interrupted, the next call continues, from whichever server.
    package func trim(_ list: UInt64, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        let (floor, cut) = try read { session in
            let stored = try PostgresListRow.get(list, session).list
            // An interrupted trim is finished before more is cut.
            let left = try session.run(Self.left, .init(bits: list), .init(stored.floor))
            guard left.isEmpty else { return (stored.floor, stored.floor) }
            let cut = try retention.cut(floor: stored.floor, revision: stored.revision, now: now) { revision in
                try Self.commit(revision, of: stored, session).time
            }
            return (stored.floor, cut)
        }
        if cut > floor { try raiseFloor(of: list, to: cut) }
        let hasMore = try write { session in
            // Rows that another server is removing are left to it: two servers that wait for each other's rows would
            // both fail.
            let removed = try session.run(
                """
                DELETE FROM commits WHERE list = $1 AND last IN (
                    SELECT last FROM commits WHERE list = $1 AND last <= $2 ORDER BY last LIMIT $3
                    FOR UPDATE SKIP LOCKED)
                RETURNING octet_length(frames)::bigint
                """, .init(bits: list), .init(cut), .init(Self.trimStep))
            if !removed.isEmpty {
                let bytes = try removed.map { try $0.integer(0) }.reduce(0, +)
                try session.run(
                    "UPDATE lists SET bytes = bytes - $2 WHERE number = $1", .init(bits: list), .init(bytes))
            }
            return try !session.run(Self.left, .init(bits: list), .init(cut)).isEmpty
        }
        return Trimmed(floor: cut, hasMore: hasMore)
    }

    /// Selects whether rows of commits remain to be removed.
    private static let left = "SELECT 1 FROM commits WHERE list = $1 AND last <= $2 LIMIT 1"

    private static func commit(_ revision: Int, of list: StoredList, _ session: PostgresSession) throws -> Commit {
        let found = try frames(of: list, after: revision - 1, through: revision, about: 1, session).first
        guard let found else { throw CommitRow.missing(revision, list.number) }
        return try found.commit()
    }

    /// Makes the history begin at `floor`, with a snapshot of the list at that revision. Does nothing if another server
    /// has already raised the floor that far.
    private func raiseFloor(of list: UInt64, to floor: Int) throws {
        let start = try read { session in
            let row = try PostgresListRow.get(list, session)
            return row.list.floor < floor ? try Self.replay(row, through: floor, session) : nil
        }
        guard let start else { return }
        try write { session in
            let number = PostgresValue(bits: list)
            let raised = "UPDATE lists SET floor = $2 WHERE number = $1 AND floor < $2"
            guard try session.run(raised, number, .init(floor)).changed == 1 else {
                _ = try PostgresListRow.get(list, session)
                return
            }
            let head = SnapshotHead(of: start.replay.hand, deck: start.replay.deck, sequences: start.sequences)
            try Self.write(start.replay.hand, head, of: list, at: floor, session)
            try session.run("DELETE FROM snapshots WHERE list = $1 AND revision < $2", number, .init(floor))
        }
    }
}
