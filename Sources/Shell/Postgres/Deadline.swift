/// The end of somebody's patience.
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

    /// Milliseconds that are left, rounded up; a day at most.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = min(max(.zero, left), .seconds(86_400)).components
        return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// This, or earlier.
    package func within(_ time: Duration) -> Deadline {
        Deadline(end: min(end, .now + time))
    }
}
