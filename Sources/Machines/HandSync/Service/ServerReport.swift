/// What a server is doing at a moment, for `hand top` and other programs of its operator.
public struct ServerReport: Codable, Sendable {
    public var version: String
    /// Milliseconds since 1970.
    public var time: UInt64
    public var startedAt: UInt64
    public var isDraining: Bool
    public var processorSeconds: Double
    public var residentBytes: Int
    public var figures: ServiceFigures
    public var load: ServiceLoad
    /// How long commits took to be durable, since the start.
    public var commitTimes: Distribution
    /// The lists with the most commits, and the connections that lag most; not all of them.
    public var lists: [ListReport]
    public var connections: [ConnectionReport]

    public init(
        version: String, time: UInt64, startedAt: UInt64, isDraining: Bool, processorSeconds: Double,
        residentBytes: Int,
        figures: ServiceFigures, load: ServiceLoad, commitTimes: Distribution
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

    /// How many times something took at most so long.
    public struct Distribution: Codable, Sendable {
        /// Seconds, rising.
        public var bounds: [Double]
        /// At most each bound, and last of all: all.
        public var counts: [Int]

        public init(bounds: [Double], counts: [Int]) {
            self.bounds = bounds
            self.counts = counts
        }
    }
}

extension ServerReport.Distribution {
    /// What came between an earlier report and this one.
    public func since(_ earlier: Self) -> Self {
        guard earlier.bounds == bounds else { return self }
        return Self(bounds: bounds, counts: zip(counts, earlier.counts).map { max(0, $0 - $1) })
    }

    /// The lowest bound that covers a share of all times; nil if there are no times, infinite if no bound covers it.
    public func bound(keptBy share: Double) -> Double? {
        guard let all = counts.last, all > 0 else { return nil }
        let needed = Double(all) * share
        return zip(bounds, counts).first { Double($1) >= needed }?.0 ?? .infinity
    }
}
