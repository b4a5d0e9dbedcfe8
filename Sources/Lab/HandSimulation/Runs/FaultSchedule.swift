import HandCore
import HandSync
import HandWire

/// Everything about a simulated world that is fixed from the start. It follows from the seed.
///
/// Swarm testing (Groce and others, “Swarm testing”, ISSTA 2012): each world switches off some kinds of edits and
/// faults, because what is rare among many kinds becomes common when few are left.
package struct FaultSchedule: Sendable {
    package let seed: UInt64
    let clients: Int
    let lists: Int
    /// The number of servers that share the store. A single server has the store to itself.
    package let servers: Int
    let storeFaults: StoreFaults
    /// The number of writes that the store's standby may lag behind, or 0 if it never lags.
    let lag: Int
    let limits: Limits
    let retention: Retention
    /// The latency of a connection in milliseconds.
    let latency: Int
    let jitter: Int
    /// The number of bytes that a connection buffers.
    let capacity: Int
    /// The maximum duration of a flush in milliseconds.
    let flush: Int
    let journalCompaction: Int
    /// The maximum pause between two steps in milliseconds.
    let pause: Int
    /// Whether rare moments bring a fault along (`System.strike`).
    let isUnlucky: Bool
    /// How likely each kind of step is.
    let weights: [Kind: Int]

    enum Kind: Int, CaseIterable {
        case insert, delete, move, change, block, undo, redo, exact, look, ask, open, close
        case createList, deleteList, undeleteList, renameList, renameBack
        case cut, storm, vanish, stall, killClient, tearClient
        case killServer, stopServer, fullDisk, failFlush, slowDisk, jumpClock, stranger, garble, copyClient
        /// Only with several servers.
        case moveClient, cutOffServer
        /// Only if a standby may lag behind.
        case failOver

        var isFault: Bool { rawValue >= Kind.cut.rawValue }

        /// Whether steps of this kind may happen when `servers` servers share a store. A shared store flushes by
        /// itself; and when two copies of a client use two servers, neither copy is told to stop.
        func happens(to servers: Int) -> Bool {
            switch self {
            case .moveClient, .cutOffServer, .failOver: servers > 1
            case .failFlush, .copyClient: servers == 1
            default: true
            }
        }

        var usual: Int {
            switch self {
            case .insert: 14
            case .delete, .move, .change: 8
            case .block, .undo, .redo, .exact, .look: 4
            case .cut, .stall, .moveClient: 4
            case .ask, .open, .storm, .vanish, .killClient, .tearClient, .killServer, .stranger, .garble, .copyClient,
                .cutOffServer:
                2
            case .close, .createList, .deleteList, .undeleteList, .renameList, .renameBack, .stopServer, .fullDisk,
                .failFlush, .slowDisk, .jumpClock, .failOver:
                1
            }
        }
    }

    package init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        func pick(_ choices: [Int]) -> Int { choices[random.next(below: choices.count)] }
        clients = pick([1, 2, 2, 3, 3, 4, 5])
        lists = pick([1, 1, 1, 2, 3])
        latency = pick([0, 1, 5, 40, 300])
        jitter = pick([0, 2, 20, 200])
        capacity = pick([64, 512, 4_096, 65_536])
        flush = pick([1, 5, 30, 200])
        journalCompaction = pick([8, 40, 20_000])
        pause = pick([1, 5, 40, 400, 3_000])
        var limits = Limits()
        limits.windowBytes = pick([256, 1_024, 8 << 20])
        limits.chunkBytes = pick([64, 1_024])
        limits.snapshotCommits = pick([5, 30, 1_000])
        limits.unloadDelay = UInt64(pick([500, 60_000]))
        limits.listsPage = 2
        // The values below come from a generator of their own, so that the rest of an older seed's world stays the
        // same.
        var other = SplitMix64(seed: ~seed)
        limits.submissionWork = [2, 20, limits.submissionWork][other.next(below: 3)]
        limits.inlineWork = [10, 100, limits.inlineWork][other.next(below: 3)]
        servers = [1, 1, 1, 2, 3, 4][other.next(below: 6)]
        storeFaults = StoreFaults(&other)
        lag = [0, 0, 0, 0, 0, 0, 3, 12][other.next(below: 8)]
        isUnlucky = other.next(below: 4) == 0
        limits.connections = pick([6, 20_000])
        limits.lists = lists + pick([1, 20_000])
        self.limits = limits
        var retention = [.everything, Retention(commits: 0), Retention(commits: 4), Retention(age: 2_000)][
            random.next(below: 4)]
        retention.deleted = [Retention.week, Retention.week, 20_000, 0][random.next(below: 4)]
        self.retention = retention
        var weights: [Kind: Int] = [:]
        for kind in Kind.allCases {
            let isOn = random.next(below: 100) < (kind.isFault ? 45 : 80)
            if isOn || kind == .insert { weights[kind] = kind.usual * pick([1, 1, 3]) }
        }
        weights[.failOver] = lag > 0 ? 1 : nil
        let count = servers
        self.weights = weights.filter { $0.key.happens(to: count) }
    }

    func list(_ index: Int) -> (name: String, rules: Rules) {
        switch (index % lists + Int(seed % 3)) % 3 {
        case 0: ("open\(index % lists)", Rules())
        // A shared list is full more often: only there may a refusal cross a batch that accepts the same edit.
        case 1: ("short\(index % lists)", Rules(maximumCount: servers > 1 ? 3 : 7))
        default: ("cards\(index % lists)", Rules(maximumCount: 9, allowedKinds: [.card], hasDeck: true))
        }
    }
}

/// The faults of requests to a shared store, and of the hints between servers.
struct StoreFaults {
    /// The maximum milliseconds that a request takes to reach the store, and an answer to come back.
    let delay: Int
    /// The percentage of requests that are never executed.
    let lost: Int
    /// The percentage of requests that are executed but whose answers are lost.
    let unanswered: Int
    /// The percentage of requests that are executed after their server has stopped waiting.
    let late: Int
    /// The maximum delay of a hint in milliseconds.
    let hintDelay: Int
    /// The percentage of hints that are lost. The same percentage of hints arrives twice.
    let lostHints: Int

    /// Milliseconds that a server waits for an answer.
    static let timeout = 1_000

    init(_ random: inout SplitMix64) {
        func pick(_ choices: [Int]) -> Int { choices[random.next(below: choices.count)] }
        delay = pick([1, 10, 100])
        lost = pick([0, 0, 3, 20])
        unanswered = pick([0, 0, 3, 20])
        late = pick([0, 0, 3, 20])
        hintDelay = pick([1, 50, 5_000])
        lostHints = pick([0, 20, 100])
    }
}
