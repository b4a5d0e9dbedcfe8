import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import Testing

/// A store's files are cut, or bits of them flipped. The contents are then unchanged, or the store refuses to open.
@Suite struct StoreDamageTests {
    /// The result of some damage.
    enum Outcome {
        case refused(StoreError)
        case harmless
        /// These places have other contents than before, and no error was reported.
        case unnoticed(Set<String>, isEarlier: Bool)
    }

    /// Returns a store as it is on the disk when closed, and while it is open.
    private static func samples(_ seed: UInt64) throws -> (closed: DiskImage, open: DiskImage, right: StoreContents) {
        let folder = try TemporaryFolder(isInMemory: true)
        let store = try StoreMaker(in: folder.path, seed: seed).store
        let right = try StoreContents(of: store)
        let open = try DiskImage(of: folder.path, ["hand.sqlite", "hand.sqlite-wal", "durability"])
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

    /// In a closed store, flips are noticed or harmless. None of these flips go unnoticed. Possible unnoticed ones are
    /// in a page header that then claims fewer authors than there are, and in the number from which new authors and
    /// lists are counted.
    @Test func flippedBitsAreNoticed() throws {
        let seed = testSeed(71)
        var random = SplitMix64(seed: seed)
        let samples = try Self.samples(seed)
        let bits = (samples.closed.files["hand.sqlite"]?.count ?? 0) * 8
        var counts = Counts()
        for _ in 0..<(wantsExhaustiveTests ? 20_000 : 300) {
            let bit = random.next(below: bits)
            var damaged = samples.closed
            damaged.flip(bit, of: "hand.sqlite")
            let outcome = try Self.outcome(of: damaged, samples.right)
            if case .unnoticed(let places, _) = outcome { Issue.record("bit \(bit): \(places)") }
            counts.note(outcome)
        }
        counts.tell("flips in a closed store")
    }

    /// A flip in the last transaction looks as if the power had failed while it was written: then the lists are as they
    /// were before it.
    @Test func flippedBitsOfTheLogAreNoticed() throws {
        let seed = testSeed(72)
        var random = SplitMix64(seed: seed)
        let samples = try Self.samples(seed)
        let bits = (samples.open.files["hand.sqlite-wal"]?.count ?? 0) * 8
        var counts = Counts()
        for _ in 0..<(wantsExhaustiveTests ? 20_000 : 300) {
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

    /// In the middle of pages, too. An empty database cannot be distinguished from one that was never used.
    @Test(arguments: ["closed", "open"])
    func aTruncatedDatabaseIsRefused(state: String) throws {
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

    @Test func aCutLogLosesOnlyItsEnd() throws {
        let samples = try Self.samples(testSeed(74))
        let size = samples.open.files["hand.sqlite-wal"]?.count ?? 0
        var counts = Counts()
        for cut in stride(from: 0, to: size, by: 6_180) {
            var damaged = samples.open
            damaged.apply(.truncate(file: "hand.sqlite-wal", size: cut))
            let outcome = try Self.outcome(of: damaged, samples.right)
            counts.note(outcome)
            if case .unnoticed(_, let isEarlier) = outcome { #expect(isEarlier, "cut at \(cut)") }
        }
        counts.tell("cuts of the log")
    }
}

/// The number of results of each kind.
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
