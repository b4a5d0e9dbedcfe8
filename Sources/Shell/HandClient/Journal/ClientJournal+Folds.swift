import Disk
import HandCore
import HandWire

// What a person has folded on the screen.

extension ClientJournal {
    /// The lists whose folded items are kept; those that were folded longest ago are forgotten.
    package static let maxFoldedLists = 1_000
    /// The most folded items of one list that are kept.
    package static let maxFolds = 100_000

    /// Notes which items of a list are folded.
    package func keep(folds items: [ItemID], of log: UInt64) throws {
        var writer = WireWriter()
        for item in items.prefix(Self.maxFolds) { writer.word(item.rawValue) }
        let bytes = writer.withBytes { [UInt8]($0) }
        try writing { database in
            try database.run("DELETE FROM folds WHERE log_id = ?", [log.stored])
            if bytes.isEmpty { return }
            try database.run("INSERT INTO folds (log_id, items) VALUES (?, ?)", [log.stored, .bytes(bytes)])
            try database.run(
                "DELETE FROM folds WHERE number NOT IN (SELECT number FROM folds ORDER BY number DESC LIMIT ?)",
                [.init(Self.maxFoldedLists)])
        }
    }

    /// Returns the folded items of a list, as they were noted last.
    package func folds(of log: UInt64) throws -> [ItemID] {
        let sql = "SELECT items FROM folds WHERE log_id = ?"
        return try reading { try $0.first(sql, [log.stored])?.withBytes(0, Self.items) } ?? []
    }

    private static func items(_ bytes: UnsafeRawBufferPointer) throws -> [ItemID] {
        var reader = WireReader(bytes)
        return try (0..<bytes.count / 8).map { _ in ItemID(rawValue: try reader.word("folded item")) }
    }
}
