import Disk
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    package func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws {
        try write { database in
            // Since this was requested, the list may have been deleted, or its history trimmed past this revision.
            let sql = "SELECT 1 FROM lists WHERE number = ? AND floor <= ?"
            guard try database.integer(sql, [list.stored, .init(revision)]) != nil else { return }
            try Self.writeSnapshot(of: list, hand, revision: revision, deck: deck, database)
            try Self.forgetOldSnapshots(of: list, database)
        }
    }

    static func writeSnapshot(
        of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?, _ database: SQLiteConnection
    ) throws {
        try database.run(
            CheckedTable.snapshotHeads.insertion,
            CheckedTable.snapshotHeads.arguments([
                list.stored, .init(revision), .init(hand.count), hand.digest.stored, .init(deck?.codes),
            ]))
        try hand.forEachPart(about: StoredSnapshots.partBytes) { part, bytes in
            try database.run(
                "INSERT OR REPLACE INTO snapshots (list, revision, part, items) VALUES (?, ?, ?, ?)",
                [list.stored, .init(revision), .init(part), .bytes(bytes)])
        }
    }

    private static func forgetOldSnapshots(of list: UInt64, _ database: SQLiteConnection) throws {
        let sql = "SELECT revision FROM snapshot_heads WHERE list = ? ORDER BY revision DESC LIMIT 1 OFFSET ?"
        let oldest = try database.integer(sql, [list.stored, .init(StoredSnapshots.kept - 1)])
        guard let oldest else { return }
        for table in ["snapshots", "snapshot_heads"] {
            try database.run(
                """
                DELETE FROM \(table) WHERE list = ?1 AND revision < ?2
                AND revision > (SELECT floor FROM lists WHERE number = ?1)
                """, [list.stored, .init(oldest)])
        }
    }

    // MARK: Loading

    package func load(_ list: UInt64) throws -> Authority.Start {
        try read { database in
            guard let row = try ListRow.find(list, database) else { throw StoreError.noSuchList("number \(list)") }
            let revision = row.list.revision
            try Self.checkFloor(of: row.list, database)
            let replay = try Self.replay(row.list, deck: row.firstDeck, through: revision, database)
            guard replay.revision == revision, replay.hand.count == row.list.count else {
                throw StoreError.damaged(
                    "list \(list) should be at revision \(revision), but its commits end at \(replay.revision)")
            }
            let later = "SELECT 1 FROM commits WHERE list = ? AND revision > ? LIMIT 1"
            guard try database.integer(later, [list.stored, .init(revision)]) == nil else {
                throw StoreError.damaged("list \(list) should be at revision \(revision), but its commits continue")
            }
            let clients = try AuthorRow.clients(in: list, database)
            let sequences = try SequenceMark.ofClients(Self.sequences(of: row, database).values) { clients[$0] }
            return Authority.Start(
                list: list, logID: row.list.logID, hand: replay.hand, revision: replay.revision,
                deck: replay.deck, sequences: sequences, snapshotRevision: replay.start)
        }
    }

    /// Checks that the stored history begins with a snapshot at the floor, and continues after it.
    private static func checkFloor(of list: StoredList, _ database: SQLiteConnection) throws {
        let head = "SELECT 1 FROM snapshot_heads WHERE list = ? AND revision = ?"
        let place: [SQLiteValue] = [list.number.stored, .init(list.floor)]
        guard try list.floor == 0 || database.integer(head, place) != nil else {
            throw list.noSnapshot(at: list.floor)
        }
        if list.floor < list.revision {
            _ = try frames(of: list, after: list.floor, through: list.floor + 1, about: 1, database)
        }
    }

    static func sequences(of row: ListRow, _ database: SQLiteConnection) throws -> [UInt64: SequenceMark] {
        let list = row.list.number
        let sql = "SELECT \(CheckedTable.sequences.selection) FROM sequences WHERE list = ?"
        var marks: [UInt64: SequenceMark] = [:]
        let rows = try database.rows(sql, [list.stored])
        while let row = try rows.next() {
            let author = try row.bits(1)
            try row.check(.sequences, "the sequence of author \(author) in list \(list)")
            marks[author] = SequenceMark(author: author, sequence: try row.bits(2), storedRevision: try row.integer(3))
        }
        guard marks.count == row.authors else {
            throw StoreError.damaged("list \(list) has the sequences of \(marks.count) authors, not of \(row.authors)")
        }
        return marks
    }

    package func state(of list: UInt64, at revision: Int) throws -> Hand {
        try read { database in
            guard let row = try ListRow.find(list, database)?.list else {
                throw StoreError.noSuchList("number \(list)")
            }
            guard (row.floor...row.revision).contains(revision) else {
                throw StoreError.noSuchRevision(revision, oldest: row.floor, newest: row.revision)
            }
            return try Self.replay(row, deck: nil, through: revision, database).hand
        }
    }

    /// Loads the newest snapshot up to `last`, replays the commits after it up to `last`, and compares every digest.
    static func replay(
        _ list: StoredList, deck: Deck?, through last: Int, _ database: SQLiteConnection
    ) throws -> Replay {
        let (hand, revision, kept) = try snapshot(of: list, upTo: last, database)
        var replay = Replay(list: list.number, from: hand, revision: revision, deck: kept ?? deck)
        try replay.run(through: last) {
            try frames(of: list, after: $0, through: last, about: Replay.bytesAtOnce, database)
        }
        return replay
    }

    static func snapshot(
        of list: StoredList, upTo last: Int, _ database: SQLiteConnection
    ) throws -> (hand: Hand, revision: Int, deck: Deck?) {
        let sql = """
            SELECT \(CheckedTable.snapshotHeads.selection) FROM snapshot_heads
            WHERE list = ? AND revision <= ? ORDER BY revision DESC LIMIT 1
            """
        guard let head = try database.first(sql, [list.number.stored, .init(last)]) else {
            return (Hand(rules: list.rules), 0, nil)
        }
        let (revision, count) = (try head.integer(1), try head.integer(2))
        try head.check(.snapshotHeads, "the snapshot of list \(list.number) at revision \(revision)")
        var items: [PackedItem] = []
        let parts = try database.rows(
            "SELECT items FROM snapshots WHERE list = ? AND revision = ? ORDER BY part",
            [list.number.stored, .init(revision)])
        while let part = try parts.next() { items += try part.withBytes(0, PackedItem.all) }
        let hand = try Hand(snapshot: items, of: list, at: revision, count: count, digest: head.bits(3))
        return (hand, revision, head.isNull(4) ? nil : Deck(codes: try head.bytes(4)))
    }
}
