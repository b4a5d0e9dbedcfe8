import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    /// About how many bytes of items stand in one row of a snapshot.
    private static let partBytes = 256 << 10
    /// How many snapshots of a list are kept; the newest, and older ones for looking back.
    private static let kept = 4

    public func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws {
        try write { database in
            // The list may have been deleted since this was asked for.
            let sql = "SELECT 1 FROM lists WHERE number = ?"
            guard try Int.fetchOne(database, sql: sql, arguments: [list.stored]) != nil else { return }
            try Self.writeSnapshot(of: list, hand, revision: revision, deck: deck, database)
            try Self.forgetOldSnapshots(of: list, database)
        }
    }

    static func writeSnapshot(
        of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?, _ database: Database
    ) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO snapshot_heads (list, revision, count, digest, deck) VALUES (?, ?, ?, ?, ?)",
            arguments: [list.stored, revision, hand.count, hand.digest.stored, deck.map { Data($0.codes) }])
        let statement = try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO snapshots (list, revision, part, items) VALUES (?, ?, ?, ?)")
        try hand.forEachPart(about: partBytes) { part, bytes in
            try statement.execute(arguments: [list.stored, revision, part, Data(bytes)])
        }
    }

    private static func forgetOldSnapshots(of list: UInt64, _ database: Database) throws {
        let sql = "SELECT revision FROM snapshot_heads WHERE list = ? ORDER BY revision DESC LIMIT 1 OFFSET ?"
        guard let oldest = try Int.fetchOne(database, sql: sql, arguments: [list.stored, kept - 1]) else { return }
        for table in ["snapshots", "snapshot_heads"] {
            try database.execute(
                sql: """
                    DELETE FROM \(table) WHERE list = ?1 AND revision < ?2
                    AND revision > (SELECT floor FROM lists WHERE number = ?1)
                    """, arguments: [list.stored, oldest])
        }
    }

    // MARK: Loading

    public func load(_ list: UInt64) throws -> Authority.Start {
        try read { database in
            let sql = "SELECT log_id, rules, deck_seed, revision, count FROM lists WHERE number = ?"
            guard let row = try Row.fetchOne(database, sql: sql, arguments: [list.stored]) else {
                throw StoreError.noSuchList("number \(list)")
            }
            let rules: Data = try row.value(1)
            let seed: Int64? = try row.value(2)
            let (revision, count): (Int, Int) = (try row.value(3), try row.value(4))
            let replay = try Self.replay(
                list, rules: try Self.rules([UInt8](rules)), deck: seed.map { Deck(seed: UInt64(stored: $0)) },
                through: revision, database)
            guard replay.revision == revision, replay.hand.count == count else {
                throw StoreError.damaged(
                    "list \(list) should be at revision \(revision), its commits end at \(replay.revision)")
            }
            let later = "SELECT 1 FROM commits WHERE list = ? AND revision > ? LIMIT 1"
            guard try Int.fetchOne(database, sql: later, arguments: [list.stored, revision]) == nil else {
                throw StoreError.damaged("list \(list) should be at revision \(revision), its commits go on")
            }
            return Authority.Start(
                list: list, logID: try row.bits(0), hand: replay.hand, revision: replay.revision,
                deck: replay.deck, sequences: try Self.sequences(of: list, database), snapshotRevision: replay.start)
        }
    }

    static func sequences(of list: UInt64, _ database: Database) throws -> [UInt64: SequenceMark] {
        let sql = "SELECT author, sequence, revision FROM sequences WHERE list = ?"
        var marks: [UInt64: SequenceMark] = [:]
        for row in try Row.fetchAll(database, sql: sql, arguments: [list.stored]) {
            marks[try row.bits(0)] = SequenceMark(sequence: try row.bits(1), revision: try row.value(2))
        }
        return marks
    }

    public func state(of list: UInt64, at revision: Int) throws -> Hand {
        try read { database in
            let sql = "SELECT rules, revision, floor FROM lists WHERE number = ?"
            guard let row = try Row.fetchOne(database, sql: sql, arguments: [list.stored]) else {
                throw StoreError.noSuchList("number \(list)")
            }
            let (oldest, newest): (Int, Int) = (try row.value(2), try row.value(1))
            guard (oldest...newest).contains(revision) else {
                throw StoreError.noSuchRevision(revision, oldest: oldest, newest: newest)
            }
            let rules: Data = try row.value(0)
            return try Self.replay(
                list, rules: try Self.rules([UInt8](rules)), deck: nil, through: revision, database
            ).hand
        }
    }

    /// The newest snapshot up to `last` and the commits after it up to `last`, every digest compared.
    static func replay(
        _ list: UInt64, rules: Rules, deck: Deck?, through last: Int, _ database: Database
    ) throws -> Replay {
        let (hand, revision, kept) = try snapshot(of: list, rules: rules, upTo: last, database)
        var replay = Replay(list: list, from: hand, revision: revision, deck: kept ?? deck)
        while replay.revision < last {
            let frames = try frames(of: list, after: replay.revision, through: last, about: 1 << 20, database)
            guard !frames.isEmpty else { break }
            for frame in frames { try replay.apply(try frame.commit()) }
        }
        return replay
    }

    static func snapshot(
        of list: UInt64, rules: Rules, upTo last: Int, _ database: Database
    ) throws -> (hand: Hand, revision: Int, deck: Deck?) {
        let sql = """
            SELECT revision, count, digest, deck FROM snapshot_heads
            WHERE list = ? AND revision <= ? ORDER BY revision DESC LIMIT 1
            """
        guard let head = try Row.fetchOne(database, sql: sql, arguments: [list.stored, last]) else {
            return (Hand(rules: rules), 0, nil)
        }
        let (revision, count): (Int, Int) = (try head.value(0), try head.value(1))
        var items: [Item] = []
        let parts = try Data.fetchCursor(
            database, sql: "SELECT items FROM snapshots WHERE list = ? AND revision = ? ORDER BY part",
            arguments: [list.stored, revision])
        while let part = try parts.next() { items += try Item.all(in: [UInt8](part)) }
        let hand = Hand(items, rules: rules)
        guard hand.count == count, try hand.digest == head.bits(2) else {
            throw StoreError.damaged("the snapshot of list \(list) at revision \(revision) has another digest")
        }
        let deck: Data? = try head.value(3)
        return (hand, revision, deck.map { Deck(codes: $0) })
    }
}
