import Disk
import HandCore
import HandSync
import HandWire

extension PostgresStore {
    package func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws {
        // The history up to there does not change any more, so it can be read before anything is locked.
        let sequences = try read { try Self.sequences(of: list, at: revision, hand.digest, $0) }
        guard let sequences else { return }
        try write { session in
            // Since this was requested, the list may have been deleted, or its history trimmed past this revision. The
            // lock keeps the list in place during this transaction, but lets others append.
            let sql = "SELECT 1 FROM lists WHERE number = $1 AND floor <= $2 FOR KEY SHARE"
            guard try !session.run(sql, .init(bits: list), .init(revision)).isEmpty else { return }
            let head = SnapshotHead(of: hand, deck: deck, sequences: sequences)
            try Self.write(hand, head, of: list, at: revision, session)
            try Self.forgetOldSnapshots(of: list, session)
        }
    }

    /// Returns the last submission of each client at a revision, and compares the digest there: a server with a wrong
    /// copy must not write a snapshot that all others continue from.
    ///
    /// - Returns: nil if the list does not exist any more, or the revision is not in its history.
    private static func sequences(
        of list: UInt64, at revision: Int, _ digest: UInt64, _ session: PostgresSession
    ) throws -> [UInt64: SequenceMark]? {
        guard let row = try PostgresListRow.find(list, session), (row.list.floor...row.list.revision).contains(revision)
        else { return nil }
        let (start, head) = try head(of: row.list, upTo: revision, session)
        var marks = Marks(head?.sequences ?? [:])
        var (end, found) = (start, head?.digest ?? 0)
        while end < revision {
            let frames = try frames(of: row.list, after: end, through: revision, about: Replay.bytesAtOnce, session)
            for frame in frames {
                let header = try frame.header()
                marks.note(SequenceMark(author: header.author, sequence: header.sequence, revision: header.revision))
                (end, found) = (frame.revision, header.digest)
            }
            if frames.isEmpty { throw CommitRow.missing(end + 1, list) }
        }
        guard found == digest else {
            throw StoreError.failed("a snapshot of list \(list) did not match the list at revision \(revision)")
        }
        return try marks.byClient(session)
    }

    static func write(
        _ hand: Hand, _ head: SnapshotHead, of list: UInt64, at revision: Int, _ session: PostgresSession
    ) throws {
        let sql = """
            INSERT INTO snapshots (list, revision, part, items) VALUES ($1, $2, $3, $4)
            ON CONFLICT (list, revision, part) DO UPDATE SET items = excluded.items
            """
        try session.run(sql, .init(bits: list), .init(revision), .integer(0), .bytes(head.bytes))
        try hand.forEachPart(about: StoredSnapshots.partBytes) { part, bytes in
            try session.run(sql, .init(bits: list), .init(revision), .init(part + 1), .bytes(bytes))
        }
    }

    private static func forgetOldSnapshots(of list: UInt64, _ session: PostgresSession) throws {
        try session.run(
            """
            DELETE FROM snapshots WHERE list = $1 AND revision > (SELECT floor FROM lists WHERE number = $1)
                AND revision < (
                    SELECT revision FROM snapshots WHERE list = $1 AND part = 0 ORDER BY revision DESC LIMIT 1 OFFSET $2)
            """, .init(bits: list), .init(StoredSnapshots.kept - 1))
    }
}
