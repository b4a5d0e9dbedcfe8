import HandCore
import HandSync
import HandWire

/// Everything about one simulated world that is fixed from its beginning. It follows from the seed.
///
/// Swarm testing (Groce and others, “Swarm testing”, ISSTA 2012): each world has some kinds of edits and faults switched
/// off, because what is rare among everything is common where little else happens.
package struct FaultSchedule: Sendable {
    package let seed: UInt64
    let clients: Int
    let lists: Int
    /// How many servers share the store; one has it for itself.
    package let servers: Int
    let storeFaults: StoreFaults
    /// Writes that the store's standby may be behind; 0 if it is never.
    let lag: Int
    let limits: Limits
    let retention: Retention
    /// Milliseconds of a connection.
    let latency: Int
    let jitter: Int
    /// Bytes that a connection holds.
    let capacity: Int
    /// The most milliseconds that a flush takes.
    let flush: Int
    let journalCompaction: Int
    /// The most milliseconds between two steps.
    let pause: Int
    /// How likely each kind of step is.
    let weights: [Kind: Int]

    /// The kinds of steps.
    enum Kind: Int, CaseIterable {
        case insert, delete, move, change, block, undo, redo, exact, look, ask, open, close
        case createList, deleteList, undeleteList, renameList, renameBack
        case cut, storm, vanish, stall, killClient, tearClient
        case killServer, stopServer, fullDisk, failFlush, slowDisk, jumpClock, stranger, garble, copyClient
        /// Only where there are several servers.
        case moveClient, cutOffServer
        /// Only where a standby may be behind.
        case failOver

        var isFault: Bool { rawValue >= Kind.cut.rawValue }

        /// Whether it may happen where so many servers share a store. Such a store flushes by itself; of two copies of a client at two
        /// servers, neither is told to stop.
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
        // Chosen apart, so that the seeds of before make the same worlds otherwise.
        var other = SplitMix64(seed: ~seed)
        limits.submissionWork = [2, 20, limits.submissionWork][other.next(below: 3)]
        limits.inlineWork = [10, 100, limits.inlineWork][other.next(below: 3)]
        servers = [1, 1, 1, 2, 3, 4][other.next(below: 6)]
        storeFaults = StoreFaults(&other)
        lag = [0, 0, 0, 0, 0, 0, 3, 12][other.next(below: 8)]
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

    /// The names of the lists, with what they accept.
    func list(_ index: Int) -> (name: String, rules: Rules) {
        switch (index % lists + Int(seed % 3)) % 3 {
        case 0: ("open\(index % lists)", Rules())
        case 1: ("short\(index % lists)", Rules(maximumCount: 7))
        default: ("cards\(index % lists)", Rules(maximumCount: 9, allowedKinds: [.card], hasDeck: true))
        }
    }
}

/// What befalls a server's requests to a store that others share, and the hints that others are given.
struct StoreFaults {
    /// The most milliseconds that a request takes to the store, and an answer back.
    let delay: Int
    /// Of 100 requests: so many are never executed.
    let lost: Int
    /// So many are executed, and their answers are lost.
    let unanswered: Int
    /// So many are executed after their server has given up waiting.
    let late: Int
    /// The most milliseconds that a hint takes.
    let hintDelay: Int
    /// Of 100 hints: so many get lost. As many come twice.
    let lostHints: Int

    /// Milliseconds that a server waits for an answer.
    static let patience = 1_000

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
