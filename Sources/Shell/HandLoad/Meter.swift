import EventLoop
import Histogram

/// Where all clients of a process count. Confined to the loop's thread.
package final class Meter {
    /// Since the last time that they were taken.
    private(set) var figures = LoadFigures()
    /// When each author made the submission that it has in flight: what others see of it is measured from there.
    private var submissions: [UInt64: (sequence: UInt64, at: UInt64)] = [:]
    /// Of so many commits a client looks at one for when it was made, so that five to ten clients look at each.
    let stride: Int
    /// The last problem of each sort, in words.
    private(set) var problems: [String] = []
    private static let mostProblems = 20
    /// The highest revision of each list that a client has come to with an edit of its own.
    private var reached: [String: Int] = [:]

    package init(clients: Int) {
        stride = max(1, clients / 5)
    }

    /// The figures since the last call.
    package func take() -> LoadFigures {
        defer { figures = LoadFigures() }
        return figures
    }

    package func submitted(_ sequence: UInt64, by author: UInt64, at time: UInt64) {
        submissions[author] = (sequence, time)
    }

    func edited() { figures.edits += 1 }
    func connected() { figures.connects += 1 }
    func sent(bytes: Int) { figures.bytesSent += bytes }

    func received(bytes: Int, commits: Int) {
        figures.bytesReceived += bytes
        figures.deliveries += commits
    }

    /// An edit was acknowledged that was made, or due, at `time`.
    package func acknowledged(since time: UInt64, now: UInt64) {
        figures.commits += 1
        record(now - time, in: \.acknowledged)
    }

    /// An edit was due at `time` and never came to be made.
    func waited(since time: UInt64, now: UInt64) { record(now - time, in: \.acknowledged) }

    func reached(_ revision: Int, of list: String) {
        if revision > reached[list] ?? 0 { reached[list] = revision }
    }

    func newest(of list: String) -> Int { reached[list] ?? 0 }

    /// Whether a client is to say when a commit arrived.
    @inline(__always)
    func samples(revision: Int, client: Int) -> Bool { (revision &+ client) % stride == 0 }

    /// A commit of somebody else has come.
    package func saw(author: UInt64, sequence: UInt64, now: UInt64) {
        guard let made = submissions[author], made.sequence == sequence else { return }
        record(now - made.at, in: \.seen)
    }

    private func record(_ nanoseconds: UInt64, in histogram: WritableKeyPath<LoadFigures, LoadFigures.Latency>) {
        _ = figures[keyPath: histogram].record(min(nanoseconds, LoadFigures.longest))
    }

    /// Something went wrong; `detail` is kept for a few.
    package func failed(_ kind: String, _ detail: @autoclosure () -> String) {
        figures.errors[kind, default: 0] += 1
        if problems.count < Self.mostProblems { problems.append(detail()) }
    }
}

extension LoadFigures {
    typealias Latency = Histogram<UInt64>
}
