import Disk
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    /// The rows of commits that one transaction removes.
    private static let trimStep = 500

    /// First a snapshot of the list at the cut replaces the history up to it; then the commits before the cut are
    /// removed, step by step. If that is interrupted, the next call continues.
    package func trim(_ list: UInt64, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        guard let stored = try read({ try ListRow.find(list, $0)?.list }) else {
            throw StoreError.noSuchList("number \(list)")
        }
        let cut = try read { database in
            // An interrupted trim is finished before more is cut.
            let oldest = try database.integer("SELECT min(revision) FROM commits WHERE list = ?", [list.stored])
            if let oldest, oldest <= stored.floor { return stored.floor }
            return try retention.cut(floor: stored.floor, revision: stored.revision, now: now) { revision in
                try Self.commit(revision, of: stored, database).time
            }
        }
        if cut > stored.floor { try raiseFloor(of: stored, to: cut) }
        let hasMore = try write { database in
            try database.run(
                """
                DELETE FROM commits WHERE list = ?1 AND revision IN (
                    SELECT revision FROM commits WHERE list = ?1 AND revision <= ?2 ORDER BY revision LIMIT ?3)
                """, [list.stored, .init(cut), .init(Self.trimStep)])
            let left = "SELECT 1 FROM commits WHERE list = ? AND revision <= ? LIMIT 1"
            return try database.integer(left, [list.stored, .init(cut)]) != nil
        }
        return Trimmed(floor: cut, hasMore: hasMore)
    }

    private static func commit(_ revision: Int, of list: StoredList, _ database: SQLiteConnection) throws -> Commit {
        let found = try frames(of: list, after: revision - 1, through: revision, about: 1, database).first
        guard let found else { throw StoreError.damaged("revision \(revision) of list \(list.number) is missing") }
        return try found.commit()
    }

    /// Makes the history begin at `floor`, with a snapshot of the list at that revision.
    private func raiseFloor(of list: StoredList, to floor: Int) throws {
        let start = try read { database -> Replay? in
            guard let row = try ListRow.find(list.number, database) else { return nil }
            return try Self.replay(row.list, deck: row.firstDeck, through: floor, database)
        }
        try write { database in
            guard let start, var row = try ListRow.find(list.number, database) else {
                throw StoreError.noSuchList(list.name)
            }
            try Self.writeSnapshot(of: list.number, start.hand, revision: floor, deck: start.deck, database)
            try row.update(floor: floor, database)
            for table in ["snapshots", "snapshot_heads"] {
                try database.run(
                    "DELETE FROM \(table) WHERE list = ? AND revision < ?",
                    [list.number.stored, .init(floor)])
            }
        }
    }
}
