import Disk
import HandSync

// How much a person has seen of each list.

extension ClientJournal {
    /// Notes what this journal's person has seen of a list.
    package func note(_ seen: Seen, of list: String) throws {
        try writing { database in
            // A list that was deleted and made anew has another history.
            try database.run("DELETE FROM seen WHERE list = ? AND person = ?", [.text(list), .text(person)])
            try database.run(
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?)",
                [
                    seen.logID.stored, .text(person), .text(list), .init(seen.revision), .bytes(seen.unseenBytes),
                ])
        }
    }

    /// Returns what a person has seen of the lists, by their names. Works while another process has the journal open.
    package static func seen(by person: String, inJournalAt path: String) -> [String: Seen] {
        let found = try? reading(path) { database in
            try database.all("SELECT list, log_id, revision, unseen FROM seen WHERE person = ?", [.text(person)]) {
                row in
                (
                    try row.text(0),
                    try Seen(logID: row.bits(1), revision: row.integer(2), unseen: row.withBytes(3, Seen.unseen))
                )
            }
        }
        return Dictionary(found ?? []) { $1 }
    }
}
