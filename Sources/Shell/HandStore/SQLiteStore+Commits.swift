import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    public func append(_ batches: [CommitBatch]) throws {
        try write { database in
            let commit = try database.cachedStatement(
                sql: "INSERT INTO commits (list, revision, frame) VALUES (?, ?, ?)")
            let sequence = try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO sequences (list, author, sequence, revision) VALUES (?, ?, ?, ?)")
            let head = try database.cachedStatement(
                sql: "UPDATE lists SET revision = ?, count = ? WHERE number = ? AND revision = ?")
            for batch in batches {
                guard let last = batch.commits.last else { continue }
                try head.execute(arguments: [last.revision, last.count, batch.list.stored, batch.expected])
                if database.changesCount != 1 { throw try Self.conflict(batch, database) }
                var marks: [UInt64: SequenceMark] = [:]
                for made in batch.commits {
                    let frame = DownMessage.commit(list: batch.list, made).frame
                    try commit.execute(arguments: [batch.list.stored, made.revision, Data(frame)])
                    marks[made.author] = SequenceMark(sequence: made.sequence, revision: made.revision)
                }
                for (author, mark) in marks {
                    try sequence.execute(
                        arguments: [batch.list.stored, author.stored, mark.sequence.stored, mark.revision])
                }
            }
        }
    }

    private static func conflict(_ batch: CommitBatch, _ database: Database) throws -> StoreError {
        let sql = "SELECT revision FROM lists WHERE number = ?"
        guard let found = try Int.fetchOne(database, sql: sql, arguments: [batch.list.stored]) else {
            return .noSuchList("number \(batch.list)")
        }
        return .conflict(list: batch.list, expected: batch.expected, found: found)
    }

    public func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { database in
            try Self.frames(of: list, after: revision, through: .max, about: bytes, database)
        }
    }

    static func frames(
        of list: UInt64, after revision: Int, through last: Int, about bytes: Int, _ database: Database
    ) throws -> [StoredFrame] {
        let rows = try Row.fetchCursor(
            database,
            sql:
                "SELECT revision, frame FROM commits WHERE list = ? AND revision > ? AND revision <= ? ORDER BY revision",
            arguments: [list.stored, revision, last])
        var frames: [StoredFrame] = []
        var total = 0
        while total < bytes, let row = try rows.next() {
            let frame: Data = try row.value(1)
            frames.append(StoredFrame(revision: try row.value(0), bytes: [UInt8](frame)))
            total += frame.count
        }
        return frames
    }
}
