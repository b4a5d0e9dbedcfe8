import Foundation
import HandClient
import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Synchronization
import Testing

/// The server is killed again and again while people edit: no acknowledged edit is lost, nothing occurs twice, and
/// everybody ends with the store's list. `HAND_ROUNDS` gives the number of rounds (200 for the long run).
@Suite(.serialized) struct CrashTests {
    static let rounds = ProcessInfo.processInfo.environment["HAND_ROUNDS"].flatMap(Int.init) ?? 12

    /// The edits that the clients know to be acknowledged.
    final class Ledger: Sendable {
        private let state = Mutex<(inserted: Set<ItemID>, deleted: Set<ItemID>, count: Int, isOver: Bool)>(
            ([], [], 0, false))
        /// Yields the number of acknowledged edits whenever it grows; only the newest number is buffered.
        let counts: AsyncStream<Int>
        private let counting: AsyncStream<Int>.Continuation

        init() {
            (counts, counting) = AsyncStream<Int>.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        func note(inserted: [ItemID], deleted: [ItemID], edits: Int) {
            let count = state.withLock {
                $0.inserted.formUnion(inserted)
                $0.deleted.formUnion(deleted)
                $0.count += edits
                return $0.count
            }
            counting.yield(count)
        }

        /// Whether the last round is over.
        var isOver: Bool { state.withLock { $0.isOver } }

        func finish() {
            state.withLock { $0.isOver = true }
        }

        var count: Int { state.withLock { $0.count } }
        var inserted: Set<ItemID> { state.withLock { $0.inserted } }
        var deleted: Set<ItemID> { state.withLock { $0.deleted } }
    }

    @Test func killedAgainAndAgain() async throws {
        var random = SplitMix64(seed: testSeed(51))
        let server = try RunningServer(try TemporaryFolder())
        let clients = try (0..<4).map { try server.client("client \($0)") }
        try await clients[0].create("list")
        let ledger = Ledger()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, client) in clients.enumerated() {
                let list = try await client.open("list")
                group.addTask {
                    var chaos = Chaos(seed: UInt64(index) + 100)
                    while !ledger.isOver { try await Self.edit(list, &chaos, ledger) }
                }
            }
            for _ in 0..<Self.rounds {
                let threshold = ledger.count + 1 + random.next(below: 40)
                for await count in ledger.counts where count >= threshold { break }
                server.kill()
                try server.start()
            }
            ledger.finish()
            try await group.waitForAll()
        }
        try await Self.verify(server, clients, ledger)
    }

    /// Ids that a closure on another thread collects.
    private final class Noted: Sendable {
        private let state = Mutex<[ItemID]>([])
        var ids: [ItemID] { state.withLock { $0 } }
        func set(_ ids: [ItemID]) { state.withLock { $0 = ids } }
    }

    /// Makes some edits, each on the result of the one before, and waits for the server's answers, over any number of
    /// server restarts.
    static func edit(
        _ list: FollowedList, _ chaos: inout Chaos, _ ledger: Ledger, burst: Int = 1
    ) async throws {
        var (inserted, deleted): ([ItemID], [ItemID]) = ([], [])
        for _ in 0..<burst {
            let (new, gone) = try await edit(list, &chaos)
            inserted += new
            deleted += gone
        }
        let outcome = try await list.settled()
        #expect(outcome.rejections.isEmpty)
        ledger.note(inserted: inserted, deleted: deleted, edits: burst)
    }

    private static func edit(
        _ list: FollowedList, _ chaos: inout Chaos
    ) async throws -> (inserted: [ItemID], deleted: [ItemID]) {
        let choice = chaos.random.next(below: 8)
        let items = (0..<1 + choice % 2).map { _ in
            Item(id: .random(using: &chaos.random), content: .task("t", done: false))
        }
        let pick = chaos.random.next()
        let (deleted, inserted) = (Noted(), Noted())
        try await list.edit { state in
            let count = state.view.count
            guard count > 0, choice < 4 else {
                inserted.set(items.map(\.id))
                return Delta.inserting(items, at: Int(pick % UInt64(count + 1)), .after)
            }
            let index = Int(pick % UInt64(count))
            switch choice {
            case 0:
                deleted.set([state.view[index].id])
                return Delta.deleting(index..<index + 1)
            case 1: return state.view.rewording(index, "e\(pick % 99)")
            default:
                return Delta.moving(index..<index + 1, to: Int(pick / 7 % UInt64(count + 1)), .before)
            }
        }
        return (inserted.ids, deleted.ids)
    }

    /// - Precondition: everybody has the answers to all edits.
    static func verify(_ server: RunningServer, _ clients: [HandClient], _ ledger: Ledger) async throws {
        // The newest revision is an edit of one of them, who has its answer.
        var head = 0
        for client in clients {
            let list = try await client.open("list")
            _ = try await list.settled()
            head = max(head, try await list.state().revision)
        }
        var views: [Hand] = []
        for client in clients {
            views.append(try await client.open("list").caughtUp(to: head).view)
            await client.close()
        }
        #expect(server.terminate() == 0)
        let stored = try server.stored("list")
        #expect(views.allSatisfy { $0 == stored.hand })
        let ids = stored.hand.map(\.id)
        #expect(Set(ids).count == ids.count, "an item is there twice")
        let missing = ledger.inserted.subtracting(ledger.deleted).subtracting(ids)
        #expect(missing.isEmpty, "\(missing.count) acknowledged items are missing")
        print(
            "\(ledger.count) acknowledged edits, \(ids.count) items, revision \(stored.revision)"
        )
    }
}
