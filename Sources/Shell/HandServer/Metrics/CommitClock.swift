import HandCore
import HandSync

/// Measures how long commits take from their numbering until they are durable, and how long transactions take.
package struct CommitClock {
    package private(set) var commits = Latency()
    package private(set) var writes = Latency()
    /// The commits that were numbered in each turn, and the time of their numbering.
    private var waiting: [(commits: Int, since: UInt64)] = []
    /// The commits that are being written.
    private var inFlight: [(commits: Int, since: UInt64)] = []
    private var writeStart: UInt64 = 0

    package init() {}

    package mutating func note(_ stage: CommitStage, at now: UInt64) {
        switch stage {
        case .numbered(let count): waiting.append((count, now))
        case .writing:
            // If the last write failed, its commits are no longer in flight.
            inFlight.clear()
            swap(&inFlight, &waiting)
            writeStart = now
        case .written:
            writes.record(nanoseconds: now - writeStart)
            for turn in inFlight { commits.record(nanoseconds: now - turn.since, times: turn.commits) }
            inFlight.clear()
        }
    }
}
