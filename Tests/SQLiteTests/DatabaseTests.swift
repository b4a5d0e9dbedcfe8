import Disk
import Foundation
import HandTestSupport
import Testing

/// Transactions, several connections, and the states of files.
@Suite struct DatabaseTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/a.sqlite" }

    private struct Stop: Error {}

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    /// - Parameter readers: more than 0 for a write-ahead log.
    private func make(readers: Int = 0) throws -> SQLiteDatabase {
        let database = try SQLiteDatabase(path, readers: readers)
        try database.withConnection {
            if readers > 0 { try $0.run("PRAGMA journal_mode = WAL") }
            try $0.runAll("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
        }
        return database
    }

    private func count(_ database: SQLiteDatabase) throws -> Int? {
        try database.read { try $0.integer("SELECT count(*) FROM t") }
    }

    /// As long as the database is open, its locks stay, whoever looks at the file.
    @Test func lookingAtAnOpenDatabaseReleasesNoLock() throws {
        let database = try make(readers: 1)
        #expect(try count(database) == 1)
        let locks = try locks()
        #expect(!locks.isEmpty)
        try StoreFile.checkHeader(path)
        #expect(try self.locks() == locks)
        try database.close()
        #expect(try self.locks().isEmpty)
        try StoreFile.checkHeader(path)
    }

    /// Returns this process's locks on the database, as the kernel lists them.
    private func locks() throws -> [String] {
        let file = try #require(try FileState(at: path))
        let all = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
        let own = all.filter { $0.contains(" \(getpid()) ") && $0.contains(":\(file.inode) ") }
        // Without the numbers of the lines.
        return own.map { String($0.drop { $0 != ":" }) }
    }

    // MARK: Transactions

    @Test func allOfATransactionOrNothing() throws {
        let database = try make()
        try database.write { (connection: SQLiteConnection) throws in
            for number in 2...4 { try connection.run("INSERT INTO t VALUES (?)", [.init(number)]) }
        }
        #expect(try count(database) == 4)
        #expect(throws: Stop.self) {
            try database.write { (connection: SQLiteConnection) throws in
                try connection.run("DELETE FROM t")
                throw Stop()
            }
        }
        #expect(try count(database) == 4)
        // A failed statement, too, takes the earlier ones with it.
        #expect(throws: SQLiteError.self) {
            try database.write {
                try $0.run("INSERT INTO t VALUES (5)")
                try $0.run("INSERT INTO t VALUES (1)")
            }
        }
        #expect(try count(database) == 4)
        try database.close()
        #expect(try count(SQLiteDatabase(path, .reading)) == 4)
    }

    /// A process that is killed in a transaction leaves half of it in the file, and a journal.
    @Test func whoeverReadsRollsAnUnfinishedTransactionBack() throws {
        let database = try make()
        try database.withConnection { try $0.runAll("PRAGMA cache_size = 1") }
        let copy = folder.path + "/killed.sqlite"
        try database.write { (connection: SQLiteConnection) throws in
            for number in 2...2_000 { try connection.run("INSERT INTO t VALUES (?)", [.init(number)]) }
            for ending in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
            }
        }
        #expect(try Data(contentsOf: URL(filePath: copy)).count > 20_000)
        let read = try SQLiteDatabase(copy, .reading)
        #expect(try count(read) == 1)
        #expect(try read.read { try $0.all("PRAGMA integrity_check") { try $0.text(0) } } == ["ok"])
        #expect(!FileManager.default.fileExists(atPath: copy + "-journal"))
    }

    /// If an error ends the transaction and is not passed on, nothing later may be written on its own.
    @Test func nothingIsWrittenAfterAnEndedTransaction() throws {
        let database = try make()
        let error = #expect(throws: SQLiteError.self) {
            try database.write { (connection: SQLiteConnection) throws in
                try connection.run("INSERT INTO t VALUES (2)")
                _ = try? connection.run("INSERT OR ROLLBACK INTO t VALUES (1)")
                _ = try? connection.run("INSERT INTO t VALUES (3)")
            }
        }
        #expect(error?.message == "an earlier error has ended the transaction")
        #expect(try count(database) == 1)
        try database.write { _ = try $0.run("INSERT INTO t VALUES (4)") }
        #expect(try count(database) == 2)
    }

    @Test func aCommitThatFailsIsRolledBack() throws {
        let database = try make()
        try database.withConnection {
            try $0.runAll(
                """
                PRAGMA foreign_keys = ON;
                CREATE TABLE child (a REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)
                """)
        }
        #expect(throws: SQLiteError.self) { try database.write { _ = try $0.run("INSERT INTO child VALUES (9)") } }
        #expect(try database.read { try $0.integer("SELECT count(*) FROM child") } == 0)
        try database.write { _ = try $0.run("INSERT INTO child VALUES (1)") }
    }

    @Test func aSavepointIsTakenBackAlone() throws {
        let database = try make()
        try database.write { (connection: SQLiteConnection) throws in
            try connection.savepoint { _ = try connection.run("INSERT INTO t VALUES (2)") }
            #expect(throws: Stop.self) {
                try connection.savepoint {
                    try connection.run("DELETE FROM t")
                    throw Stop()
                }
            }
            try connection.savepoint { _ = try connection.run("INSERT INTO t VALUES (3)") }
        }
        #expect(try count(database) == 3)
    }

    /// A writer locks out others at once, before it writes anything, and they get an error instead of waiting.
    @Test func aWriterLocksOutOthers() throws {
        let database = try make(readers: 2)
        let other = try SQLiteDatabase(path)
        try database.write { _ in
            let error = #expect(throws: SQLiteError.self) { try other.write { _ in } }
            #expect(error?.kind == .locked)
        }
        try other.write { _ = try $0.run("INSERT INTO t VALUES (2)") }
        #expect(try count(database) == 2)
    }

    // MARK: Readers

    /// What a reader sees stays as it is, while others write and read something newer.
    @Test func readersSeeOneMoment() throws {
        let database = try make(readers: 2)
        try database.read { (reader: SQLiteConnection) throws in
            #expect(try reader.integer("SELECT count(*) FROM t") == 1)
            try database.write { _ = try $0.run("INSERT INTO t VALUES (2)") }
            #expect(try reader.integer("SELECT count(*) FROM t") == 1)
            #expect(try count(database) == 2)
        }
        #expect(try count(database) == 2)
    }

    /// A connection is opened once, and waits for other processes' locks only if it reads.
    @Test func connectionsAreUsedAgain() throws {
        let database = try make(readers: 1)
        let first = try database.read { $0 }
        #expect(throws: Stop.self) { try database.read { _ in throw Stop() } }
        #expect(try database.read { $0 } === first)
        #expect(try database.read { try $0.integer("PRAGMA busy_timeout") } == 10_000)
        #expect(try database.withConnection { try $0.integer("PRAGMA busy_timeout") } == 0)
    }

    /// SQLite takes the value of some pragmas when it compiles them.
    @Test func aPragmaIsReadAnew() throws {
        try make().withConnection { (connection: SQLiteConnection) throws in
            for level in [1, 2, 0] {
                try connection.run("PRAGMA synchronous = \(level)")
                #expect(try connection.integer("PRAGMA synchronous") == level)
            }
        }
    }

    @Test func readersCannotWrite() throws {
        let database = try make(readers: 1)
        let error = #expect(throws: SQLiteError.self) { try database.read { _ = try $0.run("DELETE FROM t") } }
        #expect(error?.code == 8)
        // The failure leaves no transaction behind.
        #expect(try count(database) == 1)
        let read = try SQLiteDatabase(path, .reading)
        #expect(throws: SQLiteError.self) { try read.write { _ = try $0.run("DELETE FROM t") } }
        #expect(try count(read) == 1)
    }

    /// More threads than connections, some of which fail.
    @Test func manyThreadsReadWhileOneWrites() async throws {
        let database = try make(readers: 3)
        try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                group.addTask {
                    if number % 4 == 0 {
                        try database.write { _ = try $0.run("INSERT INTO t VALUES (?)", [.init(number + 2)]) }
                    } else if number % 4 == 1 {
                        #expect(throws: Stop.self) { try database.read { _ in throw Stop() } }
                    } else {
                        let (first, second) = try database.read { connection in
                            (
                                try connection.integer("SELECT count(*) FROM t"),
                                try connection.integer("SELECT count(*) FROM t")
                            )
                        }
                        #expect(first == second)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try count(database) == 11)
        try database.close()
    }

    @Test func rowsThatAreLeftHoldNoLock() throws {
        let database = try make(readers: 1)
        try database.withConnection { _ = try $0.run("INSERT INTO t VALUES (2)") }
        try database.read { connection in _ = try connection.rows("SELECT a FROM t").next() }
        try database.withConnection { (connection: SQLiteConnection) throws in
            _ = try connection.rows("SELECT a FROM t").next()
            try connection.emptyLog()
            try connection.run("VACUUM")
        }
    }

    // MARK: Files

    @Test func theLogIsEmptiedAndRemoved() throws {
        let database = try make(readers: 1)
        func size(_ ending: String) -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path + ending)[.size] as? Int) ?? -1
        }
        #expect(size("-wal") > 0)
        try database.read { (reader: SQLiteConnection) throws in
            _ = try reader.integer("SELECT count(*) FROM t")
            try database.write { _ = try $0.run("INSERT INTO t VALUES (2)") }
            let error = #expect(throws: SQLiteError.self) { try database.withConnection { try $0.emptyLog() } }
            #expect(error?.kind == .locked)
        }
        try database.withConnection { try $0.emptyLog() }
        #expect(size("-wal") == 0)
        #expect(try count(database) == 2)
        try database.write { _ = try $0.run("INSERT INTO t VALUES (3)") }
        try database.close()
        #expect(size("-wal") == -1)
        #expect(try count(SQLiteDatabase(path, .reading)) == 3)
    }

    @Test func aClosedDatabaseIsOfNoUse() throws {
        for readers in [0, 2] {
            let database = try SQLiteDatabase(path + "\(readers)", readers: readers)
            try database.close()
            let error = #expect(throws: SQLiteError.self) { try count(database) }
            #expect(error?.message == "the database is closed")
            #expect(throws: SQLiteError.self) { try database.write { _ in } }
        }
    }

    @Test func otherFilesAreRefused() throws {
        #expect(throws: SQLiteError.self) { try SQLiteDatabase(path, .reading) }
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data(repeating: 0x41, count: 4_096).write(to: URL(filePath: path))
        #expect(throws: SQLiteError.self) { try SQLiteDatabase(path) }
        let error = #expect(throws: SQLiteError.self) { try SQLiteDatabase(path, .reading) }
        #expect(error?.kind == .notADatabase)
        let absence = #expect(throws: SQLiteError.self) { try SQLiteDatabase(folder.path + "/none/a.sqlite") }
        #expect(absence?.message == "unable to open database file: No such file or directory")
    }

    @Test func aDamagedPageIsAnError() throws {
        try make().close()
        var bytes = try Data(contentsOf: URL(filePath: path))
        for offset in 4_096..<bytes.count { bytes[offset] = 0x55 }
        try bytes.write(to: URL(filePath: path))
        let error = #expect(throws: SQLiteError.self) { try count(SQLiteDatabase(path)) }
        #expect(error?.kind == .damaged)
    }

    private static let kinds: [(code: Int32, kind: SQLiteError.Kind)] = [
        (26, .notADatabase), (11, .damaged), (267, .damaged), (1, .damaged), (20, .wrongType), (5, .locked),
        (261, .locked),
        (6, .locked), (1_034, .flushFailed), (10, .other), (778, .other), (13, .other), (8, .other),
    ]

    @Test func errorsHaveKinds() {
        for (code, kind) in Self.kinds { #expect(SQLiteError(code: code, "").kind == kind, "\(code)") }
    }
}
