import Foundation
import GRDB
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

    private static func append(_ batch: CommitBatch, _ database: Database) throws {
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
    private static func write(_ batch: CommitBatch, _ database: Database) throws {
        let statement = try database.cachedStatement(sql: CheckedTable.commits.insertion)
        for row in FrameRow.rows(of: batch) {
            let values: [any DatabaseValueConvertible] = [batch.list.stored, row.last, Data(row.frames)]
            try statement.execute(arguments: CheckedTable.commits.arguments(values))
        }
    }

    /// Writes the last sequences of authors.
    ///
    /// - Returns: how many of the authors are new to the list.
    @discardableResult
    static func write(
        _ marks: [UInt64: SequenceMark], of list: UInt64, _ database: Database
    ) throws -> Int {
        let update = try database.cachedStatement(
            sql: "UPDATE sequences SET sequence = ?, revision = ?, checksum = ? WHERE list = ? AND author = ?")
        let insertion = try database.cachedStatement(sql: CheckedTable.sequences.insertion)
        var newAuthors = 0
        for (author, mark) in marks {
            let values = [list.stored, author.stored, mark.sequence.stored, mark.storedRevision].map(\.databaseValue)
            let checksum = CheckedTable.sequences.checksum(values).databaseValue
            try update.execute(arguments: StatementArguments([values[2], values[3], checksum, values[0], values[1]]))
            guard database.changesCount == 0 else { continue }
            try insertion.execute(arguments: StatementArguments(values + [checksum]))
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
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int, _ database: Database
    ) throws -> [StoredFrame] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT \(CheckedTable.commits.selection) FROM commits
                WHERE list = ? AND revision > ? ORDER BY revision
                """)
        let rows = try Row.fetchCursor(statement, arguments: [list.number.stored, revision])
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
        of list: StoredList, in row: Row, within revisions: ClosedRange<Int>
    ) throws -> [StoredFrame] {
        let last: Int = try row.value(1)
        try row.check(.commits, "revision \(last) of list \(list.number)")
        let bytes: Data = try row.value(2)
        do {
            return try bytes.withUnsafeBytes { bytes in
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
    fileprivate var storedRevision: Int64 { Int64(isRefused ? -revision : revision) }

    init(author: UInt64, sequence: UInt64, storedRevision: Int) {
        self.init(
            author: author, sequence: sequence, revision: abs(storedRevision), isRefused: storedRevision < 0)
    }
}
