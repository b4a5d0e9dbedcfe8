import HandCore
import HandSync
import HandWire
import SQLite
import StoreFiles

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

    static func convert(_ database: SQLiteConnection, from found: Int, _ progress: (Schema.Conversion) -> Void) throws {
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

    private init(_ list: StoredList, _ database: SQLiteConnection) throws {
        self.list = list
        snapshots = Set(
            try database.all("SELECT revision FROM snapshot_heads WHERE list = ?", [list.number.stored]) {
                try $0.integer(0)
            })
        replay = Replay(list: list.number, from: Hand(rules: list.rules), revision: 0, deck: nil)
    }

    private mutating func convert(_ database: SQLiteConnection, progress: (Int) -> Void) throws {
        // An interrupted trim left these.
        try database.run(
            "DELETE FROM commits WHERE list = ? AND revision <= ?",
            [list.number.stored, .init(list.floor)])
        let revisions = try database.all(
            "SELECT revision FROM commits WHERE list = ? ORDER BY revision", [list.number.stored]
        ) { try $0.integer(0) }
        let sql = "SELECT \(CheckedTable.commits.selection) FROM commits WHERE list = ? AND revision = ?"
        for last in revisions {
            guard let row = try database.first(sql, [list.number.stored, .init(last)]) else {
                continue
            }
            try convert(row, through: last, database)
            progress(last)
        }
    }

    /// Replaces a row with one row for each run of commits that were either all converted or all left as they were.
    private mutating func convert(_ row: SQLiteRow, through last: Int, _ database: SQLiteConnection) throws {
        let bytes = try row.bytes(2)
        let places = (try? bytes.withUnsafeBytes { try Frame.places(in: $0) }) ?? []
        let isIntact = (try? row.check(.commits, "")) != nil
        guard isIntact, !places.isEmpty else { return try write(bytes, through: last, isSound: false, database) }
        try database.run("DELETE FROM commits WHERE list = ? AND revision = ?", [list.number.stored, .init(last)])
        var (run, runIsSound) = ([UInt8](), true)
        for (revision, place) in zip(last - places.count + 1...last, places) where revision > list.floor {
            let former = StoredFrame(revision: revision, bytes: [UInt8](bytes[place]))
            let frame = try converted(former, database)
            if !run.isEmpty, runIsSound != (frame != nil) {
                try write(run, through: revision - 1, isSound: runIsSound, database)
                run = []
            }
            runIsSound = frame != nil
            run.append(contentsOf: frame ?? former.bytes)
        }
        try write(run, through: last, isSound: runIsSound, database)
    }

    /// Returns the frame of a commit in the present format, or nil if its effect cannot be determined.
    private mutating func converted(_ frame: StoredFrame, _ database: SQLiteConnection) throws -> [UInt8]? {
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

    private func write(_ frames: [UInt8], through last: Int, isSound: Bool, _ database: SQLiteConnection) throws {
        let values: [SQLiteValue] = [list.number.stored, .init(last), .bytes(frames)]
        let checksum = CheckedTable.commits.checksum(values)
        try database.run(
            "INSERT OR REPLACE INTO commits (\(CheckedTable.commits.selection)) VALUES (?, ?, ?, ?)",
            values + [.integer(isSound ? checksum : ~checksum)])
    }
}
