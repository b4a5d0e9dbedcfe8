import Foundation
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Synchronization
import Testing

/// Concurrent operations of several servers on lists, apart from appending.
@Suite(needsPostgres) struct SharedListsTests {
    private let folder: TemporaryFolder
    private let one: PostgresStore
    private let other: PostgresStore

    init() throws {
        folder = try TemporaryFolder()
        one = try .shared(folder)
        other = try .shared(folder)
    }

    /// Runs `body` on several threads of two servers. Returns how many succeed, and how the others fail.
    private func race(_ body: @escaping @Sendable (PostgresStore, Int) throws -> Void) throws -> (Int, [StoreError]) {
        let (one, other) = (one, other)
        let outcome = Mutex<(Int, [StoreError])>((0, []))
        try inParallel(8) { index in
            do {
                try body(index % 2 == 0 ? one : other, index)
                outcome.withLock { $0.0 += 1 }
            } catch let error as StoreError {
                outcome.withLock { $0.1.append(error) }
            }
        }
        return outcome.withLock { $0 }
    }

    @Test func oneOfManyGetsAName() throws {
        let made = try race { store, index in
            _ = try store.create("a", rules: Rules(), logID: UInt64(index), deckSeed: nil)
        }
        #expect(made.0 == 1 && made.1 == [StoreError](repeating: .listExists("a"), count: 7))
        for index in 0..<8 { _ = try one.newList("l\(index)") }
        let renamed = try race { store, index in try store.rename("l\(index)", to: "b") }
        #expect(renamed.0 == 1 && renamed.1 == [StoreError](repeating: .listExists("b"), count: 7))
        let moved = try race { store, index in try store.rename("a", to: "c\(index)") }
        #expect(moved.0 == 1 && moved.1 == [StoreError](repeating: .noSuchList("a"), count: 7))
        #expect(try one.lists(after: "", limit: 99).count == 9)
    }

    @Test func oneOfManyDeletes() throws {
        let list = try one.newList("a")
        let deleted = try race { store, index in try store.delete("a", by: "p", at: 5) }
        #expect(deleted.0 == 1 && deleted.1 == [StoreError](repeating: .noSuchList("a"), count: 7))
        let deletion = try #require(try one.deletedLists(before: .max, limit: 9).first).deletion
        let back = try race { store, index in try store.undelete(deletion, as: "b\(index)") }
        #expect(
            back.0 == 1 && back.1.count == 7 && back.1.allSatisfy { if case .notDeleted = $0 { true } else { false } })
        #expect(try one.load(list).revision == 0)
        for index in 0..<8 {
            _ = try one.newList("l\(index)")
            try one.delete("l\(index)", by: "p", at: 5)
        }
        // Each gives up another one.
        let given = try race { store, _ in
            guard try store.purgeOldest(of: nil) != nil else { throw StoreError.failed("none") }
        }
        #expect(given.0 == 8)
        #expect(try one.deletedLists(before: .max, limit: 9).isEmpty && one.listCount(of: nil) == 1)
        _ = try race { store, _ in while try store.sweep(keeping: 0).hasMore {} }
        let server = try PostgresServer.shared.get()
        #expect(try server.query("SELECT count(*) FROM \(folder.schema).deleted_lists") == "0")
    }

    /// Several servers remove a list of many rows, and nothing of it remains.
    @Test func manySweepAtTheSameTime() throws {
        let list = try one.newList("a")
        let server = try PostgresServer.shared.get()
        try server.query(
            """
            INSERT INTO \(folder.schema).commits SELECT \(list), n, n, 0, '' FROM generate_series(1, 6000) AS n;
            INSERT INTO \(folder.schema).snapshots SELECT \(list), n, 0, '' FROM generate_series(1, 200) AS n
            """)
        try one.delete("a", by: "p", at: 5)
        _ = try race { store, _ in while try store.sweep(keeping: 0).hasMore {} }
        while try one.sweep(keeping: 0).hasMore {}
        for table in ["lists", "commits", "snapshots", "deleted_lists"] {
            #expect(try server.query("SELECT count(*) FROM \(folder.schema).\(table)") == "0", "\(table)")
        }
    }

    /// Under whatever names and at whichever servers a client connects, its submissions to a list have one sequence.
    @Test func aClientAtSeveralServersHasOneSequence() throws {
        let (one, other) = (one, other)
        let found = Mutex<[Author]>([])
        for client in UInt64(1)...20 {
            found.withLock { $0 = [] }
            try inParallel(6) { index in
                let store = index % 2 == 0 ? one : other
                let author = try store.author(for: ClientID(high: 1, low: client), person: "p\(index % 3)")
                #expect(!author.isNew)
                found.withLock { $0.append(author.author) }
            }
            let authors = found.withLock { $0 }
            #expect(Set(authors.map(\.client)).count == 1 && Set(authors.map(\.number)).count == 3)
            #expect(authors.contains { $0.number == $0.client })
        }
    }

    /// Characters that the database cannot store are stored as others, and the name is found all the same.
    @Test func aNameMayContainNUL() throws {
        let author = try one.knownAuthor(for: ClientID(high: 1, low: 1), person: "a\0b")
        #expect(try other.knownAuthor(for: ClientID(high: 1, low: 1), person: "a\0b") == author)
        #expect(try one.people([author.number]).map(\.name) == ["a\u{FFFD}b"])
        #expect(try one.list(named: "a\0b") == nil && one.lists(after: "\0", limit: 9).isEmpty)
    }

    /// Snapshots and forgetting keep each client's last submission, whichever server does them.
    @Test func sequencesOutliveTheirCommits() throws {
        let list = try one.newList("a")
        var writers = try (1...5).map { try SharedWriter(one, list, client: $0) }
        for round in 0..<12 {
            // One client is active for a while, the others nearly always.
            for index in writers.indices where index == 0 ? round == 1 : index != round % 5 {
                try writers[index].append(index + 1)
            }
            let start = try one.load(list)
            let sequences = Dictionary(
                uniqueKeysWithValues: writers.filter { $0.sequence > 0 }.map { ($0.author.number, $0.sequence) })
            #expect(start.sequences.mapValues(\.sequence) == sequences)
            if round % 3 == 1 { try other.saveSnapshot(of: list, start.hand, revision: start.revision, deck: nil) }
            if round % 4 == 3 {
                let before = try (one.load(list), one.size())
                while try other.trim(list, keeping: Retention(commits: round % 8), now: 0).hasMore {}
                let after = try one.load(list)
                #expect(after.sequences == before.0.sequences && after.hand == before.0.hand)
                #expect(after.snapshotRevision > 0)
                for index in writers.indices { try writers[index].reload() }
            }
        }
        while try other.trim(list, keeping: Retention(commits: 0), now: 0).hasMore {}
        let server = try PostgresServer.shared.get()
        #expect(try server.query("SELECT bytes FROM \(folder.schema).lists") == "0")
        #expect(try server.query("SELECT count(*) FROM \(folder.schema).commits") == "0")
        let end = try one.load(list)
        #expect(end.revision == end.snapshotRevision && end.hand.count == end.revision)
    }

    /// A server that forgets less than another has already forgotten restores nothing.
    @Test func manyForgetAtTheSameTime() throws {
        let list = try one.newList("a")
        var writer = try SharedWriter(one, list, client: 1)
        let furthest = Mutex(0)
        for _ in 1...12 {
            for index in 0..<10 { try writer.append(1 + index % 3) }
            let trimmed = try race { store, index in
                let floor = try store.trim(list, keeping: Retention(commits: 1 + index * 2), now: 0).floor
                furthest.withLock { $0 = max($0, floor) }
            }
            #expect(trimmed.1 == [])
            let floor = furthest.withLock { $0 }
            #expect(try one.list(named: "a")?.floor == floor)
            // Rows have several commits, and the floor may be within one.
            #expect(try one.frames(of: list, after: 0, about: .max).first?.revision ?? floor + 1 == floor + 1)
            #expect(try one.load(list).hand == writer.replay.hand)
            // A server that finds another one forgetting leaves the rest for later.
            while try other.trim(list, keeping: Retention(commits: 1), now: 0).hasMore {}
            #expect(try one.load(list).hand == writer.replay.hand)
        }
        let (server, schema) = (try PostgresServer.shared.get(), folder.schema)
        let sizes = "SELECT bytes = (SELECT sum(length(frames)) FROM \(schema).commits) FROM \(schema).lists"
        #expect(try server.query(sizes) == "t")
    }

    /// A snapshot of a diverged server does not become everybody's starting point.
    @Test func aWrongSnapshotIsRefused() throws {
        let list = try one.newList("a")
        var writer = try SharedWriter(one, list, client: 1)
        try writer.append(3)
        let hand = writer.replay.hand
        var wrong = hand
        try wrong.apply(.deleting(0..<1))
        #expect(throws: StoreError.self) { try one.saveSnapshot(of: list, wrong, revision: 3, deck: nil) }
        // No snapshot of an unknown revision, or of a deleted list, is stored.
        try one.saveSnapshot(of: list, hand, revision: 4, deck: nil)
        try one.saveSnapshot(of: 99, hand, revision: 3, deck: nil)
        #expect(try one.load(list).snapshotRevision == 0)
        try one.saveSnapshot(of: list, hand, revision: 3, deck: nil)
        #expect(try one.load(list).snapshotRevision == 3)
    }

    /// Every part of a large list is read, and old snapshots are removed.
    @Test func aLargeListIsStoredInParts() throws {
        let list = try one.newList("a")
        var writer = try SharedWriter(one, list, client: 1)
        for round in 0..<7 {
            try writer.append(writer.batch(40, text: String(repeating: "\(round)", count: 9_000)))
            try one.saveSnapshot(of: list, writer.replay.hand, revision: writer.replay.revision, deck: nil)
        }
        #expect(try other.load(list).hand == writer.replay.hand)
        #expect(try other.state(of: list, at: 150).count == 150)
        let server = try PostgresServer.shared.get()
        let kept = "SELECT count(*) FROM \(folder.schema).snapshots WHERE part = 0"
        #expect(try server.query(kept) == "4")
        #expect(try one.frames(of: list, after: 0, about: .max).count == 280)
        #expect(try one.frames(of: list, after: 3, about: 30_000).map(\.revision) == [4, 5, 6, 7])
    }

    // MARK: Hints

    /// Other servers are soon notified of an append; the appending server is not.
    @Test func otherServersAreNotifiedOfAppends() throws {
        let lists = try (0..<300).map { try one.newList("l\($0)") }
        let heard = Mutex<[ListNumber: Int]>([:])
        let own = Atomic(0)
        let all = DispatchSemaphore(value: 0)
        other.listen { hint in
            guard case .commits(let list, let revision) = hint else { return }
            let isWhole = heard.withLock { heard in
                heard[list] = revision
                return heard.count == lists.count
            }
            if isWhole { all.signal() }
        }
        one.listen { _ in own.add(1, ordering: .relaxed) }
        let server = try PostgresServer.shared.get()
        try eventually("both listen") {
            try server.query(
                "SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN hand_\(folder.schema)' AND state = 'idle'")
                == "2"
        }
        // Anybody may send something.
        try server.query(
            "NOTIFY hand_\(folder.schema), 'nonsense'; NOTIFY hand_\(folder.schema), '-1 99999999999999999999 1@ 1@x ~ ~x @'"
        )
        let batches = try lists.map { try SharedWriter(one, $0, client: 1).batch(2) }
        #expect(try one.append(batches, by: []).allSatisfy { $0 == .taken })
        #expect(all.wait(timeout: .now() + 20) == .success, "not all hints arrived")
        #expect(heard.withLock { heard in lists.allSatisfy { heard[$0] == 2 } })
        let heads = try other.heads(of: lists + [9_999])
        #expect(heads.count == 300 && heads.allSatisfy { $0.revision == 2 && $0.logID == 7 })
        #expect(heads.first { $0.list == lists[5] }?.digest == batches[5].commits[1].digest)
        // The session is ended, and another replaces it.
        try server.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN hand_\(folder.schema)'")
        var writer = try SharedWriter(one, lists[0], client: 2)
        try eventually("it listens again") {
            try writer.append()
            return heard.withLock { $0[lists[0]] ?? 0 } > 2
        }
        #expect(own.load(ordering: .relaxed) == 0)
        one.close()
        other.close()
    }
}
