import Disk
import Glibc
import HandSync

/// A lost edit that is kept until its person decides about it.
package struct KeptLoss: Sendable {
    /// Its number in the journal.
    package let number: Int64
    package let list: String
    /// The list's log id. Another list may have the name by now.
    package let log: UInt64
    package let person: String
    /// Seconds since 1970.
    package let time: Int
    /// Whether its person has been told of it.
    package let isTold: Bool
    package let loss: Loss
}

extension ClientJournal {
    /// How many overridden edits are kept after their person was told of them; the oldest are dropped. Refused edits
    /// are kept until their person decides.
    static let maxToldOverrides: Int64 = 200

    static func note(
        _ loss: Loss, of list: String, _ log: UInt64, _ person: String, _ database: SQLiteConnection
    ) throws {
        try database.run(
            """
            INSERT INTO losses (list, log_id, person, time, is_refused, is_told, loss) VALUES (?, ?, ?, ?, ?, 0, ?)
            """,
            [
                .text(list), log.stored, .text(person), .init(time(nil)), .init(loss.isRefused ? 1 : 0),
                .bytes(loss.bytes),
            ])
        try database.run(
            "DELETE FROM losses WHERE is_refused = 0 AND is_told = 1 AND number <= ?",
            [.integer(database.lastInsertedRow - maxToldOverrides)])
    }

    static func forget(_ loss: Loss, of list: String, _ database: SQLiteConnection) throws {
        try database.run(
            "DELETE FROM losses WHERE number = (SELECT min(number) FROM losses WHERE list = ? AND loss = ?)",
            [.text(list), .bytes(loss.bytes)])
    }

    /// Returns a person's lost edits of a list, the oldest first.
    package func losses(of list: String, by person: String) throws -> [KeptLoss] {
        try reading { try Self.losses(of: list, $0).filter { $0.person == person } }
    }

    /// Returns the lost edits of a list, or of all lists, the oldest first. Works while another process has the journal
    /// open.
    package static func losses(of list: String? = nil, inJournalAt path: String) throws -> [KeptLoss] {
        try reading(path) { try losses(of: list, $0) }
    }

    private static func losses(of list: String?, _ database: SQLiteConnection) throws -> [KeptLoss] {
        try database.all(
            """
            SELECT number, list, log_id, person, time, is_told, loss FROM losses
            WHERE ?1 IS NULL OR list = ?1 ORDER BY number
            """, [list.map { .text($0) } ?? .null]
        ) { row in
            KeptLoss(
                number: Int64(try row.integer(0)), list: try row.text(1), log: try row.bits(2),
                person: try row.text(3), time: try row.integer(4), isTold: try row.integer(5) != 0,
                loss: try row.withBytes(6) { try Loss($0) })
        }
    }

    /// Forgets lost edits about which their person has decided. Works while another process has the journal open.
    package static func forget(_ numbers: [Int64], inJournalAt path: String) throws {
        try StoreFile.translating(path) {
            try StoreFile.expectUsable(path)
            let database = try SQLiteDatabase(path)
            try database.write { database in
                for number in numbers { try database.run("DELETE FROM losses WHERE number = ?", [.integer(number)]) }
            }
            try database.close()
        }
    }
}
