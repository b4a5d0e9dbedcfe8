import HandCore
import Histogram

/// Counts for all clients of a process. Confined to the loop's thread.
package final class Meter {
    /// The figures since the last `take()`.
    private(set) var figures = LoadFigures()
    /// When each author made its submission in flight. From this time on, the time until others see the submission is
    /// measured.
    private var submissions: [AuthorID: (sequence: SequenceNumber, at: UInt64)] = [:]
    /// Each client measures one in this many commits, so that five to ten clients measure each commit.
    let stride: Int
    /// The first problems, in words.
    private(set) var problems: [String] = []
    private static let maxProblems = 20
    /// The highest revision of each list that a client had when an edit of its own was answered.
    private var reached: [String: Int] = [:]

    package init(clients: Int) {
        stride = max(1, clients / 5)
    }

    /// Returns the figures since the last call, and resets them.
    package func take() -> LoadFigures { exchange(&figures, with: LoadFigures()) }

    package func submitted(_ sequence: SequenceNumber, by author: AuthorID, at time: UInt64) {
        submissions[author] = (sequence, time)
    }

    func edited() { figures.edits += 1 }
    func connected() { figures.connects += 1 }
    func sent(bytes: Int) { figures.bytesSent += bytes }

    func received(bytes: Int, commits: Int) {
        figures.bytesReceived += bytes
        figures.deliveries += commits
    }

    /// Counts the acknowledgement of an edit that was made or due at `time`.
    package func acknowledged(since time: UInt64, now: UInt64) {
        figures.commits += 1
        record(now - time, in: \.acknowledged)
    }

    /// Records an edit that was due at `time` and never made.
    func waited(since time: UInt64, now: UInt64) {
        figures.missed += 1
        record(now - time, in: \.acknowledged)
    }

    func reached(_ revision: Int, of list: String) {
        if revision > reached[list] ?? 0 { reached[list] = revision }
    }

    func newest(of list: String) -> Int { reached[list] ?? 0 }

    /// Returns whether a client measures the arrival of this commit.
    @inline(__always)
    func samples(revision: Int, client: Int) -> Bool { (revision &+ client) % stride == 0 }

    /// Records the arrival of another client's commit.
    package func saw(author: AuthorID, sequence: SequenceNumber, now: UInt64) {
        guard let made = submissions[author], made.sequence == sequence else { return }
        record(now - made.at, in: \.seen)
    }

    private func record(_ nanoseconds: UInt64, in histogram: WritableKeyPath<LoadFigures, Histogram<UInt64>>) {
        _ = figures[keyPath: histogram].record(min(nanoseconds, LoadFigures.longest))
    }

    /// Counts an error; `detail` is kept for the first few.
    package func failed(_ kind: String, _ detail: @autoclosure () -> String) {
        figures.errors[kind, default: 0] += 1
        if problems.count < Self.maxProblems { problems.append(detail()) }
    }
}
