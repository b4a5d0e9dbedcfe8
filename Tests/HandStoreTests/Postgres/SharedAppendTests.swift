import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Synchronization
import Testing

/// Several servers append to the same lists.
@Suite(needsPostgres) struct SharedAppendTests {
    private let folder: TemporaryFolder
    private let one: PostgresStore
    private let other: PostgresStore
    private let list: ListNumber

    init() throws {
        folder = try TemporaryFolder()
        one = try .shared(folder)
        other = try .shared(folder)
        list = try one.newList()
    }

    /// Checks the result: each writer's commits occur once, in its order, and the list is what they make of it.
    private func expectAll(_ counts: [AuthorID: SequenceNumber]) throws {
        let frames = try one.frames(of: list, after: 0, about: .max)
        let commits = try frames.map { try $0.commit() }
        #expect(commits.map(\.revision) == Array(1..<commits.count + 1))
        for (author, count) in counts {
            #expect(
                commits.filter { $0.author == author }.map(\.sequence) == (1...count.rawValue).map(SequenceNumber.init))
        }
        #expect(UInt64(commits.count) == counts.values.map(\.rawValue).reduce(0, +))
        let loaded = try other.load(list)
        #expect(loaded.revision == commits.count && loaded.hand.count == commits.count)
        #expect(loaded.sequences.mapValues(\.sequence) == counts)
    }

    @Test func aLateWriterGetsTheCommitsThatItMissed() throws {
        var (first, second) = (try SharedWriter(one, list, client: 1), try SharedWriter(other, list, client: 2))
        let late = try second.batch(2)
        #expect(try first.append(first.batch(3)) == .taken)
        #expect(try second.append(late) == .conflict(one.frames(of: list, after: 0, about: .max)))
        #expect(second.replay.revision == 3)
        #expect(try second.append(second.batch(2)) == .taken)
        #expect(try one.list(named: "things")?.revision == 5)
        try expectAll([first.author.number: 3, second.author.number: 2])
        one.close()
        other.close()
    }

    /// One list, with others that must not be affected: a writer that is too late for that list still commits to this
    /// one.
    @Test func eachListIsATransactionOfItsOwn() throws {
        let lists = try (0..<20).map { try one.newList("l\($0)", logID: UInt64($0) + 100) }
        var writers = try lists.map { try SharedWriter(one, $0, client: 1) }
        let batches = try writers.map { try $0.batch() }
        for index in stride(from: 0, to: 20, by: 3) {
            var rival = try SharedWriter(other, lists[index], client: 2)
            try rival.append()
        }
        let results = try one.append(batches, by: [])
        for (index, result) in results.enumerated() {
            if index % 3 == 0 {
                #expect(result == .conflict(try other.frames(of: lists[index], after: 0, about: .max)))
            } else {
                #expect(result == .taken)
            }
        }
        for index in writers.indices where index % 3 == 0 { try writers[index].append() }
        for (index, list) in lists.enumerated() { #expect(try one.load(list).revision == (index % 3 == 0 ? 2 : 1)) }
        #expect(try one.load(list).revision == 0)
        // An append of nothing does nothing.
        #expect(try one.append([CommitBatch(list: list, expected: 9, commits: [])], by: []) == [.taken])
    }

    /// Nothing is lost, doubled or out of order, whether the writers race or lock.
    @Test(arguments: [1, 7]) func manyServersAppendToOneList(size: Int) throws {
        let (count, rounds, folder, list) = (4, 60, folder, list)
        try inParallel(count) { index in
            let store = try PostgresStore.shared(folder)
            var writer = try SharedWriter(store, list, client: UInt64(index) + 1)
            for _ in 0..<rounds { try writer.append(size) }
            store.close()
        }
        let authors = try (0..<count).map { index in
            try one.knownAuthor(for: ClientID(high: 1, low: UInt64(index) + 1), person: "client \(index + 1)").number
        }
        try expectAll(Dictionary(uniqueKeysWithValues: authors.map { ($0, SequenceNumber(rounds * size)) }))
    }

    /// A store that several threads use at once.
    @Test func manyThreadsAppendToManyLists() throws {
        let (store, count) = (one, 6)
        let lists = try (0..<count).map { try one.newList("l\($0)") }
        try inParallel(count) { index in
            for (place, list) in (lists + lists)[index..<index + count].enumerated() {
                var writer = try SharedWriter(store, list, client: UInt64(index * 10 + place) + 1)
                for _ in 0..<10 { try writer.append() }
            }
        }
        for list in lists { #expect(try other.load(list).revision == count * 10) }
    }

    /// A reader sees a list as it was at one moment, whatever others do to it in the meantime.
    @Test func readsAreConsistent() throws {
        let (one, other, list) = (one, other, list)
        let isOver = Atomic(false)
        try inParallel(2) { index in
            if index == 0 {
                defer { isOver.store(true, ordering: .relaxed) }
                var writer = try SharedWriter(one, list, client: 1)
                for round in 0..<150 {
                    try writer.append(2)
                    if round % 20 == 19 { while try one.trim(list, keeping: Retention(commits: 5), now: 0).hasMore {} }
                }
            } else {
                var last = 0
                while !isOver.load(ordering: .relaxed) {
                    let start = try other.load(list)
                    #expect(start.revision >= last && start.hand.count == start.revision)
                    last = start.revision
                    _ = try other.frames(of: list, after: last / 2, about: .max)
                    // It may have been forgotten between the two.
                    do { _ = try other.state(of: list, at: last) } catch StoreError.noSuchRevision {}
                }
            }
        }
        #expect(try other.load(list).revision == 300)
    }

    // MARK: Locking

    /// A writer that was too late six times in a row succeeds the next time.
    @Test func aWriterThatIsAlwaysLateLocksTheList() throws {
        let patient = try PostgresStore.shared(folder, lockTime: .seconds(15))
        var (unlucky, lucky) = (try SharedWriter(patient, list, client: 1), try SharedWriter(other, list, client: 2))
        for _ in 0..<6 {
            let late = try unlucky.batch()
            try lucky.append()
            guard case .conflict(let frames) = try unlucky.append(late) else { throw CancellationError() }
            #expect(frames.count == 1)
        }
        // The seventh attempt is too late as well; from then on the list waits for the eighth.
        let late = try unlucky.batch()
        try lucky.append()
        guard case .conflict = try unlucky.append(late) else { throw CancellationError() }
        let (batch, server) = (try lucky.batch(), try PostgresServer.shared.get())
        let (rival, ready) = (lucky, DispatchSemaphore(value: 0))
        let thread = Thread {
            var rival = rival
            let result = try? rival.append(batch)
            if case .conflict = result { ready.signal() }
        }
        thread.start()
        try eventually("somebody waits for the list") {
            try server.query(
                """
                SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'WITH raised%'
                AND pg_blocking_pids(pid) <> '{}'
                """) != "0"
        }
        #expect(try unlucky.append(unlucky.batch()) == .taken)
        #expect(ready.wait(timeout: .now() + 20) == .success, "the other was not told that it was too late")
        #expect(try patient.load(list).revision == 8)
        // It races again.
        try unlucky.append()
        patient.close()
    }

    /// An abandoned lock expires by itself, and nothing unacknowledged is stored.
    @Test func anAbandonedLockExpires() throws {
        let hasty = try PostgresStore.shared(folder, lockTime: .milliseconds(50))
        var (unlucky, lucky) = (try SharedWriter(hasty, list, client: 1), try SharedWriter(other, list, client: 2))
        for _ in 0..<7 {
            let late = try unlucky.batch()
            try lucky.append()
            guard case .conflict = try unlucky.append(late) else { throw CancellationError() }
        }
        let late = try unlucky.batch()
        // The other waits until the database releases the lock.
        #expect(try lucky.append(lucky.batch()) == .taken)
        guard case .conflict(let frames) = try unlucky.append(late) else { throw CancellationError() }
        #expect(frames.count == 1)
        try unlucky.append(unlucky.batch())
        try expectAll([unlucky.author.number: 1, lucky.author.number: 8])
        hasty.close()
    }

    /// However many locks were abandoned, contended lists are locked, and no connection is missing: each abandoned lock
    /// makes room for another.
    @Test func abandonedLocksMakeRoom() throws {
        let hasty = try PostgresStore.shared(folder, lockTime: .milliseconds(1_500))
        let server = try PostgresServer.shared.get()
        let locks = """
            SELECT count(*) FROM pg_locks JOIN pg_class ON relation = pg_class.oid
            WHERE relnamespace = '\(folder.schema)'::regnamespace AND relname = 'lists' AND mode = 'RowShareLock'
            """
        for round in 0..<2 * PostgresStore.writerCount {
            let list = try one.newList("l\(round)", logID: UInt64(round) + 100)
            var (unlucky, lucky) = (try SharedWriter(hasty, list, client: 1), try SharedWriter(other, list, client: 2))
            for _ in 0..<7 {
                let late = try unlucky.batch()
                try lucky.append()
                guard case .conflict = try unlucky.append(late) else { throw CancellationError() }
            }
            #expect(try server.query(locks) == "1", "list \(round) is locked")
            try eventually("the database releases the lock") { try server.query(locks) == "0" }
        }
        var last = try SharedWriter(hasty, list, client: 3)
        try last.append()
        hasty.close()
    }

    // MARK: Expectations

    @Test func appendsToAnotherHistoryAreRefused() throws {
        var writer = try SharedWriter(one, list, client: 1)
        try writer.append(3)
        // The history went back, or is another one.
        let ahead = CommitBatch(list: list, expected: 5, commits: try writer.batch().commits)
        #expect(try one.append([ahead], by: []) == [.conflict([])])
        var batch = try writer.batch()
        batch.digest = writer.replay.hand.digest ^ 1
        #expect(try one.append([batch], by: []) == [.conflict([])])
        batch.logID = 8
        #expect(try one.append([batch], by: []) == [.gone])
        batch.digest = writer.replay.hand.digest
        #expect(try one.append([batch], by: []) == [.gone])
        batch.logID = 7
        #expect(try one.append([batch], by: []) == [.taken])
        #expect(try one.append([CommitBatch(list: 99, expected: 0, commits: batch.commits)], by: []) == [.gone])
        // A late batch for another history does not get commits of this one.
        var late = try writer.batch()
        late.logID = 8
        #expect(try one.append([late], by: []) == [.gone])
    }

    @Test func appendsToADeletedListAreRefused() throws {
        var writer = try SharedWriter(one, list, client: 1)
        try writer.append(2)
        try other.delete("things", by: "ada", at: 5)
        let batch = try writer.batch()
        #expect(try writer.append(batch) == .gone)
        #expect(try one.heads(of: [list]).isEmpty)
        let deletion = try #require(try one.deletedLists(before: .max, limit: 1).first).deletion
        try other.undelete(deletion, as: "back")
        #expect(try writer.append(batch) == .taken)
        try one.delete("back", by: "ada", at: 6)
        #expect(try other.purgeOldest(of: nil) == "back")
        #expect(try writer.append(batch) == .gone)
        while try other.sweep(keeping: 0).hasMore {}
        #expect(try one.size() == 0)
    }

    // MARK: The same batch again

    @Test(arguments: [1, 40]) func aRepeatedBatchIsStoredOnce(count: Int) throws {
        var writer = try SharedWriter(one, list, client: 1)
        // Several rows, if there are many commits.
        let batch = try writer.batch(count, text: String(repeating: "x", count: 9_000))
        #expect(try writer.append(batch) == .taken)
        #expect(try one.append([batch], by: []) == [.taken])
        #expect(try other.append([batch], by: []) == [.taken])
        // Also after others have continued.
        var rival = try SharedWriter(other, list, client: 2)
        try rival.append(3)
        #expect(try one.append([batch], by: []) == [.taken])
        try expectAll([writer.author.number: SequenceNumber(count), rival.author.number: 3])
        let sizes = try PostgresServer.shared.get().query(
            "SELECT max(length(frames)) <= 65536, count(*) FROM \(folder.schema).commits")
        #expect(sizes == (count == 1 ? "t|2" : "t|7"))
    }

    /// A batch that only starts like it, or has the same effect, is another batch.
    @Test func anotherBatchIsNotMistakenForIt() throws {
        var (writer, rival) = (try SharedWriter(one, list, client: 1), try SharedWriter(other, list, client: 2))
        let batch = try writer.batch(2)
        try writer.append(CommitBatch(list: list, expected: 0, commits: [batch.commits[0]]))
        guard case .conflict(let frames) = try one.append([batch], by: [])[0] else { throw CancellationError() }
        #expect(frames.count == 1)
        // The same digest after it: an edit without effect by somebody else.
        func empty(_ writer: SharedWriter) -> CommitBatch {
            let start = writer.replay
            return CommitBatch(
                list: list, expected: 1,
                commits: [
                    Commit(
                        revision: 2, author: writer.author.number, sequence: writer.sequence + 1, base: 1, time: 1,
                        count: start.hand.count, digest: start.hand.digest, delta: .identity)
                ])
        }
        rival = try SharedWriter(other, list, client: 2)
        #expect(try rival.append(empty(rival)) == .taken)
        guard case .conflict = try one.append([empty(writer)], by: [])[0] else { throw CancellationError() }
    }
}
