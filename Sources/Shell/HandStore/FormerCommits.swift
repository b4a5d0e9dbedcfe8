import Foundation
import GRDB
import HandCore
import HandSync
import HandWire

/// Turns a list's commits that set texts, as they stood in stores up to the sixth format, into such that change them. What a
/// commit leads to stays the same, digest and all.
///
/// A commit that does not read, or does not lead to what it says, stays as it is under a wrong checksum: it was damaged before,
/// and nobody takes it for a commit of today. Behind it the conversion goes on from the next snapshot.
struct FormerCommits {
    private let list: StoredList
    /// The list as far as it could be followed.
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
        // Forgetting them had begun.
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

    /// Replaces a row by one for each run of commits that are alike: converted, or not.
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

    /// The frame of a commit as it is written now; nil if it cannot be told what it did.
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
            // It may have been made in part.
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
