import Disk
import HandCore
import HandSync
import HandWire

extension SQLiteConnection: HistoryReader {
    func frames(
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int
    ) throws -> [StoredFrame] {
        let rows = try commits(of: list, after: revision)
        var frames: [StoredFrame] = []
        var (total, end) = (0, max(revision, list.floor))
        while total < bytes, end < last {
            guard let row = try rows.next() else {
                guard end >= min(last, list.revision) else { throw list.missing(end + 1) }
                break
            }
            // A row that trimming has left may begin before the floor.
            for frame in try Self.frames(in: row, { $0 > end && $0 <= last }) {
                guard frame.revision == end + 1 else { throw list.missing(end + 1) }
                frames.append(frame)
                (total, end) = (total + frame.bytes.count, frame.revision)
                if total >= bytes { break }
            }
        }
        return frames
    }

    /// Without copying the frames, which would take 3,000 instructions for each commit, once for each snapshot.
    func forEachHeader(
        of list: StoredList, after revision: Int, through last: Int, _ body: (CommitHeader) -> Void
    ) throws {
        let rows = try commits(of: list, after: revision)
        var end = revision
        while end < last {
            guard let row = try rows.next() else { throw list.missing(end + 1) }
            let newest = try row.integer(1)
            try row.check(.commits, "revision \(newest) of list \(list.number)")
            try row.withBytes(2) { bytes in
                var frames = Frames(bytes)
                while let frame = try frames.next(limit: bytes.count) {
                    let header = try CommitHeader(frame)
                    if header.revision <= revision || header.revision > last { continue }
                    guard header.revision == end + 1 else { throw list.missing(end + 1) }
                    body(header)
                    end += 1
                }
            }
        }
    }

    private func commits(of list: StoredList, after revision: Int) throws -> SQLiteRows {
        try rows(
            "SELECT \(CheckedTable.commits.selection) FROM commits WHERE list = ? AND last > ? ORDER BY last",
            [list.number.stored, .init(revision)])
    }

    /// Returns the frames of a row of commits whose revisions are wanted.
    private static func frames(in row: SQLiteRow, _ isWanted: (Int) -> Bool) throws -> [StoredFrame] {
        let (list, last) = (try row.number(0) as ListNumber, try row.integer(1))
        try row.check(.commits, "revision \(last) of list \(list)")
        do {
            return try row.withBytes(2) { bytes in
                let places = try Frame.places(in: bytes)
                let first = last - places.count + 1
                return places.enumerated().compactMap { index, place in
                    guard isWanted(first + index) else { return nil }
                    return StoredFrame(revision: first + index, bytes: [UInt8](bytes[place]))
                }
            }
        } catch {
            throw StoreError.damaged("the commits up to revision \(last) of list \(list) cannot be read: \(error)")
        }
    }

    /// Returns the newest revision of a list, and its number of items there.
    func head(of list: ListNumber) throws -> (revision: Int, count: Int) {
        let sql = "SELECT \(CheckedTable.commits.selection) FROM commits WHERE list = ? ORDER BY last DESC LIMIT 1"
        let commit = try first(sql, [list.stored]).flatMap { row in
            let last = try row.integer(1)
            return try Self.frames(in: row, { $0 == last }).first?.header()
        }
        let snapshot = try snapshotHead(of: list, upTo: .max)
        // A snapshot is newer than the last commit if trimming has left none, or if commits are missing.
        if let commit, commit.revision >= snapshot?.revision ?? 0 { return (commit.revision, commit.count) }
        return snapshot.map { ($0.revision, $0.head.count) } ?? (0, 0)
    }

    // MARK: Snapshots

    func snapshotHead(of list: StoredList, upTo last: Int) throws -> (revision: Int, head: SnapshotHead)? {
        try snapshotHead(of: list.number, upTo: last)
    }

    private func snapshotHead(of list: ListNumber, upTo last: Int) throws -> (revision: Int, head: SnapshotHead)? {
        let sql = """
            SELECT revision, items FROM snapshots WHERE list = ? AND revision <= ? AND part = 0
            ORDER BY revision DESC LIMIT 1
            """
        guard let row = try first(sql, [list.stored, .init(last)]) else { return nil }
        let revision = try row.integer(0)
        let what = "the snapshot of list \(list) at revision \(revision)"
        do { return (revision, try row.withBytes(1) { try SnapshotHead($0, what) }) } catch let error as WireError {
            throw StoreError.damaged("\(what) cannot be read: \(error)")
        }
    }

    func snapshotItems(of list: StoredList, at revision: Int) throws -> [PackedItem] {
        let parts = try rows(
            "SELECT items FROM snapshots WHERE list = ? AND revision = ? AND part > 0 ORDER BY part",
            [list.number.stored, .init(revision)])
        var items: [PackedItem] = []
        do {
            while let part = try parts.next() { items += try part.withBytes(0, PackedItem.all) }
        } catch let error as WireError {
            throw StoreError.damaged(
                "the snapshot of list \(list.number) at revision \(revision) cannot be read: \(error)")
        }
        return items
    }

    func snapshots(of list: StoredList) throws -> [Int] {
        try all(
            "SELECT revision FROM snapshots WHERE list = ? AND part = 0 ORDER BY revision", [list.number.stored]
        ) { try $0.integer(0) }
    }

    func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID] {
        try authors.reduce(into: [:]) { $0[$1] = try AuthorRow.find($1, self)?.author.client }
    }
}
