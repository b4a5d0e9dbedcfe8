import Disk
import HandCore
import HandWire

extension PostgresStore {
    package func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) throws {
        // The history up to this revision does not change any more, so it can be read before anything is locked.
        let sequences = try read { session in
            try PostgresListRow.find(list, session).flatMap {
                try session.sequences(of: $0.list, at: revision, digest: hand.digest)
            }
        }
        guard let sequences else { return }
        try write { session in
            // Since the snapshot was requested, the list may have been deleted, or its history trimmed past this
            // revision. The lock keeps the list in place during this transaction, but lets others append.
            let sql = "SELECT 1 FROM lists WHERE number = $1 AND floor <= $2 FOR KEY SHARE"
            guard try !session.run(sql, .init(list), .init(revision)).isEmpty else { return }
            let head = SnapshotHead(of: hand, deck: deck, sequences: sequences)
            try Self.write(hand, head, of: list, at: revision, session)
            try Self.forgetOldSnapshots(of: list, session)
        }
    }

    static func write(
        _ hand: Hand, _ head: SnapshotHead, of list: ListNumber, at revision: Int, _ session: PostgresSession
    ) throws {
        let sql = """
            INSERT INTO snapshots (list, revision, part, items) VALUES ($1, $2, $3, $4)
            ON CONFLICT (list, revision, part) DO UPDATE SET items = excluded.items
            """
        try session.run(sql, .init(list), .init(revision), .integer(0), .bytes(head.bytes))
        try hand.forEachPart(about: StoredSnapshots.partBytes) { part, bytes in
            try session.run(sql, .init(list), .init(revision), .init(part + 1), .bytes(bytes))
        }
    }

    private static func forgetOldSnapshots(of list: ListNumber, _ session: PostgresSession) throws {
        try session.run(
            """
            DELETE FROM snapshots WHERE list = $1 AND revision > (SELECT floor FROM lists WHERE number = $1)
                AND revision < (
                    SELECT revision FROM snapshots WHERE list = $1 AND part = 0 ORDER BY revision DESC LIMIT 1 OFFSET $2)
            """, .init(list), .init(StoredSnapshots.kept - 1))
    }
}
