import Disk
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    /// First a snapshot of the list at the cut replaces the history up to it; then the commits before the cut are
    /// removed, step by step. If that is interrupted, the next call continues.
    package func trim(_ list: ListNumber, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        let cut = try read { database in
            let list = try ListRow.get(list, database).list(database)
            let oldest = try database.integer("SELECT min(last) FROM commits WHERE list = ?", [list.number.stored])
            return try database.cut(of: list, keeping: retention, now: now, oldest: oldest)
        }
        try raiseFloor(of: list, to: cut)
        let hasMore = try write { database in
            try database.run(
                """
                DELETE FROM commits WHERE list = ?1 AND last IN (
                    SELECT last FROM commits WHERE list = ?1 AND last <= ?2 ORDER BY last LIMIT ?3)
                """, [list.stored, .init(cut), .init(RemovalStep.commits)])
            let left = "SELECT 1 FROM commits WHERE list = ? AND last <= ? LIMIT 1"
            return try database.integer(left, [list.stored, .init(cut)]) != nil
        }
        return Trimmed(floor: cut, hasMore: hasMore)
    }

    /// Makes the history begin at `floor`, with a snapshot of the list at that revision.
    private func raiseFloor(of list: ListNumber, to floor: Int) throws {
        let past = try read { database -> (Replay, [AuthorID: SequenceMark])? in
            let row = try ListRow.get(list, database)
            return row.floor < floor
                ? try database.replay(row.list(database), deck: row.firstDeck, through: floor) : nil
        }
        guard let (start, sequences) = past else { return }
        try write { database in
            var row = try ListRow.get(list, database)
            let head = SnapshotHead(of: start.hand, deck: start.deck, sequences: sequences)
            try Self.write(start.hand, head, of: list, at: floor, database)
            try row.update(floor: floor, database)
            try database.run("DELETE FROM snapshots WHERE list = ? AND revision < ?", [list.stored, .init(floor)])
        }
    }
}
