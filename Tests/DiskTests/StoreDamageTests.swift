import Foundation
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
        case unnoticed(Set<String>)
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
            let differences = try StoreContents(of: store).differences(from: right)
            return differences.isEmpty ? .harmless : .unnoticed(differences)
        } catch let error as StoreError {
            return .refused(error)
        }
    }

    @Test(arguments: ["closed"])
    func flippedBits(state: String) throws {
        let seed = testSeed(71)
        var random = SplitMix64(seed: seed)
        let samples = try Self.samples(seed)
        let image = state == "closed" ? samples.closed : samples.open
        var counts: [String: Int] = [:]
        for _ in 0..<(wantsExhaustiveTests ? 50_000 : 1_000) {
            let file = image.files.keys.sorted()[random.next(below: image.files.count)]
            let bit = random.next(below: (image.files[file]?.count ?? 0) * 8)
            var damaged = image
            damaged.flip(bit, of: file)
            if ProcessInfo.processInfo.environment["HAND_TALK"] != nil { print(file, bit) }
            switch try Self.outcome(of: damaged, samples.right) {
            case .harmless: counts["harmless", default: 0] += 1
            case .refused(let error):
                counts["refused", default: 0] += 1
                if case .failed(let text) = error { counts["FAILED \(text.suffix(90))", default: 0] += 1 }
            case .unnoticed(let places):
                for place in places { counts[place, default: 0] += 1 }
            }
        }
        for (what, count) in counts.sorted(by: { $0.value > $1.value }) { print("\(state) \(count) \(what)") }
    }
}
