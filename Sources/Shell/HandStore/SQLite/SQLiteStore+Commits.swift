import Disk
import HandCore
import HandSync
import HandWire

extension SQLiteStore {
    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        try StoreFile.translating(path) {
            if batches.count == 1, newcomers.isEmpty, let row = FrameRow(all: batches[0]) {
                try database.exclusively { try append(row, of: batches[0], $0) }
            } else {
                try database.writing { database in
                    lastAppend.withLock { $0 = nil }
                    for batch in batches {
                        var expected = batch.expected
                        for row in FrameRow.rows(of: batch) {
                            try Self.insert(row, of: batch.list, after: expected, database)
                            expected = row.last
                        }
                    }
                    for newcomer in newcomers { try AuthorRow.insert(newcomer, database) }
                }
            }
        }
        try expectFiles()
        return Appended.allTaken(batches.count)
    }

    /// Inserts the only row of a transaction. Its statement is the transaction, and it need not look for the last
    /// commit if the write before has inserted that: with both, a commit takes 8,000 instructions less.
    private func append(_ row: FrameRow, of batch: CommitBatch, _ database: SQLiteConnection) throws {
        let last = lastAppend.withLock { $0.take() }
        if let last, last.list == batch.list, last.revision == batch.expected {
            try database.run(Self.plainInsertion, Self.values(row, of: batch.list))
        } else {
            try Self.insert(row, of: batch.list, after: batch.expected, database)
        }
        lastAppend.withLock { $0 = (batch.list, row.last) }
    }

    private static let plainInsertion = CheckedTable.commits.insertion

    /// Inserts a row of commits if the list exists, and its last commit is the one before them; otherwise nothing. (As
    /// values, because `INSERT … SELECT` would fill a temporary table first.)
    private static let insertion = """
        INSERT OR IGNORE INTO commits (list, last, frames, checksum) VALUES ((
            SELECT number FROM lists WHERE number = ?1 AND ?5 = coalesce(
                (SELECT last FROM commits WHERE list = ?1 ORDER BY last DESC LIMIT 1),
                (SELECT revision FROM snapshots WHERE list = ?1 ORDER BY revision DESC LIMIT 1), 0)
            ), ?2, ?3, ?4)
        """

    private static func insert(
        _ row: FrameRow, of list: ListNumber, after expected: Int, _ database: SQLiteConnection
    ) throws {
        let inserted = try database.run(insertion, values(row, of: list) + [.init(expected)])
        guard inserted == 1 else {
            let list = try ListRow.get(list, database).list(database)
            throw StoreError.conflict(list: list.number, expected: expected, found: list.revision)
        }
    }

    private static func values(_ row: FrameRow, of list: ListNumber) -> [SQLiteValue] {
        // In one array, because a second one would take 600 instructions.
        var values: [SQLiteValue] = [list.stored, .init(row.last), .bytes(row.frames), .null]
        values[3] = .integer(CheckedTable.commits.checksum(values[..<3]))
        return values
    }

    package func frames(of list: ListNumber, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { database in
            guard let list = try ListRow.find(list, database)?.list(database) else { return [] }
            return try database.frames(of: list, after: revision, through: .max, about: bytes)
        }
    }

    package func load(_ list: ListNumber) throws -> Authority.Start {
        try read { database in
            let row = try ListRow.get(list, database)
            return try database.start(of: row.list(database), deck: row.firstDeck)
        }
    }

    package func state(of list: ListNumber, at revision: Int) throws -> Hand {
        try read { try $0.state(of: ListRow.get(list, $0).list($0), at: revision) }
    }
}
