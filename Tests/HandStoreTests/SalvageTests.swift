import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What is sound in a damaged store is kept, and what is lost is told.
@Suite struct SalvageTests {
    /// What a damaged list has after a salvage: the first and the last revision; nil if all of it is kept.
    private static let salvaged: [(sql: String, kept: ClosedRange<Int>?)] = [
        // The newest items count more than the beginning.
        ("DELETE FROM commits WHERE last = 17", 20...40), ("DELETE FROM commits WHERE last > 37", 40...40),
        ("UPDATE commits SET frames = x'00' WHERE last IN (17, 33)", 40...40), ("DELETE FROM authors", 40...40),
        ("UPDATE authors SET person = 'Eve'", 40...40),
        // No snapshot comes after the fault.
        ("DELETE FROM commits WHERE last = 35; DELETE FROM snapshots WHERE revision = 40", 0...34),
        ("DELETE FROM commits WHERE last = 35; UPDATE snapshots SET items = x'00' WHERE revision = 40", 0...34),
        (
            "DELETE FROM commits WHERE last IN (5, 35); DELETE FROM snapshots WHERE revision = 40 AND part = 1", 10...34
        ),
        ("DELETE FROM commits WHERE last = 1; DELETE FROM snapshots", 0...0),
        // A snapshot follows from the commits.
        ("UPDATE snapshots SET items = x'00' WHERE revision = 20", nil), ("DELETE FROM snapshots WHERE part = 1", nil),
        ("INSERT INTO commits (list, last, frames) VALUES (7, 1, x'00')", nil),
    ]

    @Test(arguments: salvaged)
    func whatIsSoundIsSalvaged(_ damage: (sql: String, kept: ClosedRange<Int>?)) throws {
        let (folder, target) = (try TemporaryFolder(), try TemporaryFolder())
        try folder.makeStore(40)
        let sound = try SQLiteStore(folder: folder.path, durability: .os)
        let kept = damage.kept ?? 0...40
        let states = try kept.map { try sound.state(of: 1, at: $0) }
        try sound.close()
        try folder.change(damage.sql)
        #expect(try !folder.verify().isSound)
        let losses = try folder.salvage(into: target)
        #expect(losses.map(\.kept) == (damage.kept.map { [$0] } ?? []))
        #expect(losses.allSatisfy { $0.name == "things" })
        #expect(try target.verify().isSound)
        let store = try SQLiteStore(folder: target.path, durability: .os)
        #expect(try kept.map { try store.state(of: 1, at: $0) } == states)
        #expect(try store.load(1).revision == kept.upperBound)
        try store.close()
    }

    /// Other lists are as they were; what is left of one that has nothing sound is removed.
    @Test(
        arguments: [
            "UPDATE lists SET rules = x'00' WHERE number = 1", "UPDATE lists SET floor = 41 WHERE number = 1",
        ], [false, true])
    func aLostListTakesNoOtherAlong(sql: String, hidden: Bool) throws {
        let (folder, target) = (try TemporaryFolder(), try TemporaryFolder())
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        _ = try store.create("other", rules: Rules(), logID: 8, deckSeed: nil)
        _ = try store.create("gone", rules: Rules(), logID: 7, deckSeed: nil)
        _ = try store.delete(try #require(try store.list(named: "gone")), by: "Ada", at: 1)
        try store.close()
        try folder.change(sql, hidden: hidden)
        let losses = try folder.salvage(into: target)
        #expect(losses.map(\.name) == ["things"] && losses.map(\.kept) == [nil])
        let report = try target.verify()
        #expect(report.isSound && report.lists.map(\.name) == ["other", "gone"])
        // A deletion that cannot be read takes its list along, which nobody could bring back.
        try target.change("UPDATE deleted_lists SET name = 'x'")
        let again = try TemporaryFolder()
        _ = try target.salvage(into: again)
        #expect(try again.verify().isSound)
        #expect(try again.verify().lists.map(\.name) == ["other"])
    }

    /// A file whose pages are damaged is refused, and nothing is left of the attempt.
    @Test func damagedPagesAreNotSalvaged() throws {
        let (folder, target) = (try TemporaryFolder(), try TemporaryFolder())
        try folder.makeStore(40)
        let file = folder.path + "/hand.sqlite"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        for place in bytes.indices.dropFirst(4_096) where place % 4_096 < 16 { bytes[place] = 0xFF }
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(throws: StoreError.self) { try folder.salvage(into: target) }
        #expect(throws: StoreError.self) { try target.verify() }
    }

    /// A page that is lost takes only the rows on it along.
    @Test func aLostPageCostsOnlyWhatWasOnIt() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        try folder.makeStore(200)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        _ = try store.create("other", rules: Rules(), logID: 8, deckSeed: nil)
        _ = try store.create("third", rules: Rules(), logID: 7, deckSeed: nil)
        try store.close()
        let file = folder.path + "/hand.sqlite"
        let sound = try Data(contentsOf: URL(fileURLWithPath: file))
        var (whole, refused) = (0, 0)
        for page in 1..<sound.count / 4_096 {
            var bytes = sound
            bytes.resetBytes(in: page * 4_096..<(page + 1) * 4_096)
            try bytes.write(to: URL(fileURLWithPath: file))
            let target = try TemporaryFolder(isInMemory: true)
            // Every other time, it is a store with a log, which may not be read as a whole.
            let log = file + "-wal"
            if page.isMultiple(of: 2) { try Data().write(to: URL(fileURLWithPath: log)) } else { unlink(log) }
            do {
                _ = try folder.salvage(into: target)
                let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
                #expect(!names.contains { $0.contains("partial") }, "\(names)")
                let report = try target.verify()
                #expect(report.isSound, "page \(page): \(report)")
                whole += report.lists.count == 3 ? 1 : 0
            } catch StoreError.damaged {
                refused += 1
            }
        }
        // One page has the lists.
        #expect(refused <= 1 && whole >= sound.count / 4_096 - 3, "\(refused) refused, \(whole) with all lists")
    }
}
