import Histogram

/// What was counted in some time, by some clients. Two of them can be added, whoever counted them.
public struct LoadFigures: Codable, Sendable {
    /// Edits that clients made. A client may send several in one submission.
    public var edits = 0
    /// Submissions that the server has acknowledged.
    public var commits = 0
    /// Commits that clients received, their own among them.
    public var deliveries = 0
    public var bytesSent = 0
    public var bytesReceived = 0
    /// Connections that were welcomed.
    public var connects = 0
    /// Nanoseconds from making an edit, or from when it was due, to its acknowledgement; or to the end, of what was due and never made.
    public var acknowledged = Self.histogram
    /// Nanoseconds from making an edit to its arrival at somebody else, of a sample.
    public var seen = Self.histogram
    /// What went wrong, and how often.
    public var errors: [String: Int] = [:]

    public init() {}

    /// Up to three minutes, to three digits.
    static var histogram: Histogram<UInt64> {
        Histogram(
            lowestDiscernibleValue: 1_000, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
    }

    static let longest: UInt64 = 180_000_000_000

    public mutating func add(_ other: LoadFigures) {
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
