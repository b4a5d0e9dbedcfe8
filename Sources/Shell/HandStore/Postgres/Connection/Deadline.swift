/// The time by which an operation must end.
package struct Deadline: Sendable {
    private let end: ContinuousClock.Instant

    package init(in time: Duration) {
        end = ContinuousClock.now + time
    }

    private init(end: ContinuousClock.Instant) {
        self.end = end
    }

    package var left: Duration { end - .now }
    package var hasPassed: Bool { left <= .zero }

    /// The remaining milliseconds, rounded up; at most a day.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = min(max(.zero, left), .seconds(86_400)).components
        return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// Returns the earlier of two deadlines: this one, and `time` from now.
    package func within(_ time: Duration) -> Deadline {
        Deadline(end: min(end, .now + time))
    }
}
