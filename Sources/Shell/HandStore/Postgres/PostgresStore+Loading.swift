import Disk
import HandCore
import HandSync
import HandWire

extension PostgresStore {
    package func load(_ list: UInt64) throws -> Authority.Start {
        try read { session in
            let row = try PostgresListRow.get(list, session)
            let revision = row.list.revision
            try Self.checkFloor(of: row.list, session)
            let past = try Self.replay(row, through: revision, session)
            guard past.replay.revision == revision, past.replay.hand.count == row.list.count,
                past.replay.hand.digest == row.digest
            else { throw StoreError.damaged("list \(list) at revision \(revision) does not match its commits") }
            let later = "SELECT 1 FROM commits WHERE list = $1 AND last > $2 LIMIT 1"
            guard try session.run(later, .init(bits: list), .init(revision)).isEmpty else {
                throw StoreError.damaged("list \(list) should be at revision \(revision), but its commits continue")
            }
            return Authority.Start(
                list: list, logID: row.list.logID, hand: past.replay.hand, revision: revision, deck: past.replay.deck,
                sequences: past.sequences, snapshotRevision: past.replay.start)
        }
    }

    package func state(of list: UInt64, at revision: Int) throws -> Hand {
        try read { session in
            let row = try PostgresListRow.get(list, session)
            guard (row.list.floor...row.list.revision).contains(revision) else {
                throw StoreError.noSuchRevision(revision, oldest: row.list.floor, newest: row.list.revision)
            }
            return try Self.replay(row, through: revision, session).replay.hand
        }
    }

    /// Checks that the stored history begins with a snapshot at the floor, and continues after it.
    private static func checkFloor(of list: StoredList, _ session: PostgresSession) throws {
        let head = "SELECT 1 FROM snapshots WHERE list = $1 AND revision = $2 AND part = 0"
        let number = PostgresValue(bits: list.number)
        guard try list.floor == 0 || !session.run(head, number, .init(list.floor)).isEmpty else {
            throw list.noSnapshot(at: list.floor)
        }
        if list.floor < list.revision {
            _ = try frames(of: list, after: list.floor, through: list.floor + 1, about: 1, session)
        }
    }

    /// Loads the newest snapshot up to `last`, replays the commits after it up to `last`, and compares every digest.
    /// Also returns the last submission of each client at that revision.
    static func replay(
        _ row: PostgresListRow, through last: Int, _ session: PostgresSession
    ) throws -> (replay: Replay, sequences: [UInt64: SequenceMark]) {
        let list = row.list
        let (revision, head) = try head(of: list, upTo: last, session)
        let hand = try head.map { try items(of: list, at: revision, $0, session) } ?? Hand(rules: list.rules)
        var replay = Replay(
            list: list.number, from: hand, revision: revision, deck: head.map(\.deck) ?? row.firstDeck)
        var marks = Marks(head?.sequences ?? [:])
        try replay.run(through: last) {
            try frames(of: list, after: $0, through: last, about: Replay.bytesAtOnce, session)
        } each: {
            marks.note(SequenceMark(of: $0))
        }
        return (replay, try marks.byClient(session))
    }

    /// Returns the head of the newest snapshot up to `last`, and its revision; nil and 0 if there is none.
    static func head(
        of list: StoredList, upTo last: Int, _ session: PostgresSession
    ) throws -> (revision: Int, head: SnapshotHead?) {
        let sql = """
            SELECT revision, items FROM snapshots WHERE list = $1 AND revision <= $2 AND part = 0
            ORDER BY revision DESC LIMIT 1
            """
        guard let row = try session.run(sql, .init(bits: list.number), .init(last)).first else { return (0, nil) }
        let revision = try row.integer(0)
        let head = try row.withBytes(1) { bytes in
            try SnapshotHead(bytes, "the snapshot of list \(list.number) at revision \(revision)")
        }
        return (revision, head)
    }

    /// The parts of a snapshot that one query reads.
    private static let partsAtOnce = 16

    static func items(
        of list: StoredList, at revision: Int, _ head: SnapshotHead, _ session: PostgresSession
    ) throws -> Hand {
        let sql = """
            SELECT part, items FROM snapshots WHERE list = $1 AND revision = $2 AND part > $3 ORDER BY part LIMIT $4
            """
        var items: [PackedItem] = []
        var part = 0
        while true {
            let rows = try session.run(sql, .init(bits: list.number), .init(revision), .init(part), .init(partsAtOnce))
            for index in 0..<rows.count {
                part = try rows[index].integer(0)
                items += try rows[index].withBytes(1, PackedItem.all)
            }
            if rows.count < partsAtOnce { break }
        }
        return try Hand(snapshot: items, of: list, at: revision, count: head.count, digest: head.digest)
    }
}

/// The last submission of each client, from a snapshot and the commits after it.
struct Marks {
    private let known: [UInt64: SequenceMark]
    /// By author.
    private var later: [UInt64: SequenceMark] = [:]

    init(_ known: [UInt64: SequenceMark]) {
        self.known = known
    }

    /// Adds a commit. Call this for commits in order.
    mutating func note(_ mark: SequenceMark) {
        later[mark.author] = mark
    }

    /// - Throws: `StoreError.damaged` if one of the authors is unknown.
    func byClient(_ session: PostgresSession) throws -> [UInt64: SequenceMark] {
        let authors = later.keys.map { Int64(bitPattern: $0) }
        var clients: [UInt64: UInt64] = [:]
        if !authors.isEmpty {
            let rows = try session.run("SELECT number, client FROM authors WHERE number = ANY ($1)", .integers(authors))
            for index in 0..<rows.count { clients[try rows[index].bits(0)] = try rows[index].bits(1) }
        }
        let marks = try SequenceMark.ofClients(later.values) { clients[$0] }
        return known.merging(marks) { $0.sequence > $1.sequence ? $0 : $1 }
    }
}
