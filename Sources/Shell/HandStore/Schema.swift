import HandSync
import HandWire
import SQLite
import StoreFiles

/// The tables of a store, and the migrations from older formats. `PRAGMA user_version` says which format a file has.
package enum Schema {
    /// The format that this program writes.
    /// - 2: lists store the revision where their history begins, and how many authors they have; rows have checksums.
    /// - 3: lists store their owner.
    /// - 4: an author is a client under a name, so a client has one author for each of its names.
    /// - 5: clients' ids are hashed; deleted lists stay for a while, without a name; access rules are stored.
    /// - 6: commits that were written together share a row.
    /// - 7: commits change texts instead of setting them.
    /// - 8: a commit may be a refusal. An older store has none, so nothing in it changes.
    /// - 9: the time that servers have seen pass is counted, and a deletion stores what it was.
    static let version = 9
    /// Marks the file as a hand store ("hand" in ASCII).
    static let applicationID = 0x6861_6E64

    /// The progress of a store's conversion to the present format.
    package struct Conversion: Equatable, Sendable {
        /// The format before.
        package let from: Int
        /// The number of commits converted so far.
        package var done = 0
        /// The number of commits in all.
        package let count: Int
    }

    /// Brings an empty or older database to the present format.
    ///
    /// - Parameter progress: called when a conversion that rewrites commits begins, and after each row of commits.
    static func migrate(
        _ database: SQLiteConnection, from found: Int, progress: (Conversion) -> Void = { _ in }
    ) throws {
        if found < 1 { try createFirstFormat(database) }
        if found < 2 { try makeSecondFormat(database) }
        if found < 3 { try makeThirdFormat(database) }
        if found < 4 { try makeFourthFormat(database, from: found) }
        if found < 5 { try makeFifthFormat(database) }
        if found < 6 { try makeSixthFormat(database) }
        if found < 9 { try makeNinthFormat(database) }
        if found < 2 { for table in CheckedTable.allCases { try table.writeChecksums(database) } }
        if found > 0, found < 7 { try FormerCommits.convert(database, from: found, progress) }
        try database.run("PRAGMA application_id = \(applicationID)")
        try database.run("PRAGMA user_version = \(version)")
    }

    /// The checksums are written after the last step. They cover the rows as they are found, so earlier damage is not
    /// detected.
    private static func makeSecondFormat(_ database: SQLiteConnection) throws {
        try database.runAll(
            """
            ALTER TABLE lists ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE lists ADD COLUMN authors INTEGER NOT NULL DEFAULT 0;
            UPDATE lists SET authors = (SELECT count(*) FROM sequences WHERE list = number);
            """)
        for table in CheckedTable.allCases where table != .deletedLists {
            try database.run("ALTER TABLE \(table.rawValue) ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        }
    }

    /// Only the limits use a list's owner, so the checksum does not cover it.
    private static func makeThirdFormat(_ database: SQLiteConnection) throws {
        try database.runAll(
            """
            ALTER TABLE lists ADD COLUMN owner TEXT;
            CREATE INDEX lists_by_owner ON lists (owner);
            """)
    }

    /// Every client keeps its number: it becomes the number of its first author, under the client's name.
    private static func makeFourthFormat(_ database: SQLiteConnection, from found: Int) throws {
        let columns = ["number", "client_high", "client_low", "person"]
        if found >= 2 { try CheckedTable.authors.expectChecksums(over: columns, database) }
        try database.runAll(
            """
            ALTER TABLE authors RENAME TO clients;
            CREATE TABLE authors (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                client INTEGER NOT NULL,
                client_high INTEGER NOT NULL,
                client_low INTEGER NOT NULL,
                person TEXT NOT NULL,
                checksum INTEGER NOT NULL DEFAULT 0,
                UNIQUE (client_high, client_low, person)
            );
            INSERT INTO authors (number, client, client_high, client_low, person)
                SELECT number, number, client_high, client_low, person FROM clients ORDER BY number;
            DROP TABLE clients;
            """)
        try CheckedTable.authors.writeChecksums(database)
    }

    private static func makeFifthFormat(_ database: SQLiteConnection) throws {
        try database.run("CREATE TABLE access (rules BLOB NOT NULL)")
        try CheckedTable.authors.expectChecksums(over: CheckedTable.authors.columns, database)
        let clients = try database.all("SELECT number, client_high, client_low FROM authors") { row in
            (number: try row.bits(0), client: ClientID(high: try row.bits(1), low: try row.bits(2)).hashed)
        }
        for (number, client) in clients {
            try database.run(
                "UPDATE authors SET client_high = ?, client_low = ? WHERE number = ?",
                [client.high.stored, client.low.stored, number.stored])
        }
        try CheckedTable.authors.writeChecksums(database)
        try keepDeletedLists(database)
    }

    /// A list without a name is deleted; the row of its deletion has its former name, the time, and the person who
    /// deleted it. If such a row has no list, the rest of the list is being removed. The checksums of the lists stay
    /// the same.
    private static func keepDeletedLists(_ database: SQLiteConnection) throws {
        let last = try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'lists'")
        let columns = CheckedTable.lists.selection + ", owner"
        try database.runAll(
            """
            CREATE TABLE new_lists (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT UNIQUE,
                log_id INTEGER NOT NULL,
                rules BLOB NOT NULL,
                deck_seed INTEGER,
                revision INTEGER NOT NULL DEFAULT 0,
                count INTEGER NOT NULL DEFAULT 0,
                floor INTEGER NOT NULL DEFAULT 0,
                authors INTEGER NOT NULL DEFAULT 0,
                owner TEXT,
                checksum INTEGER NOT NULL DEFAULT 0
            );
            INSERT INTO new_lists (\(columns)) SELECT \(columns) FROM lists;
            DROP TABLE lists;
            ALTER TABLE new_lists RENAME TO lists;
            CREATE INDEX lists_by_owner ON lists (owner);
            CREATE INDEX lists_by_id ON lists (log_id & 4294967295);
            CREATE TABLE deleted_lists (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                list INTEGER NOT NULL UNIQUE,
                name TEXT NOT NULL,
                time INTEGER NOT NULL,
                person TEXT NOT NULL,
                checksum INTEGER NOT NULL DEFAULT 0
            );
            """)
        // The number of a removed list is not used again.
        try database.run("DELETE FROM sqlite_sequence WHERE name = 'lists'")
        try database.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('lists', ?)", [.init(last ?? 0)])
    }

    /// The data need not change: a row with one frame is a valid row of frames.
    private static func makeSixthFormat(_ database: SQLiteConnection) throws {
        try database.run("ALTER TABLE commits RENAME COLUMN frame TO frames")
    }

    /// For existing deletions, the time is counted from now on. Only the sweep uses it, so the checksum does not cover
    /// it.
    private static func makeNinthFormat(_ database: SQLiteConnection) throws {
        try database.runAll(
            """
            CREATE TABLE clock (passed INTEGER NOT NULL);
            INSERT INTO clock VALUES (0);
            ALTER TABLE deleted_lists ADD COLUMN start INTEGER NOT NULL DEFAULT 0;
            """)
    }

    private static func createFirstFormat(_ database: SQLiteConnection) throws {
        try database.runAll(
            """
            CREATE TABLE lists (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT NOT NULL UNIQUE,
                log_id INTEGER NOT NULL,
                rules BLOB NOT NULL,
                deck_seed INTEGER,
                revision INTEGER NOT NULL DEFAULT 0,
                count INTEGER NOT NULL DEFAULT 0
            );
            CREATE TABLE commits (
                list INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                frame BLOB NOT NULL,
                PRIMARY KEY (list, revision)
            ) WITHOUT ROWID;
            CREATE TABLE sequences (
                list INTEGER NOT NULL,
                author INTEGER NOT NULL,
                sequence INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                PRIMARY KEY (list, author)
            ) WITHOUT ROWID;
            CREATE TABLE snapshots (
                list INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                part INTEGER NOT NULL,
                items BLOB NOT NULL,
                PRIMARY KEY (list, revision, part)
            ) WITHOUT ROWID;
            CREATE TABLE snapshot_heads (
                list INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                count INTEGER NOT NULL,
                digest INTEGER NOT NULL,
                deck BLOB,
                PRIMARY KEY (list, revision)
            ) WITHOUT ROWID;
            CREATE TABLE authors (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                client_high INTEGER NOT NULL,
                client_low INTEGER NOT NULL,
                person TEXT NOT NULL,
                UNIQUE (client_high, client_low)
            );
            """)
    }
}
