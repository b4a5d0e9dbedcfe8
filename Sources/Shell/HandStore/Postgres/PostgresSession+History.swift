import Disk
import HandCore
import HandSync

extension PostgresSession: HistoryReader {
    /// The rows that one query reads.
    private static let rowsAtOnce = 32

    func frames(
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int
    ) throws -> [StoredFrame] {
        let sql = "SELECT last, first, frames FROM commits WHERE list = $1 AND last > $2 ORDER BY last LIMIT $3"
        var frames: [StoredFrame] = []
        // A row that trimming has left may begin before the floor.
        var (total, end) = (0, max(revision, list.floor))
        // Most of the time one row is enough.
        var limit = 1
        while total < bytes, end < last {
            let rows = try run(sql, .init(list.number), .init(end), .init(limit))
            for frame in try CommitRow.frames(rows, of: list.number, after: end) {
                guard total < bytes, frame.revision <= last else { return frames }
                guard frame.revision == end + 1 else { throw list.missing(end + 1) }
                frames.append(frame)
                (total, end) = (total + frame.bytes.count, frame.revision)
            }
            if rows.count < limit {
                guard end >= min(last, list.revision) else { throw list.missing(end + 1) }
                break
            }
            limit = Self.rowsAtOnce
        }
        return frames
    }

    // MARK: Snapshots

    func snapshotHead(of list: StoredList, upTo last: Int) throws -> (revision: Int, head: SnapshotHead)? {
        let sql = """
            SELECT revision, items FROM snapshots WHERE list = $1 AND revision <= $2 AND part = 0
            ORDER BY revision DESC LIMIT 1
            """
        guard let row = try run(sql, .init(list.number), .init(last)).first else { return nil }
        let revision = try row.integer(0)
        let head = try row.withBytes(1) { bytes in
            try SnapshotHead(bytes, "the snapshot of list \(list.number) at revision \(revision)")
        }
        return (revision, head)
    }

    /// The parts of a snapshot that one query reads.
    private static let partsAtOnce = 16

    func snapshotItems(of list: StoredList, at revision: Int) throws -> [PackedItem] {
        let sql = """
            SELECT part, items FROM snapshots WHERE list = $1 AND revision = $2 AND part > $3 ORDER BY part LIMIT $4
            """
        var items: [PackedItem] = []
        var part = 0
        while true {
            let parts = Self.partsAtOnce
            let rows = try run(sql, .init(list.number), .init(revision), .init(part), .init(parts))
            for index in 0..<rows.count {
                part = try rows[index].integer(0)
                items += try rows[index].withBytes(1, PackedItem.all)
            }
            if rows.count < parts { return items }
        }
    }

    func snapshots(of list: StoredList) throws -> [Int] {
        let sql = "SELECT revision FROM snapshots WHERE list = $1 AND part = 0 ORDER BY revision"
        return try run(sql, .init(list.number)).map { try $0.integer(0) }
    }

    func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID] {
        let rows = try run("SELECT number, client FROM authors WHERE number = ANY ($1)", .numbers(authors))
        return try rows.map { try Author(number: $0.number(0), client: $0.number(1)) }.reduce(into: [:]) {
            $0[$1.number] = $1.client
        }
    }
}
