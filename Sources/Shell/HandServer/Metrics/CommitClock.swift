import HandCore

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

    /// Commits were numbered. Times are in nanoseconds.
    package mutating func numbered(_ commits: Int, at now: UInt64) { waiting.append((commits, now)) }

    /// All numbered commits are handed over to the store.
    package mutating func writing(at now: UInt64) {
        // If the last write failed, its commits are no longer in flight.
        inFlight.clear()
        swap(&inFlight, &waiting)
        writeStart = now
    }

    /// The commits that were handed over are durable.
    package mutating func written(at now: UInt64) {
        writes.record(nanoseconds: now - writeStart)
        for turn in inFlight { commits.record(nanoseconds: now - turn.since, times: turn.commits) }
        inFlight.clear()
    }
}
