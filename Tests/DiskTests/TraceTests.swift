import Foundation
import HandClient
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The power fails after or during any write, with or without the unflushed changes: the store opens, every list is as
/// it was at one of its revisions, and no acknowledged commit is missing.
@Suite(.serialized) struct TraceTests {
    /// What really happened, and what must survive on a disk that lost power.
    struct Story {
        /// The disk's contents before.
        let start: DiskImage
        let trace: DiskTrace
        /// For each list, the digest at each of its revisions.
        let digests: [String: [UInt64]]
    }

    @Test func powerFailsAnywhere() async throws {
        let seed = testSeed(61)
        try verify(try await Self.recordSmallStory(seed), seed) { _ in true }
    }

    /// While SQLite copies its log into the database, and while it restarts its log: many points of that, and some on
    /// the long way there.
    @Test func powerFailsInACheckpoint() async throws {
        let seed = testSeed(62)
        let story = try await Self.recordLongStory(seed)
        let records = story.trace.records
        let used = try #require(records.firstIndex { if case .mark = $0 { true } else { false } })
        let copied = try #require(
            records[used...].firstIndex { if case .write("hand.sqlite", _, _) = $0 { true } else { false } })
        var random = SplitMix64(seed: seed)
        let isEveryPoint = wantsExhaustiveTests
        try verify(story, seed) { isEveryPoint || random.next(below: $0 > copied - 3 ? 6 : 200) == 0 }
    }

    // MARK: Recording

    /// Two people edit two lists; the server is stopped properly, and killed.
    private static func recordSmallStory(_ seed: UInt64) async throws -> Story {
        let server = try FaultyServer()
        var chaos = Chaos(seed: seed)
        let clients = try [server.client("ada"), server.client("bob")]
        for name in ["a", "b"] {
            try await clients[0].create(name)
            try server.mark(name, 0)
        }
        var lists: [FollowedList] = []
        for client in clients { for name in ["a", "b"] { lists.append(try await client.open(name)) } }
        for round in 0..<3 {
            for _ in 0..<4 { try await edit(lists[chaos.random.next(below: lists.count)], &chaos, server) }
            switch round {
            case 0: #expect(server.terminate() == 0)
            case 1: server.kill()
            default: continue
            }
            try server.start()
        }
        for client in clients { await client.close() }
        #expect(server.terminate() == 0)
        return try story(of: server)
    }

    /// Makes so many edits that the log is copied and restarted while the server runs. Small pages keep it short.
    private static func recordLongStory(_ seed: UInt64) async throws -> Story {
        let server = try FaultyServer(pageSize: 512)
        var chaos = Chaos(seed: seed)
        let client = try server.client()
        try await client.create("a")
        try server.mark("a", 0)
        let list = try await client.open("a")
        let unused = server.bytes(of: "hand.sqlite")
        while server.bytes(of: "hand.sqlite") == unused { try await edit(list, &chaos, server) }
        for _ in 0..<3 { try await edit(list, &chaos, server) }
        server.kill()
        await client.close()
        return try story(of: server)
    }

    private static func edit(_ list: FollowedList, _ chaos: inout Chaos, _ server: FaultyServer) async throws {
        let seed = chaos.random.next()
        try await list.edit { state in
            var chaos = Chaos(seed: seed)
            return chaos.delta(on: state.view, size: 3)
        }
        let outcome = try await list.settled()
        #expect(outcome.rejections.isEmpty)
        if let revision = outcome.revision { try server.mark(list.name, revision) }
    }

    private static func story(of server: FaultyServer) throws -> Story {
        let trace = try DiskTrace(readingFrom: server.trace)
        let digests = try server.stored { store in
            var digests: [String: [UInt64]] = [:]
            for list in try store.lists(after: "", limit: 9) {
                let commits = try store.frames(of: list.number, after: 0, about: .max).map { try $0.commit() }
                digests[list.name] = [Hand().digest] + commits.map(\.digest)
            }
            return digests
        }
        return Story(start: server.before, trace: trace, digests: digests)
    }

    // MARK: Replaying

    /// Replays the story up to every point that `isOfInterest`, with every possible state of the disk at that point.
    private func verify(_ story: Story, _ seed: UInt64, _ isOfInterest: (Int) -> Bool) throws {
        var random = SplitMix64(seed: seed)
        var disk = CachedDisk(story.start)
        var promised: [String: Int] = [:]
        var counts = (prefixes: 0, disks: 0)
        for (index, record) in story.trace.records.enumerated() {
            if case .mark(let list, let revision) = record {
                promised[list] = max(promised[list] ?? 0, revision)
                #expect(
                    disk.durable.files["durability"] == Array("fsync\n".utf8),
                    "promised commits were flushed, and survive a loss of power")
            }
            guard isOfInterest(index) else {
                disk.apply(record)
                continue
            }
            let before = disk
            disk.apply(record)
            var images = [disk.seen]
            if disk.durable != before.durable || index == 0 { images.append(disk.durable) }
            if case .write(_, _, let bytes) = record {
                for torn in Set([1, bytes.count / 2, bytes.count - 1]) where 0 < torn && torn < bytes.count {
                    var image = before.seen
                    image.apply(record.torn { _ in torn - 1 })
                    images.append(image)
                }
                images.append(disk.leftovers { random.next(below: $0) })
            }
            counts.prefixes += 1
            counts.disks += images.count
            for image in images { try verify(image, story, promised, "after record \(index), \(record.summary)") }
        }
        #expect(promised.allSatisfy { $1 + 1 == story.digests[$0]?.count }, "the story is complete")
        print("\(counts.prefixes) points of a trace, \(counts.disks) disks, \(promised) revisions")
    }

    private func verify(_ image: DiskImage, _ story: Story, _ promised: [String: Int], _ place: String) throws {
        let folder = try TemporaryFolder(isInMemory: true)
        try image.write(to: folder.path)
        let store: SQLiteStore
        do { store = try SQLiteStore(folder: folder.path, durability: .os) } catch {
            Issue.record("\(place): the store does not open: \(error)")
            return
        }
        defer { try? store.close() }
        let found = try store.lists(after: "", limit: 9)
        #expect(Set(promised.keys).isSubset(of: found.map(\.name)), "\(place): a list is missing")
        for list in found {
            let loaded = try store.load(list.number)
            let digests = try #require(story.digests[list.name], "\(place): an unknown list")
            #expect(digests.indices.contains(loaded.revision), "\(place): \(loaded.revision)")
            #expect(digests[loaded.revision] == loaded.hand.digest, "\(place): no state of the history")
            #expect(loaded.revision >= promised[list.name] ?? 0, "\(place): an acknowledged commit is missing")
        }
    }
}

extension DiskTrace.Record {
    /// The record without its bytes.
    var summary: String {
        if case .write(let file, let offset, let bytes) = self {
            return "write of \(bytes.count) at \(offset) in \(file)"
        }
        return "\(self)"
    }
}
