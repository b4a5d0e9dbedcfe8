import Disk
import HandSync
import HandWire

/// Makes a damaged copy of a store sound. Of a damaged list, the newest items are kept if a snapshot leads to them;
/// otherwise the history ends before the first wrong revision.
package struct StoreSalvage {
    /// A list of which something is lost.
    package struct Loss: Equatable, Sendable {
        /// The list's name; for a deleted list, its former name.
        package let name: String
        /// The revisions between which the list should be known.
        package let stored: ClosedRange<Int>
        /// The revisions between which it is known; nil if nothing of it is sound.
        package let kept: ClosedRange<Int>?
    }

    private let database: SQLiteConnection

    /// - Parameter file: a copy that nobody else uses.
    /// - Returns: the losses, and whether the file itself was damaged: then rows may be lost without a trace.
    /// - Throws: `StoreError.damaged` if nothing of the file can be read.
    /// - Complexity: that of replaying all commits, once more for each fault of a list.
    static func run(_ file: String) throws -> (losses: [Loss], isRebuilt: Bool) {
        let found = try StoreFile.translating(file) {
            let isRebuilt = try StoreRebuilding.run(file)
            let copy = try SQLiteDatabase(file)
            defer { try? copy.close() }
            return (try copy.write { try StoreSalvage(database: $0).run() }, isRebuilt)
        }
        let report = try StoreVerifier(path: file).verify()
        guard let problem = report.problems.first ?? report.lists.lazy.compactMap(\.problem).first else {
            return found
        }
        throw StoreError.damaged("nothing can be salvaged: \(problem.text)")
    }

    private func run() throws -> [Loss] {
        try removeUnreadable("authors") { try AuthorRow.all("number = ?", [$0], database).isEmpty }
        try removeUnreadable("deleted_lists") { try DeletionRow.all("number = ?", [$0], database).isEmpty }
        let names = try database.all(
            """
            SELECT lists.number, coalesce(lists.name, deleted_lists.name)
            FROM lists LEFT JOIN deleted_lists ON list = lists.number
            """, [], { (try $0.number(0) as ListNumber, try $0.optionalText(1)) })
        let losses = try names.compactMap { try salvage($0, called: $1 ?? "list \($0)") }
        try database.run(
            "DELETE FROM lists WHERE (name IS NULL) != (number IN (SELECT list FROM deleted_lists))")
        for orphans in StoreVerifier.orphans {
            try database.run("DELETE FROM \(orphans.table) WHERE \(orphans.condition)")
        }
        return losses
    }

    private func removeUnreadable(_ table: String, _ read: (SQLiteValue) throws -> Bool) throws {
        for number in try database.all("SELECT number FROM \(table)", [], { $0.value(0) }) {
            if try sound({ try read(number) }) == nil {
                try database.run("DELETE FROM \(table) WHERE number = ?", [number])
            }
        }
    }

    /// Returns nil if `body` finds damage.
    private func sound<Result>(_ body: () throws -> Result) throws -> Result? {
        do { return try body() } catch is HistoryCheck.Fault { return nil } catch StoreError.damaged { return nil }
    }

    // MARK: One list

    private func salvage(_ number: ListNumber, called name: String) throws -> Loss? {
        guard var row = try sound({ try ListRow.find(number, database) }) ?? nil,
            let stored = try sound({ try HistoryCheck(row, database).stored })
        else {
            try drop(number)
            return Loss(name: name, stored: 0...0, kept: nil)
        }
        let range = stored.floor...max(stored.floor, stored.revision)
        while let fault = try fault(of: row) {
            switch fault {
            case .snapshot(let revision):
                try remove("snapshots", "revision =", revision, of: number)
            case .start, .commit:
                if let start = try snapshot(from: fault, of: row) {
                    try remove("commits", "last <=", start, of: number)
                    try remove("snapshots", "revision <", start, of: number)
                    try row.update(floor: start, database)
                } else if case .commit(let revision) = fault {
                    try remove("commits", "last >=", revision, of: number)
                    try remove("snapshots", "revision >=", revision, of: number)
                } else {
                    try drop(number)
                    return Loss(name: name, stored: range, kept: nil)
                }
            }
        }
        let kept = row.floor...max(row.floor, try database.head(of: number).revision)
        return kept == range ? nil : Loss(name: name, stored: range, kept: kept)
    }

    /// Removes a list. Its commits and snapshots go with the other rows that nothing refers to.
    private func drop(_ list: ListNumber) throws {
        try database.run("DELETE FROM lists WHERE number = ?", [list.stored])
        try database.run("DELETE FROM deleted_lists WHERE list = ?", [list.stored])
    }

    private enum Fault {
        /// The history does not begin with a sound snapshot.
        case start
        case commit(Int)
        /// The commits are right, but the snapshot at a revision is not.
        case snapshot(Int)
    }

    private func fault(of row: ListRow) throws -> Fault? {
        var check = try HistoryCheck(row, database)
        guard try sound({ try check.start(database) }) != nil else { return .start }
        do { try check.replay(database) { _ in } } catch let fault as HistoryCheck.Fault {
            return fault.revision == check.revision ? .snapshot(check.revision) : .commit(check.revision + 1)
        } catch StoreError.damaged { return .commit(check.revision + 1) }
        return nil
    }

    /// Returns the first sound snapshot after a fault.
    private func snapshot(from fault: Fault, of row: ListRow) throws -> Int? {
        let list = try row.list(revision: 0, count: 0)
        let first = if case .commit(let revision) = fault { revision } else { row.floor + 1 }
        return try database.snapshots(of: list).first { revision in
            guard revision >= first else { return false }
            return try sound {
                guard let head = try database.snapshotHead(of: list, upTo: revision)?.head else { return false }
                return try database.snapshot(of: list, at: revision, head).rules == list.rules
            } == true
        }
    }

    private func remove(_ table: String, _ comparison: String, _ revision: Int, of list: ListNumber) throws {
        try database.run(
            "DELETE FROM \(table) WHERE list = ? AND \(comparison) ?", [list.stored, .init(revision)])
    }
}
