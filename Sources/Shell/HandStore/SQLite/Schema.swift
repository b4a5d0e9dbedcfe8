import Disk
import HandSync

/// The tables of a store. `PRAGMA user_version` says which format a file has.
enum Schema {
    /// The format of 1.0. Numbers below it were used before, and are refused.
    private static let version = 12
    /// Marks the file as a hand store ("hand" in ASCII).
    private static let applicationID = 0x6861_6E64

    /// Returns whether a database has the tables, or false if it has none at all.
    ///
    /// - Throws: `StoreError` if the tables are of another format, or of something else.
    static func isThere(_ database: SQLiteConnection, _ path: String) throws -> Bool {
        if try database.integer("SELECT count(*) FROM sqlite_master") == 0 { return false }
        guard try database.integer("PRAGMA application_id") == applicationID else {
            throw StoreError.notAStore(path: path)
        }
        try StoreFile.expectVersion(version, database, path)
        return true
    }

    /// Creates the tables in an empty database.
    ///
    /// A commit writes one row of `commits` and nothing else: a list's newest revision, its number of items and each
    /// author's last sequence follow from the last snapshot and the commits after it. The key of a row is the revision
    /// of its last commit. Part 0 of a snapshot is a `SnapshotHead`.
    ///
    /// A list without a name is deleted; the row of its deletion has its former name, the time, and the person who
    /// deleted it. If such a row has no list, the rest of the list is being removed. Checksums do not cover what only
    /// limits and the sweep use: a list's owner, and the start of a deletion on the servers' clock.
    static func create(_ database: SQLiteConnection) throws {
        try database.runAll(
            """
            CREATE TABLE lists (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT UNIQUE,
                log_id INTEGER NOT NULL,
                rules BLOB NOT NULL,
                deck_seed INTEGER,
                floor INTEGER NOT NULL DEFAULT 0,
                owner TEXT,
                checksum INTEGER NOT NULL DEFAULT 0
            );
            CREATE INDEX lists_by_owner ON lists (owner);
            CREATE INDEX lists_by_id ON lists (log_id & 4294967295);
            CREATE TABLE commits (
                list INTEGER NOT NULL,
                last INTEGER NOT NULL,
                frames BLOB NOT NULL,
                checksum INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (list, last)
            ) WITHOUT ROWID;
            CREATE TABLE snapshots (
                list INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                part INTEGER NOT NULL,
                items BLOB NOT NULL,
                PRIMARY KEY (list, revision, part)
            ) WITHOUT ROWID;
            CREATE TABLE authors (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                client INTEGER NOT NULL,
                client_high INTEGER NOT NULL,
                client_low INTEGER NOT NULL,
                person TEXT NOT NULL,
                checksum INTEGER NOT NULL DEFAULT 0,
                UNIQUE (client_high, client_low, person)
            );
            CREATE TABLE deleted_lists (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                list INTEGER NOT NULL UNIQUE,
                name TEXT NOT NULL,
                time INTEGER NOT NULL,
                person TEXT NOT NULL,
                start INTEGER NOT NULL DEFAULT 0,
                checksum INTEGER NOT NULL DEFAULT 0
            );
            CREATE TABLE access (rules BLOB NOT NULL);
            CREATE TABLE clock (passed INTEGER NOT NULL);
            INSERT INTO clock VALUES (0);
            PRAGMA application_id = \(applicationID);
            PRAGMA user_version = \(version);
            """)
    }
}
