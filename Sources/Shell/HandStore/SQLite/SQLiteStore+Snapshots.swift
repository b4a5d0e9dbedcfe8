import Disk
import HandCore
import HandWire

extension SQLiteStore {
    package func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) throws {
        // The history up to there does not change any more, so it can be read before the transaction.
        let sequences = try read { database in
            try ListRow.find(list, database).flatMap {
                try database.sequences(of: $0.list(database), at: revision, digest: hand.digest)
            }
        }
        guard let sequences else { return }
        try write { database in
            // Since this was requested, the list may have been deleted, or its history trimmed past this revision.
            guard let row = try ListRow.find(list, database), row.floor <= revision else { return }
            let head = SnapshotHead(of: hand, deck: deck, sequences: sequences)
            try Self.write(hand, head, of: list, at: revision, database)
            try database.run(
                """
                DELETE FROM snapshots WHERE list = ?1 AND revision > ?2 AND revision < (
                    SELECT revision FROM snapshots WHERE list = ?1 AND part = 0 ORDER BY revision DESC LIMIT 1 OFFSET ?3)
                """, [list.stored, .init(row.floor), .init(StoredSnapshots.kept - 1)])
        }
    }

    static func write(
        _ hand: Hand, _ head: SnapshotHead, of list: ListNumber, at revision: Int, _ database: SQLiteConnection
    ) throws {
        func write(_ bytes: [UInt8], part: Int) throws {
            try database.run(
                "INSERT OR REPLACE INTO snapshots (list, revision, part, items) VALUES (?, ?, ?, ?)",
                [list.stored, .init(revision), .init(part), .bytes(bytes)])
        }
        try write(head.bytes, part: 0)
        try hand.forEachPart(about: StoredSnapshots.partBytes) { try write($1, part: $0 + 1) }
    }
}
