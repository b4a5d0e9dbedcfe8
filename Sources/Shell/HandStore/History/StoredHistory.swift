import HandCore
import HandSync
import HandWire

// What SQLite and PostgreSQL store alike.

enum StoredSnapshots {
    /// The approximate bytes of items in one row.
    static let partBytes = 256 << 10
    /// How many are kept of each list: the newest, and older ones for reading past states.
    static let kept = 4
}

/// How much one transaction removes, so that other writes do not wait.
enum RemovalStep {
    /// Rows of commits.
    static let commits = 500
    /// Lists that are given up.
    static let lists = 500
    /// The tables with the rows of a list, each with its key. Parts of snapshots are the largest rows.
    static let tables = [("commits", "last", commits), ("snapshots", "revision, part", 32)]
}

extension Rules {
    var stored: [UInt8] {
        var writer = WireWriter()
        writer.rules(self)
        return writer.bytes
    }

    /// - Throws: `StoreError.damaged`.
    init(stored bytes: UnsafeRawBufferPointer) throws {
        do {
            var reader = WireReader(bytes)
            self = try reader.rules()
            try reader.expectEnd(of: "rules")
        } catch {
            throw StoreError.damaged("the rules of a list cannot be read: \(error)")
        }
    }
}

extension StoredList {
    func missing(_ revision: Int) -> StoreError { .missing(revision, of: number) }

    func noSnapshot(at revision: Int) -> StoreError {
        .damaged("list \(number) has no snapshot at revision \(revision)")
    }
}

extension StoreError {
    static func missing(_ revision: Int, of list: ListNumber) -> StoreError {
        .damaged("revision \(revision) of list \(list) is missing")
    }
}
