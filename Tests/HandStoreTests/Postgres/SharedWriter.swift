import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Synchronization
import Testing

/// A server with one list: it knows what it was told, and puts its own items at the top.
struct SharedWriter {
    let store: PostgresStore
    let list: ListNumber
    let author: Author
    private(set) var replay: Replay
    private(set) var sequence: SequenceNumber = 0

    init(_ store: PostgresStore, _ list: ListNumber, client: UInt64) throws {
        self.store = store
        self.list = list
        author = try store.knownAuthor(for: ClientID(high: 1, low: client), person: "client \(client)")
        replay = try Self.replay(store, list)
    }

    private static func replay(_ store: PostgresStore, _ list: ListNumber) throws -> Replay {
        let start = try store.load(list)
        return Replay(list: list, from: start.hand, revision: start.revision, deck: nil)
    }

    /// Starts again from the stored list, as if the commits that it missed had been forgotten.
    mutating func reload() throws {
        replay = try Self.replay(store, list)
    }

    /// Returns the next commits on the list that it knows.
    func batch(_ count: Int = 1, text: String = "t") throws -> CommitBatch {
        var (hand, commits) = (replay.hand, [Commit]())
        for index in 1...UInt64(count) {
            let item = Item(
                id: ItemID(rawValue: author.number.rawValue << 32 | sequence.rawValue + index), content: .note(text))
            let delta = Delta.inserting([item], at: 0, .after)
            try hand.apply(delta)
            let revision = replay.revision + commits.count
            commits.append(
                Commit(
                    revision: revision + 1, author: author.number, sequence: sequence + index, base: revision, time: 1,
                    count: hand.count, digest: hand.digest, delta: delta))
        }
        return CommitBatch(list: list, expected: replay.revision, commits: commits)
    }

    /// Appends a batch, and applies the commits that the answer contains.
    @discardableResult
    mutating func append(_ batch: CommitBatch) throws -> Appended {
        let result = try store.append([batch], by: [])[0]
        switch result {
        case .taken:
            for commit in batch.commits { try replay.apply(commit) }
            sequence += UInt64(batch.commits.count)
        case .conflict(let frames):
            for frame in frames { try replay.apply(try frame.commit()) }
        case .refused(let error): throw error
        case .unknown, .gone: break
        }
        return result
    }

    /// Appends the next commits, however often others come first.
    mutating func append(_ count: Int = 1) throws {
        while try append(batch(count)) != .taken {}
    }
}

extension PostgresStore {
    /// Returns a store in the server that the tests share.
    static func shared(
        _ folder: TemporaryFolder, lockTime: Duration = .milliseconds(250), timeout: Duration = .seconds(20)
    ) throws -> PostgresStore {
        try PostgresStore(
            PostgresServer.shared.get().address(), schema: folder.schema, timeout: timeout, lockTime: lockTime)
    }

    func newList(_ name: String = "things", logID: UInt64 = 7) throws -> ListNumber {
        try create(name, rules: Rules(maximumCount: 100_000), logID: logID, deckSeed: nil).number
    }
}

/// Runs `body` on several threads at the same time, and waits for all.
func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let group = DispatchGroup()
    let failure = Mutex<(any Error)?>(nil)
    for index in 0..<count {
        group.enter()
        Thread {
            do { try body(index) } catch { failure.withLock { $0 = error } }
            group.leave()
        }.start()
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}

/// Waits until a condition holds, which should be soon.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
    for _ in 0..<600 {
        if try condition() { return }
        usleep(5_000)
    }
    struct Never: Error { let what: String }
    throw Never(what: what)
}

/// Whether PostgreSQL can be started, and what to do if not.
let needsPostgres = ConditionTrait.enabled(
    if: PostgresServer.isThere, "install PostgreSQL's server (Debian: postgresql)")
