import Disk
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A folder with a store that can be damaged, verified and salvaged.
extension TemporaryFolder {
    /// Makes a store with one list of that many commits, and closes it.
    func makeStore(
        _ count: Int, rules: Rules = Rules(maximumCount: 500), by low: UInt64 = 2
    ) throws {
        let store = try SQLiteStore(folder: path, durability: .os)
        let list = try store.create("things", rules: rules, logID: 9, deckSeed: nil)
        let author = try (2...low).map { try store.knownAuthor(for: ClientID(high: 1, low: $0), person: "Ada") }.last!
        var chaos = Chaos(seed: 5)
        let start = try store.load(list.number)
        for commit in history(on: start, count, author: author, chaos: &chaos) {
            try store.append(oneByOne: [commit], to: list.number)
            if commit.revision % 10 == 0 {
                let hand = try store.state(of: list.number, at: commit.revision)
                try store.saveSnapshot(of: list.number, hand, revision: commit.revision, deck: nil)
            }
        }
        try store.close()
    }

    /// - Parameter hidden: whether the checksums are adapted.
    func change(_ sql: String, hidden: Bool = false) throws {
        let database = try SQLiteDatabase(path + "/hand.sqlite")
        try database.write { database in
            try database.runAll(sql)
            if hidden { for table in CheckedTable.allCases { try table.renewChecksums(database) } }
        }
        try database.close()
    }

    func verify() throws -> StoreReport {
        try StoreVerifier(path: path).verify()
    }

    func salvage(into target: TemporaryFolder) throws -> [StoreSalvage.Loss] {
        var random = SplitMix64(seed: 1)
        return try StoreBackup.restore(
            path + "/hand.sqlite", to: target.path, replaces: false, salvages: true, stamp: 5,
            accessFile: target.path + "/access.json", random: &random
        ).losses
    }
}

extension CheckedTable {
    /// Gives every row the checksum of what it holds now, so that it hides damage.
    func renewChecksums(_ database: SQLiteConnection) throws {
        let columns = columns
        let rows = try database.all("SELECT \(columns.joined(separator: ", ")) FROM \(rawValue)") { row in
            columns.indices.map(row.value)
        }
        let condition = columns.map { "\($0) IS ?" }.joined(separator: " AND ")
        for row in rows {
            try database.run(
                "UPDATE \(rawValue) SET checksum = ? WHERE \(condition)", [.integer(checksum(row))] + row)
        }
    }
}
