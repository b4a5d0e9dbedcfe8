/// A store as hand 0.1.0 left it, in the third format: `groceries`, edited twice by bob and once by ada, and `poker`
/// with two cards that ada was dealt.
enum FormerStore {
    static let thirdFormat = """
        CREATE TABLE authors (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            client_high INTEGER NOT NULL,
            client_low INTEGER NOT NULL,
            person TEXT NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,
            UNIQUE (client_high, client_low)
        );
        INSERT INTO "authors" VALUES(1,5456822404960365774,-275562410931045347,'ada',-6437376682434507879);
        INSERT INTO "authors" VALUES(2,-975246959210235223,4747662363874915790,'bob',7416546102434715753);
        CREATE TABLE commits (
            list INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            frame BLOB NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (list, revision)
        ) WITHOUT ROWID;
        INSERT INTO "commits" VALUES(1,1,X'26040101020101A4A6CDFF9F34014E0686B79A52761F010DAF23E36F354456930305006D696C6B',2368753887062167201);
        INSERT INTO "commits" VALUES(1,2,X'28040102020201C9A7CDFF9F3402B866ED747CD08A0102080D25645563E15F6E220306006272656164',-3604801710039875198);
        INSERT INTO "commits" VALUES(1,3,X'18040103010101FAACCDFF9F3402C6DBB21CE6ED551C011101',-8425889140394604325);
        INSERT INTO "commits" VALUES(2,1,X'2D040201010101B5AECDFF9F340205C55EF455F089030115E4EF4726755983A60101273129563AF666AA1201010A',-8507070105782698102);
        CREATE TABLE lists (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            log_id INTEGER NOT NULL,
            rules BLOB NOT NULL,
            deck_seed INTEGER,
            revision INTEGER NOT NULL DEFAULT 0,
            count INTEGER NOT NULL DEFAULT 0
        , floor INTEGER NOT NULL DEFAULT 0, authors INTEGER NOT NULL DEFAULT 0, checksum INTEGER NOT NULL DEFAULT 0, owner TEXT);
        INSERT INTO "lists" VALUES(1,'groceries',-2314475655424378046,X'FFFFFFFF0780800100',NULL,3,2,0,2,8388882311960353140,NULL);
        INSERT INTO "lists" VALUES(2,'poker',-5844185517109536740,X'FFFFFFFF07808001030101',-7722389851917263409,1,2,0,1,-5304433268678229689,NULL);
        CREATE TABLE sequences (
            list INTEGER NOT NULL,
            author INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            revision INTEGER NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (list, author)
        ) WITHOUT ROWID;
        INSERT INTO "sequences" VALUES(1,1,1,3,2559020851707070845);
        INSERT INTO "sequences" VALUES(1,2,2,2,3840755505739451842);
        INSERT INTO "sequences" VALUES(2,1,1,1,8115780734911764119);
        CREATE TABLE snapshot_heads (
            list INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            count INTEGER NOT NULL,
            digest INTEGER NOT NULL,
            deck BLOB, checksum INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (list, revision)
        ) WITHOUT ROWID;
        CREATE TABLE snapshots (
            list INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            part INTEGER NOT NULL,
            items BLOB NOT NULL,
            PRIMARY KEY (list, revision, part)
        ) WITHOUT ROWID;
        CREATE INDEX lists_by_owner ON lists (owner);
        DELETE FROM "sqlite_sequence";
        INSERT INTO "sqlite_sequence" VALUES('authors',2);
        INSERT INTO "sqlite_sequence" VALUES('lists',2);
        PRAGMA application_id = 0x68616E64;
        PRAGMA user_version = 3;
        """

    /// The differences of the fourth format.
    static let fourthFormat =
        thirdFormat + """

            DROP TABLE authors;
            CREATE TABLE authors (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                client INTEGER NOT NULL,
                client_high INTEGER NOT NULL,
                client_low INTEGER NOT NULL,
                person TEXT NOT NULL,
                checksum INTEGER NOT NULL DEFAULT 0,
                UNIQUE (client_high, client_low, person)
            );
            INSERT INTO "authors" VALUES(1,1,5456822404960365774,-275562410931045347,'ada',4379296972720272032);
            INSERT INTO "authors" VALUES(2,2,-975246959210235223,4747662363874915790,'bob',8307156312652309935);
            PRAGMA user_version = 4;
            """

    /// The differences of the fifth format from the fourth.
    static let fifthFormat =
        fourthFormat + """

            CREATE TABLE access (rules BLOB NOT NULL);
            DELETE FROM authors;
            INSERT INTO "authors" VALUES(1,1,-5679840049736458299,-4814573454739795975,'ada',-5346765975259859532);
            INSERT INTO "authors" VALUES(2,2,-8391820345731371430,-6796056579444794142,'bob',-1268371576692188932);
            DROP TABLE lists;
            CREATE TABLE lists (
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
            INSERT INTO "lists" VALUES(1,'groceries',-2314475655424378046,X'FFFFFFFF0780800100',NULL,3,2,0,2,NULL,8388882311960353140);
            INSERT INTO "lists" VALUES(2,'poker',-5844185517109536740,X'FFFFFFFF07808001030101',-7722389851917263409,1,2,0,1,NULL,-5304433268678229689);
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
            PRAGMA user_version = 5;
            """
}
