import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws {
        try write { database in
            for batch in batches { try Self.append(batch, database) }
            for newcomer in newcomers { try AuthorRow.insert(newcomer, database) }
        }
    }

    private static func append(_ batch: CommitBatch, _ database: Database) throws {
        guard let last = batch.commits.last else { return }
        guard var row = try ListRow.find(batch.list, database) else {
            throw StoreError.noSuchList("number \(batch.list)")
        }
        guard row.list.revision == batch.expected else {
            throw StoreError.conflict(list: batch.list, expected: batch.expected, found: row.list.revision)
        }
        let statement = try database.cachedStatement(sql: CheckedTable.commits.insertion)
        var marks: [UInt64: SequenceMark] = [:]
        for (made, frame) in zip(batch.commits, batch.frames) {
            try statement.execute(
                arguments: CheckedTable.commits.arguments([batch.list.stored, made.revision, Data(frame.bytes)]))
            marks[made.author] = SequenceMark(of: made)
        }
        let newAuthors = try write(marks, of: batch.list, database)
        try row.update(revision: last.revision, count: last.count, newAuthors: newAuthors, database)
    }

    /// - Returns: how many of the authors are new to the list.
    private static func write(
        _ marks: [UInt64: SequenceMark], of list: UInt64, _ database: Database
    ) throws -> Int {
        let known = try database.cachedStatement(sql: "SELECT 1 FROM sequences WHERE list = ? AND author = ?")
        let statement = try database.cachedStatement(sql: CheckedTable.sequences.insertion)
        var newAuthors = 0
        for (author, mark) in marks {
            if try Int.fetchOne(known, arguments: [list.stored, author.stored]) == nil { newAuthors += 1 }
            try statement.execute(
                arguments: CheckedTable.sequences.arguments(
                    [list.stored, author.stored, mark.sequence.stored, mark.revision]))
        }
        return newAuthors
    }

    package func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { database in
            guard let row = try ListRow.find(list, database) else { return [] }
            return try Self.frames(of: row.list, after: revision, through: .max, about: bytes, database)
        }
    }

    /// One after another, and none is missing: where commits have been forgotten, those up to the floor may be gone, the oldest
    /// first.
    static func frames(
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int, _ database: Database
    ) throws -> [StoredFrame] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT \(CheckedTable.commits.selection) FROM commits
                WHERE list = ? AND revision > ? AND revision <= ? ORDER BY revision
                """)
        let rows = try Row.fetchCursor(statement, arguments: [list.number.stored, revision, last])
        var frames: [StoredFrame] = []
        var (total, end) = (0, max(revision, list.floor))
        while total < bytes {
            guard let row = try rows.next() else {
                guard end >= min(last, list.revision) else { throw missing(end + 1, list) }
                break
            }
            let found: Int = try row.value(1)
            guard found == end + 1 || frames.isEmpty && found <= end else { throw missing(end + 1, list) }
            try row.check(.commits, "revision \(found) of list \(list.number)")
            let frame: Data = try row.value(2)
            frames.append(StoredFrame(revision: found, bytes: [UInt8](frame)))
            (total, end) = (total + frame.count, found)
        }
        return frames
    }

    private static func missing(_ revision: Int, _ list: StoredList) -> StoreError {
        .damaged("revision \(revision) of list \(list.number) is missing")
    }
}
