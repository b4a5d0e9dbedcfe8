/// What a server is doing at a moment, for `hand top` and other programs of its operator.
package struct ServerReport: Codable, Sendable {
    package var version: String
    /// Milliseconds since 1970.
    package var time: UInt64
    package var startedAt: UInt64
    package var isDraining: Bool
    package var processorSeconds: Double
    package var residentBytes: Int
    package var figures: ServerFigures
    package var load: ServerLoad
    /// How long commits took to be durable, since the start.
    package var commitTimes: Distribution
    /// The lists with the most commits, and the connections that lag most; not all of them.
    package var lists: [ListReport]
    package var connections: [ConnectionReport]

    package init(
        version: String, time: UInt64, startedAt: UInt64, isDraining: Bool, processorSeconds: Double,
        residentBytes: Int,
        figures: ServerFigures, load: ServerLoad, commitTimes: Distribution
    ) {
        self.version = version
        self.time = time
        self.startedAt = startedAt
        self.isDraining = isDraining
        self.processorSeconds = processorSeconds
        self.residentBytes = residentBytes
        self.figures = figures
        self.load = load
        self.commitTimes = commitTimes
        lists = []
        connections = []
    }

    /// The numbers of events that took no longer than each of several bounds.
    package struct Distribution: Codable, Sendable {
        /// Seconds, rising.
        package var bounds: [Double]
        /// The number of events within each bound; the last is the number of all.
        package var counts: [Int]

        package init(bounds: [Double], counts: [Int]) {
            self.bounds = bounds
            self.counts = counts
        }
    }
}

extension ServerReport.Distribution {
    /// Returns the events between an earlier report and this one.
    package func since(_ earlier: Self) -> Self {
        guard earlier.bounds == bounds else { return self }
        return Self(bounds: bounds, counts: zip(counts, earlier.counts).map { max(0, $0 - $1) })
    }

    /// Returns the lowest bound within which a share of all events lies; nil if there are no events, infinity if no
    /// bound is high enough.
    package func bound(keptBy share: Double) -> Double? {
        guard let all = counts.last, all > 0 else { return nil }
        let needed = Double(all) * share
        return zip(bounds, counts).first { Double($1) >= needed }?.0 ?? .infinity
    }
}
