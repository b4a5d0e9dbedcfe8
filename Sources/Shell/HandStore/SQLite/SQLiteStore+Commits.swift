import Disk
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        try write { database in
            for batch in batches { try Self.append(batch, database) }
            for newcomer in newcomers { try AuthorRow.insert(newcomer, database) }
        }
        return batches.map { _ in .taken }
    }

    private static func append(_ batch: CommitBatch, _ database: SQLiteConnection) throws {
        guard let last = batch.entries.last else { return }
        guard var row = try ListRow.find(batch.list, database) else {
            throw StoreError.noSuchList("number \(batch.list)")
        }
        guard row.list.revision == batch.expected else {
            throw StoreError.conflict(list: batch.list, expected: batch.expected, found: row.list.revision)
        }
        try write(batch, database)
        var marks: [UInt64: SequenceMark] = [:]
        for entry in batch.entries { marks[entry.mark.author] = entry.mark }
        let newAuthors = try write(marks, of: batch.list, database)
        try row.update(revision: last.mark.revision, count: last.count, newAuthors: newAuthors, database)
    }

    /// Writes the rows of a batch. The key of a row is the revision of its last commit.
    private static func write(_ batch: CommitBatch, _ database: SQLiteConnection) throws {
        for row in FrameRow.rows(of: batch) {
            let values: [SQLiteValue] = [batch.list.stored, .init(row.last), .bytes(row.frames)]
            try database.run(CheckedTable.commits.insertion, CheckedTable.commits.arguments(values))
        }
    }

    /// Writes the last sequences of authors.
    ///
    /// - Returns: how many of the authors are new to the list.
    @discardableResult
    static func write(
        _ marks: [UInt64: SequenceMark], of list: UInt64, _ database: SQLiteConnection
    ) throws -> Int {
        let update = "UPDATE sequences SET sequence = ?, revision = ?, checksum = ? WHERE list = ? AND author = ?"
        let insertion = CheckedTable.sequences.insertion
        var newAuthors = 0
        for (author, mark) in marks {
            let key = [list.stored, author.stored]
            let values = [mark.sequence.stored, .init(mark.storedRevision)]
            let checksum = SQLiteValue.integer(CheckedTable.sequences.checksum(key + values))
            if try database.run(update, values + [checksum] + key) > 0 { continue }
            try database.run(insertion, key + values + [checksum])
            newAuthors += 1
        }
        return newAuthors
    }

    package func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { database in
            guard let row = try ListRow.find(list, database) else { return [] }
            return try Self.frames(of: row.list, after: revision, through: .max, about: bytes, database)
        }
    }

    /// Returns consecutive frames. None is missing, except that trimming removes those up to the floor, the oldest
    /// first.
    static func frames(
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int, _ database: SQLiteConnection
    ) throws -> [StoredFrame] {
        let rows = try database.rows(
            "SELECT \(CheckedTable.commits.selection) FROM commits WHERE list = ? AND revision > ? ORDER BY revision",
            [list.number.stored, .init(revision)])
        var frames: [StoredFrame] = []
        var (total, end) = (0, max(revision, list.floor))
        while total < bytes, frames.last?.revision ?? revision < last {
            guard let row = try rows.next() else {
                guard end >= min(last, list.revision) else { throw missing(end + 1, list) }
                break
            }
            for frame in try Self.frames(of: list, in: row, within: revision + 1...max(last, revision + 1)) {
                guard frame.revision == end + 1 || frames.isEmpty && frame.revision <= end else {
                    throw missing(end + 1, list)
                }
                frames.append(frame)
                (total, end) = (total + frame.bytes.count, frame.revision)
                if total >= bytes { break }
            }
        }
        return frames
    }

    /// Returns the frames in a row whose revisions are in `revisions`.
    private static func frames(
        of list: StoredList, in row: SQLiteRow, within revisions: ClosedRange<Int>
    ) throws -> [StoredFrame] {
        let last = try row.integer(1)
        try row.check(.commits, "revision \(last) of list \(list.number)")
        do {
            return try row.withBytes(2) { bytes in
                let places = try Frame.places(in: bytes)
                return places.enumerated().compactMap { index, place in
                    let revision = last - (places.count - 1 - index)
                    guard revisions.contains(revision) else { return nil }
                    return StoredFrame(revision: revision, bytes: [UInt8](bytes[place]))
                }
            }
        } catch {
            throw StoreError.damaged(
                "the commits up to revision \(last) of list \(list.number) cannot be read: \(error)")
        }
    }

    private static func missing(_ revision: Int, _ list: StoredList) -> StoreError {
        .damaged("revision \(revision) of list \(list.number) is missing")
    }
}

/// The row of a refused submission stores its revision with a minus sign.
extension SequenceMark {
    fileprivate var storedRevision: Int { isRefused ? -revision : revision }

    init(author: UInt64, sequence: UInt64, storedRevision: Int) {
        self.init(
            author: author, sequence: sequence, revision: abs(storedRevision), isRefused: storedRevision < 0)
    }
}
