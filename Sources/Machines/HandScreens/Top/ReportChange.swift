import HandSync

/// A server's report, and what has changed since the server's previous report.
struct ReportChange {
    let report: ServerReport
    private let previous: ServerReport?

    init(_ report: ServerReport, since previous: ServerReport?) {
        self.report = report
        // A restarted server counts from zero.
        self.previous = previous?.startedAt == report.startedAt ? previous : nil
    }

    /// The seconds between both reports; nil if there is no previous one.
    var seconds: Double? {
        guard let previous, report.time > previous.time else { return nil }
        return Double(report.time - previous.time) / 1_000
    }

    /// How fast a figure grows, per second; nil while unknown.
    func rate(_ figure: (ServerReport) -> Int) -> Double? {
        guard let previous, let seconds else { return nil }
        return Double(max(0, figure(report) - figure(previous))) / seconds
    }

    /// The load of a processor; `–` while unknown.
    var processor: String {
        guard let previous, let seconds else { return "–" }
        return Quantity.percent((report.processorSeconds - previous.processorSeconds) / seconds)
    }

    /// The time within which a share of the new commits became durable; `–` if there are none.
    func durable(_ share: Double) -> String {
        let times = previous.map { report.commitTimes.since($0.commitTimes) } ?? report.commitTimes
        return times.bound(keptBy: share).map { $0.isFinite ? "≤ " + Quantity.time(seconds: $0) : "> 10 s" } ?? "–"
    }
}
