import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

/// Converts a list's commits that set texts, as stores up to the sixth format have them, to commits that change texts.
/// The list after each commit stays the same, as does its digest.
///
/// A commit that cannot be read, or does not lead to its digest, stays as it is, with a wrong checksum: it was damaged
/// before, and must not be taken for a commit of the present format. After it, the conversion continues from the next
/// snapshot.
struct FormerCommits {
    private let list: StoredList
    /// The list as far as it could be replayed.
    private var replay: Replay
    private let snapshots: Set<Int>

    static func convert(_ database: Database, from found: Int, _ progress: (Schema.Conversion) -> Void) throws {
        let lists = try ListRow.all("TRUE", [], database).map(\.list)
        var conversion = Schema.Conversion(from: found, count: lists.reduce(0) { $0 + $1.revision - $1.floor })
        progress(conversion)
        for list in lists {
            let before = conversion.done
            var commits = try FormerCommits(list, database)
            try commits.convert(database) { revision in
                conversion.done = before + revision - list.floor
                progress(conversion)
            }
        }
    }

    private init(_ list: StoredList, _ database: Database) throws {
        self.list = list
        snapshots = Set(
            try Int.fetchAll(
                database, sql: "SELECT revision FROM snapshot_heads WHERE list = ?", arguments: [list.number.stored]))
        replay = Replay(list: list.number, from: Hand(rules: list.rules), revision: 0, deck: nil)
    }

    private mutating func convert(_ database: Database, progress: (Int) -> Void) throws {
        // An interrupted trim left these.
        try database.execute(
            sql: "DELETE FROM commits WHERE list = ? AND revision <= ?",
            arguments: [list.number.stored, list.floor])
        let revisions = try Int.fetchAll(
            database, sql: "SELECT revision FROM commits WHERE list = ? ORDER BY revision",
            arguments: [list.number.stored])
        let sql = "SELECT \(CheckedTable.commits.selection) FROM commits WHERE list = ? AND revision = ?"
        for last in revisions {
            guard let row = try Row.fetchOne(database, sql: sql, arguments: [list.number.stored, last]) else {
                continue
            }
            try convert(row, through: last, database)
            progress(last)
        }
    }

    /// Replaces a row by one row for each run of commits that were all converted, or all not.
    private mutating func convert(_ row: Row, through last: Int, _ database: Database) throws {
        let bytes: Data = try row.value(2)
        let places = (try? bytes.withUnsafeBytes { try Frame.places(in: $0) }) ?? []
        let isIntact = (try? row.check(.commits, "")) != nil
        guard isIntact, !places.isEmpty else { return try write(bytes, through: last, isSound: false, database) }
        try database.execute(
            sql: "DELETE FROM commits WHERE list = ? AND revision = ?", arguments: [list.number.stored, last])
        var (run, runIsSound) = (Data(), true)
        for (revision, place) in zip(last - places.count + 1...last, places) where revision > list.floor {
            let former = StoredFrame(revision: revision, bytes: [UInt8](bytes[place]))
            let frame = try converted(former, database)
            if !run.isEmpty, runIsSound != (frame != nil) {
                try write(run, through: revision - 1, isSound: runIsSound, database)
                run = Data()
            }
            runIsSound = frame != nil
            run.append(contentsOf: frame ?? former.bytes)
        }
        try write(run, through: last, isSound: runIsSound, database)
    }

    /// Returns the frame of a commit in the present format, or nil if its effect cannot be determined.
    private mutating func converted(_ frame: StoredFrame, _ database: Database) throws -> [UInt8]? {
        let before = frame.revision - 1
        if snapshots.contains(before), replay.revision != before {
            guard let found = try? SQLiteStore.snapshot(of: list, upTo: before, database) else { return nil }
            replay = Replay(list: list.number, from: found.hand, revision: found.revision, deck: nil)
        }
        guard replay.revision == before else { return nil }
        do {
            let commit = try frame.commit(setsTexts: true).resolved(on: replay.hand)
            try replay.apply(commit)
            return DownMessage.commit(list: list.number, commit).frame
        } catch {
            // The commit may be partly applied.
            replay = Replay(list: list.number, from: Hand(rules: list.rules), revision: -1, deck: nil)
            return nil
        }
    }

    private func write(_ frames: Data, through last: Int, isSound: Bool, _ database: Database) throws {
        let values: [any DatabaseValueConvertible] = [list.number.stored, last, frames]
        let checksum = CheckedTable.commits.checksum(values.map(\.databaseValue))
        try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO commits (\(CheckedTable.commits.selection)) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [list.number.stored, last, frames, isSound ? checksum : ~checksum])
    }
}
