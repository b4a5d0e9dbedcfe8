import Foundation
import GRDB
import HandCore
import HandStore
import HandSync
import HandTestSupport
import Testing

/// A store's files are cut, or bits of them flipped. What is there then is what was, or the store refuses.
@Suite struct StoreDamageTests {
    /// What came of some damage.
    enum Outcome {
        case refused(StoreError)
        case harmless
        /// These places hold something else than before, and nobody was told.
        case unnoticed(Set<String>, isEarlier: Bool)
    }

    /// A store as it lies on the disk when it was closed, and as it does while it is open.
    private static func samples(_ seed: UInt64) throws -> (closed: DiskImage, open: DiskImage, right: StoreContents) {
        let folder = try TemporaryFolder()
        let store = try StoreContents.make(in: folder.path, seed: seed)
        let right = try StoreContents(of: store)
        let open = try DiskImage(of: folder.path, ["hand.sqlite", "hand.sqlite-wal"])
        try store.close()
        return (try DiskImage(of: folder.path, ["hand.sqlite"]), open, right)
    }

    private static func outcome(of image: DiskImage, _ right: StoreContents) throws -> Outcome {
        let folder = try TemporaryFolder(isInMemory: true)
        try image.write(to: folder.path)
        do {
            let store = try SQLiteStore(folder: folder.path, durability: .os)
            defer { try? store.close() }
            let found = try StoreContents(of: store)
            let differences = found.differences(from: right)
            return differences.isEmpty
                ? .harmless : .unnoticed(differences, isEarlier: found.isEarlier(than: right))
        } catch let error as StoreError {
            return .refused(error)
        }
    }

    // MARK: Bits

    /// Where nothing tells that a bit is wrong: what a list holds is told by digests, and the log's frames have checksums, but
    /// these columns have neither. Of a commit, a digest tells only as long as it is replayed: not below a snapshot, and not
    /// who made it and when.
    private static let unprotected: Set = [
        "authors.client", "authors.person", "commits.frame: author", "commits.frame: base, sequence or count",
        "commits.frame: delta", "commits.frame: time", "lists.count", "lists.log_id", "lists.name", "lists.rules",
        "sequences", "the deck",
    ]

    /// Flips of a closed store are noticed, harmless, or in an unprotected place; then they are counted.
    @Test func flippedBits() throws {
        let seed = testSeed(71)
        var random = SplitMix64(seed: seed)
        let samples = try Self.samples(seed)
        let bits = (samples.closed.files["hand.sqlite"]?.count ?? 0) * 8
        var counts = Counts()
        for _ in 0..<(wantsExhaustiveTests ? 20_000 : 600) {
            let bit = random.next(below: bits)
            var damaged = samples.closed
            damaged.flip(bit, of: "hand.sqlite")
            var outcome = try Self.outcome(of: damaged, samples.right)
            if case .unnoticed(let places, _) = outcome {
                #expect(places.isSubset(of: Self.unprotected), "bit \(bit): \(places)")
                outcome = .unnoticed(places, isEarlier: false)
            }
            counts.note(outcome)
        }
        counts.tell("flips in a closed store")
    }

    /// Of a log with a wrong bit SQLite takes what comes before it, as it must take a log that was cut short by a loss of power:
    /// the lists are as they were at some time before.
    @Test func flippedBitsOfTheLog() throws {
        let seed = testSeed(72)
        var random = SplitMix64(seed: seed)
        let samples = try Self.samples(seed)
        let bits = (samples.open.files["hand.sqlite-wal"]?.count ?? 0) * 8
        var counts = Counts()
        for _ in 0..<(wantsExhaustiveTests ? 20_000 : 600) {
            let bit = random.next(below: bits)
            var damaged = samples.open
            damaged.flip(bit, of: "hand.sqlite-wal")
            let outcome = try Self.outcome(of: damaged, samples.right)
            counts.note(outcome)
            if case .unnoticed(_, let isEarlier) = outcome { #expect(isEarlier, "bit \(bit)") }
        }
        counts.tell("flips in a log")
    }

    // MARK: Cuts

    /// In the middle of pages, too. A database of no bytes at all cannot be told from one that was never used.
    @Test(arguments: ["closed", "open"])
    func aDatabaseCutShort(state: String) throws {
        let samples = try Self.samples(testSeed(73))
        let image = state == "closed" ? samples.closed : samples.open
        let size = image.files["hand.sqlite"]?.count ?? 0
        var counts = Counts()
        for cut in stride(from: state == "closed" ? 512 : 0, to: size, by: 512) {
            var damaged = image
            damaged.apply(.truncate(file: "hand.sqlite", size: cut))
            let outcome = try Self.outcome(of: damaged, samples.right)
            counts.note(outcome)
            if case .unnoticed(let places, _) = outcome { Issue.record("cut at \(cut): \(places)") }
        }
        counts.tell("cuts of the database, \(state)")
    }

    @Test func aLogCutShort() throws {
        let samples = try Self.samples(testSeed(74))
        let size = samples.open.files["hand.sqlite-wal"]?.count ?? 0
        var counts = Counts()
        for cut in stride(from: 0, to: size, by: 2_060) {
            var damaged = samples.open
            damaged.apply(.truncate(file: "hand.sqlite-wal", size: cut))
            let outcome = try Self.outcome(of: damaged, samples.right)
            counts.note(outcome)
            if case .unnoticed(_, let isEarlier) = outcome { #expect(isEarlier, "cut at \(cut)") }
        }
        counts.tell("cuts of the log")
    }

    /// The one number that says how long a list is stands beside its commits.
    @Test func aRevisionThatWentBackIsNoticed() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        try StoreContents.make(in: folder.path, seed: testSeed(75)).close()
        let database = try DatabaseQueue(path: folder.path + "/hand.sqlite")
        // The snapshot of that revision is whole, and the count can be right by chance.
        let head = "SELECT count FROM snapshot_heads WHERE list = 1 AND revision = 16"
        try database.write { database in
            let count = try Int.fetchOne(database, sql: head)
            try database.execute(
                sql: "UPDATE lists SET revision = 16, count = ? WHERE number = 1", arguments: [count])
        }
        try database.close()
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        #expect(throws: StoreError.damaged("list 1 should be at revision 16, its commits go on")) { try store.load(1) }
        try store.close()
    }
}

/// How often what came of it.
private struct Counts {
    private var counts: [String: Int] = [:]

    mutating func note(_ outcome: StoreDamageTests.Outcome) {
        switch outcome {
        case .harmless: counts["harmless", default: 0] += 1
        case .refused: counts["refused", default: 0] += 1
        case .unnoticed(_, isEarlier: true): counts["an earlier state", default: 0] += 1
        case .unnoticed(let places, _): for place in places { counts["unnoticed: " + place, default: 0] += 1 }
        }
    }

    func tell(_ title: String) {
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        print("\(title): \(parts.joined(separator: ", "))")
    }
}
