import Disk
import HandSync
import HandWire

/// Verifies everything that a store holds at one moment, also while a server writes to it: replays every commit,
/// compares every digest, and checks sequences, snapshots, decks and rules.
package struct StoreVerifier {
    private let database: SQLiteDatabase
    private let path: String

    /// - Parameter path: a store's folder, or a file as `StoreBackup` writes it.
    /// - Throws: `StoreError` if there is no store, `FileError` if this process may not look for it.
    package init(path: String) throws {
        let file = Self.file(at: path)
        try StoreFile.expectThere(file, of: path)
        self.path = file
        try LogCheck.check(file)
        database = try StoreFile.translating(file) { try StoreFile.opened(file) }
    }

    /// - Parameter path: the database's name in messages.
    init(_ database: SQLiteDatabase, path: String) {
        self.database = database
        self.path = path
    }

    /// Runs `body` on the database as it is at one moment.
    func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        defer { try? database.close() }
        return try StoreFile.translating(path) {
            try database.read { database in
                guard try Schema.isThere(database, path) else { throw StoreError.notAStore(path: path) }
                return try body(database)
            }
        }
    }

    /// Returns the database of a store's folder, or the file itself.
    static func file(at path: String) -> String {
        PrivateFile.isFolder(path) ? path + "/hand.sqlite" : path
    }

    /// - Parameter progress: called with a list's name, the last replayed revision, and the list's last revision.
    /// - Throws: `StoreError` if the file cannot be read at all; the report has the problems inside the file.
    /// - Complexity: that of replaying all commits.
    package func verify(progress: (String, Int, Int) -> Void = { _, _, _ in }) throws -> StoreReport {
        try reading { database in
            var report = StoreReport()
            let complaints = try database.all("PRAGMA integrity_check(10)") { try $0.text(0) }
            for complaint in complaints where complaint != "ok" { report.note(complaint) }
            // Deleted lists come last, by their former names.
            let sql = """
                SELECT lists.number, deleted_lists.name FROM lists LEFT JOIN deleted_lists ON list = lists.number
                ORDER BY lists.name IS NULL, lists.name, deleted_lists.name, lists.number
                """
            for (number, formerName) in try database.all(
                sql, [], { (try $0.number(0) as ListNumber, try $0.optionalText(1)) })
            {
                do {
                    guard let row = try ListRow.find(number, database) else { continue }
                    report.lists.append(try verify(row, deletedAs: formerName, database, progress))
                } catch let error as StoreError {
                    report.note("\(error)")
                }
            }
            try checkDeletions(database, &report)
            for problem in try Self.orphanProblems({ try database.integer($0) ?? 0 }) { report.note(problem) }
            return report
        }
    }

    /// Rows that nothing refers to, in the SQL of SQLite and PostgreSQL alike. Nobody would ever remove them. (While a
    /// deleted list is being removed, its snapshots have lost some parts.)
    static let orphans: [(table: String, condition: String, complaint: String)] =
        ["commits", "snapshots"].map { table in
            // With NOT IN, PostgreSQL would compare each row with each list, if the lists do not fit into its memory.
            let condition = """
                NOT EXISTS (SELECT 1 FROM lists WHERE lists.number = \(table).list)
                    AND NOT EXISTS (SELECT 1 FROM deleted_lists WHERE deleted_lists.list = \(table).list)
                """
            return (table, condition, "belong to no list")
        } + [
            (
                "snapshots",
                """
                list IN (SELECT number FROM lists) AND NOT EXISTS (
                    SELECT 1 FROM snapshots AS heads WHERE heads.list = snapshots.list
                        AND heads.revision = snapshots.revision AND heads.part = 0)
                """, "belong to no snapshot"
            ),
            (
                "snapshots", "revision < (SELECT floor FROM lists WHERE number = list)",
                "are older than the history of their list"
            ),
        ]

    /// Returns the complaints about orphaned rows.
    ///
    /// - Parameter count: runs a statement that counts rows.
    static func orphanProblems(_ count: (_ sql: String) throws -> Int) rethrows -> [String] {
        try orphans.compactMap { table, condition, complaint in
            let rows = try count("SELECT count(*) FROM \(table) WHERE \(condition)")
            return rows > 0 ? "\(rows) rows of \(table) \(complaint)" : nil
        }
    }

    /// Checks that a list has either a name or a deletion, never both.
    private func checkDeletions(_ database: SQLiteConnection, _ report: inout StoreReport) throws {
        for number in try database.all("SELECT number FROM deleted_lists ORDER BY number", [], { $0.value(0) }) {
            do { _ = try DeletionRow.all("number = ?", [number], database) } catch let error as StoreError {
                report.note("\(error)")
            }
        }
        let sql = """
            SELECT number FROM lists WHERE (name IS NULL) != (number IN (SELECT list FROM deleted_lists)) ORDER BY number
            """
        for number in try database.all(sql, [], { try $0.integer(0) }) {
            report.note("list \(number) has both a name and a deletion, or neither")
        }
    }

    // MARK: One list

    private func verify(
        _ row: ListRow, deletedAs formerName: String?, _ database: SQLiteConnection,
        _ progress: (String, Int, Int) -> Void
    ) throws -> StoreReport.List {
        let name = row.name ?? formerName ?? "list \(row.number)"
        var check = try HistoryCheck(row, database)
        var problem: StoreReport.Problem?
        do {
            try check.start(database)
            let last = check.stored.revision
            try check.replay(database) { progress(name, $0, last) }
        } catch let found as HistoryCheck.Fault {
            problem = found
        } catch let error as StoreError {
            let isAtEnd = check.revision == check.stored.revision
            problem = StoreReport.Problem(revision: isAtEnd ? nil : check.revision + 1, text: "\(error)")
        }
        return StoreReport.List(
            name: name, isDeleted: row.isDeleted, floor: check.stored.floor, revision: check.stored.revision,
            count: check.count, digest: check.digest, snapshots: check.snapshots, problem: problem)
    }
}
