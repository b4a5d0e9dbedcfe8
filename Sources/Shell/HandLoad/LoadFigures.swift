import Histogram

/// The counts of some clients over some time. Figures of different clients and times can be added.
package struct LoadFigures: Codable, Sendable {
    /// Edits made by clients. A client may send several in one submission.
    package var edits = 0
    package var commits = 0
    /// Commits received by clients, including their own.
    package var deliveries = 0
    package var bytesSent = 0
    package var bytesReceived = 0
    package var connects = 0
    /// Edits that were due, at the asked rate, and never made.
    package var missed = 0
    /// The nanoseconds from the time when an edit was made or due to its acknowledgement; for edits that were due but
    /// never made, to the end of the test.
    package var acknowledged = Self.histogram
    /// The nanoseconds from the time when an edit was made to its arrival at another client. Only a sample is measured.
    package var seen = Self.histogram
    package var errors: [String: Int] = [:]

    package init() {}

    var errorCount: Int { errors.values.reduce(0, +) }

    /// An empty histogram of times up to three minutes, with three significant digits.
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
        missed += other.missed
        acknowledged.add(other.acknowledged)
        seen.add(other.seen)
        errors.merge(other.errors, uniquingKeysWith: +)
    }
}

extension Histogram<UInt64> {
    /// Returns the value at a percentile, or nil if nothing was measured.
    package func nanoseconds(at percentile: Double) -> Double? {
        totalCount > 0 ? Double(valueAtPercentile(percentile)) : nil
    }
}
