import Histogram

/// What was counted in some time, by some clients. Two of them can be added, whoever counted them.
package struct LoadFigures: Codable, Sendable {
    /// Edits that clients made. A client may send several in one submission.
    package var edits = 0
    /// Submissions that the server has acknowledged.
    package var commits = 0
    /// Commits that clients received, their own among them.
    package var deliveries = 0
    package var bytesSent = 0
    package var bytesReceived = 0
    /// Connections that were welcomed.
    package var connects = 0
    /// Nanoseconds from making an edit, or from when it was due, to its acknowledgement; or to the end, of what was due and never made.
    package var acknowledged = Self.histogram
    /// Nanoseconds from making an edit to its arrival at somebody else, of a sample.
    package var seen = Self.histogram
    /// What went wrong, and how often.
    package var errors: [String: Int] = [:]

    package init() {}

    /// Up to three minutes, to three digits.
    static var histogram: Histogram<UInt64> {
        Histogram(
            lowestDiscernibleValue: 1_000, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
    }

    static let longest: UInt64 = 180_000_000_000

    package mutating func add(_ other: LoadFigures) {
        edits += other.edits
        commits += other.commits
        deliveries += other.deliveries
        bytesSent += other.bytesSent
        bytesReceived += other.bytesReceived
        connects += other.connects
        acknowledged.add(other.acknowledged)
        seen.add(other.seen)
        errors.merge(other.errors, uniquingKeysWith: +)
    }
}
