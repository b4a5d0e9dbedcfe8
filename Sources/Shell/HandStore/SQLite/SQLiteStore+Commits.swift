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

    /// Inserts a row of commits if the list exists, and its last commit is the one before them; otherwise nothing. (As
    /// values, because `INSERT … SELECT` would fill a temporary table first.)
    private static let insertion = """
        INSERT OR IGNORE INTO commits (list, last, frames, checksum) VALUES ((
            SELECT number FROM lists WHERE number = ?1 AND ?5 = coalesce(
                (SELECT last FROM commits WHERE list = ?1 ORDER BY last DESC LIMIT 1),
                (SELECT revision FROM snapshots WHERE list = ?1 ORDER BY revision DESC LIMIT 1), 0)
            ), ?2, ?3, ?4)
        """

    private static func append(_ batch: CommitBatch, _ database: SQLiteConnection) throws {
        var expected = batch.expected
        for row in FrameRow.rows(of: batch) {
            let values: [SQLiteValue] = [batch.list.stored, .init(row.last), .bytes(row.frames)]
            let inserted = try database.run(insertion, CheckedTable.commits.arguments(values) + [.init(expected)])
            guard inserted == 1 else {
                let list = try ListRow.get(batch.list, database).list(database)
                throw StoreError.conflict(list: list.number, expected: expected, found: list.revision)
            }
            expected = row.last
        }
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
