import Disk
import Testing

/// Statements, their parameters and their rows, on a temporary database.
@Suite struct StatementTests {
    private let database: SQLiteDatabase

    init() throws {
        database = try SQLiteDatabase("")
        try database.withConnection {
            try $0.runAll("CREATE TABLE t (a, b, c); CREATE TABLE keys (key INTEGER PRIMARY KEY, name TEXT UNIQUE)")
        }
    }

    static let values: [SQLiteValue] = [
        .null, .integer(0), .integer(.min), .integer(.max), .real(-1.5), .text(""), .text("Grüße\u{0}, 你好"), .bytes([]),
        .bytes([0, 255, 7]),
    ]

    /// Each value in each column, also an empty one, which is not null.
    @Test(arguments: values) func aValueIsReadAsItWasWritten(value: SQLiteValue) throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            for place in 0..<3 {
                var row: [SQLiteValue] = [.text("left"), .integer(5), .bytes([1])]
                row[place] = value
                try connection.run("DELETE FROM t")
                #expect(try connection.run("INSERT INTO t VALUES (?, ?, ?)", row) == 1)
                let found = try connection.all("SELECT a, b, c FROM t") { row in (0..<row.count).map(row.value) }
                #expect(found == [row])
            }
        }
    }

    @Test func columnsHaveTypes() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            let values: [SQLiteValue] = [.init(bits: UInt64.max), .text("x"), .bytes([1, 2])]
            try connection.run("INSERT INTO t VALUES (?, ?, ?)", values)
            let row = try #require(try connection.first("SELECT a, b, c, NULL FROM t"))
            #expect(row.count == 4)
            #expect(try row.bits(0) == .max && row.integer(0) == -1 && row.optionalBits(0) == .max)
            #expect(try row.text(1) == "x" && row.optionalText(1) == "x")
            #expect(try row.bytes(2) == [1, 2])
            #expect(try row.bytes(1) == [0x78])
            #expect(try row.withBytes(2) { Array($0) } == [1, 2])
            #expect(row.isNull(3) && !row.isNull(0))
            #expect(try row.optionalBits(3) == nil && row.optionalText(3) == nil)
            func expectWrong(_ text: String, _ body: () throws -> Void) {
                let error = #expect(throws: SQLiteError.self) { try body() }
                #expect(error?.kind == .wrongType && error?.message == text)
            }
            for column in 1...3 {
                expectWrong("column \(column) of a row is not an integer") { _ = try row.integer(column) }
            }
            for column in [0, 2, 3] {
                expectWrong("column \(column) of a row is not a text") { _ = try row.text(column) }
            }
            for column in [0, 3] {
                expectWrong("column \(column) of a row is not a blob") { _ = try row.bytes(column) }
            }
            expectWrong("column 0 of a row is not a blob") { try row.withBytes(0) { _ in } }
        }
    }

    /// A statement that is kept compiled starts again from the beginning, with new parameters.
    @Test func aStatementCanRunAgain() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            for number in 1...3 {
                try connection.run("INSERT INTO t VALUES (?, ?, NULL)", [.init(number), .init(-number)])
            }
            let sql = "SELECT b FROM t WHERE a >= ? ORDER BY a"
            #expect(try connection.integer(sql, [.init(2)]) == -2)
            #expect(try connection.all(sql, [.init(2)]) { try $0.integer(0) } == [-2, -3])
            #expect(try connection.integer(sql, [.init(9)]) == nil)
            #expect(try connection.all(sql, [.init(1)]) { try $0.integer(0) } == [-1, -2, -3])
            // Two of them at once.
            let outer = try connection.rows(sql, [.init(1)])
            var pairs: [[Int]] = []
            while let row = try outer.next() {
                let inner = try connection.all(sql, [.init(2)]) { try $0.integer(0) }
                pairs.append([try row.integer(0)] + inner)
            }
            #expect(pairs == [[-1, -2, -3], [-2, -2, -3], [-3, -2, -3]])
            #expect(try outer.next() == nil)
        }
    }

    @Test func aRowHoldsItsStatement() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            try connection.runAll("INSERT INTO t VALUES (1, 2, 3)")
            let row = try #require(try connection.first("SELECT a FROM t"))
            for number in 1...200 { try connection.run("SELECT \(number) FROM t") }
            #expect(try connection.integer("SELECT a FROM t") == 1)
            #expect(try row.integer(0) == 1)
        }
    }

    @Test func theNumberOfChangedRowsIsTold() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            #expect(try connection.run("INSERT INTO keys VALUES (7, 'a')") == 1)
            #expect(connection.lastInsertedRow == 7)
            #expect(try connection.run("INSERT OR IGNORE INTO keys (name) VALUES ('a')") == 0)
            #expect(try connection.run("INSERT INTO keys (name) VALUES ('b')") == 1)
            #expect(connection.lastInsertedRow == 8)
            #expect(try connection.run("UPDATE keys SET name = name || 'x'") == 2)
        }
    }

    @Test func wrongStatementsAreErrors() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            func failure(_ sql: String, _ values: [SQLiteValue] = []) -> SQLiteError? {
                #expect(throws: SQLiteError.self) { try connection.run(sql, values) }
            }
            #expect(failure("SELECT x FROM t")?.kind == .damaged)
            #expect(failure("SELECT x FROM t")?.message == "no such column: x")
            #expect(failure("SELECT ?")?.message == "0 values for the 1 parameters of: SELECT ?")
            #expect(failure("SELECT 1", [.null])?.message == "1 values for the 0 parameters of: SELECT 1")
            #expect(
                failure("DELETE FROM t; DROP TABLE t")?.message
                    == "there is more than one statement in: DELETE FROM t; DROP TABLE t")
            #expect(failure(" ")?.message == "there is no statement in:  ")
            try connection.run("INSERT INTO keys VALUES (1, 'a'); ")
            let taken = failure("INSERT INTO keys VALUES (2, 'a')")
            #expect(taken?.kind == .other && taken?.code == 2067)
            #expect(taken?.description == "UNIQUE constraint failed: keys.name")
            #expect(throws: SQLiteError.self) { try connection.runAll("INSERT INTO t VALUES (1, 1, 1); nonsense") }
            #expect(try connection.integer("SELECT count(*) FROM t") == 1)
        }
    }

    /// An error in the middle of the rows is no end of them.
    @Test func anErrorWhileReadingIsThrown() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            try connection.runAll("INSERT INTO t (a) VALUES (1), (-9223372036854775808)")
            let rows = try connection.rows("SELECT abs(a) FROM t ORDER BY rowid")
            #expect(try rows.next()?.integer(0) == 1)
            let error = #expect(throws: SQLiteError.self) { try rows.next() }
            #expect(error?.message == "integer overflow")
            #expect(try connection.integer("SELECT abs(a) FROM t ORDER BY rowid") == 1)
        }
    }

    /// Compiled statements are found by their texts, also those of one length, and one that is compiled a second time
    /// because the first is running.
    @Test func statementsOfOneLengthAreToldApart() throws {
        try database.withConnection { (connection: SQLiteConnection) throws in
            for _ in 0..<3 {
                for number in 1...9 { #expect(try connection.integer("SELECT \(number)") == number) }
            }
            let rows = try connection.rows("SELECT 1")
            _ = try rows.next()
            #expect(try connection.integer("SELECT 1") == 1 && connection.integer("SELECT 2") == 2)
        }
    }
}
