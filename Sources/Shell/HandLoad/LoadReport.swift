import HandFormats
import Histogram

/// A result as text for people, which is cleaned where it is printed.
package struct LoadReport {
    private let result: LoadResult
    private let bounds: [Threshold]
    private let comparison: LoadComparison?

    package init(_ result: LoadResult, _ bounds: [Threshold], _ comparison: LoadComparison? = nil) {
        self.result = result
        self.bounds = bounds
        self.comparison = comparison
    }

    /// Returns the line for one second, while the test runs.
    package static func line(_ sample: LoadResult.Sample) -> String {
        let (figures, seconds) = (sample.figures, sample.seconds)
        let parts = [
            pad(decimal(sample.at, 0) + " s", 6), pad("\(sample.clients) clients", 15),
            pad(rate(figures.commits, seconds) + " commits/s", 18),
            pad(rate(figures.deliveries, seconds) + " deliveries/s", 21),
            pad("ack p50 " + time(figures.acknowledged, 50), 17), pad("p99 " + time(figures.acknowledged, 99), 13),
        ]
        return parts.joined(separator: " ") + (figures.errorCount > 0 ? "  \(figures.errorCount) errors" : "")
    }

    /// The lines for the whole test.
    package var lines: [String] {
        let total = result.total
        var lines = [
            "\(result.clients) clients connected in \(Self.decimal(result.connected, 2)) s, "
                + "worked \(Self.decimal(result.seconds, 1)) s; seed \(result.seed)",
            "commits     \(total.commits), \(Self.rate(total.commits, result.seconds)) a second"
                + (total.edits > total.commits ? " (\(total.edits) edits)" : ""),
            "deliveries  \(total.deliveries), \(Self.rate(total.deliveries, result.seconds)) a second",
            "bytes       \(Self.bytes(total.bytesSent)) sent, \(Self.bytes(total.bytesReceived)) received",
            "            " + Self.percentiles.map { Self.pad($0.name, 10) }.joined(),
            "acknowledged" + Self.latencies(total.acknowledged), "seen        " + Self.latencies(total.seen),
        ]
        if let rate = result.rate {
            let verdict = result.hasReachedRate ? "" : ": NOT REACHED"
            lines.insert(
                "rate        asked for \(Self.rate(rate)) edits a second, "
                    + "made \(Self.rate(total.edits, result.seconds))\(verdict)", at: 1)
        }
        if let server = result.server { lines.append(Self.line(server, over: result.seconds)) }
        for (error, count) in total.errors.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("error       \(count) × \(error)")
        }
        for problem in result.problems.prefix(5) { lines.append("            \(problem)") }
        for list in result.lists { lines += Self.lines(list) }
        return lines + (comparison?.lines ?? []) + bounds.map { $0.verdict(on: result, against: comparison?.before) }
    }

    private static func line(_ server: MeasuredServer, over seconds: Double) -> String {
        let share = seconds > 0 ? server.cpuSeconds / seconds * 100 : 0
        let write = server.writeSeconds / Double(max(1, server.writes)) * 1e9
        return "server      \(decimal(share, 0)) % of a core, \(bytes(server.residentBytes)) of memory, "
            + "\(server.commits) commits in \(server.writes) writes of \(time(nanoseconds: write)), "
            + "\(server.deliveries) deliveries, \(server.readsBehind) reads for slow clients"
    }

    private static func lines(_ list: LoadResult.Convergence) -> [String] {
        let state = "revision \(list.revision), \(list.items) items, digest \(Hex.text(list.digest))"
        guard list.isComplete else {
            return [
                "'\(list.list)' DID NOT CONVERGE: \(list.differences.count) of "
                    + "\(list.differences.count + list.agreed) clients differ from the server (\(state))"
            ] + list.differences.prefix(10).map { "            \($0)" }
        }
        return ["'\(list.list)' converged: \(list.agreed) clients have what the server has (\(state))"]
    }

    // MARK: Numbers

    package static let percentiles: [(name: String, value: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100),
    ]

    private static func latencies(_ histogram: Histogram<UInt64>) -> String {
        percentiles.map { pad(time(histogram, $0.value), 10) }.joined()
    }

    static func time(_ histogram: Histogram<UInt64>, _ percentile: Double) -> String {
        histogram.nanoseconds(at: percentile).map(time(nanoseconds:)) ?? "–"
    }

    static func time(nanoseconds: Double) -> String {
        if nanoseconds < 1e6 { return decimal(nanoseconds / 1e3, 0) + " µs" }
        if nanoseconds < 1e9 { return decimal(nanoseconds / 1e6, 2) + " ms" }
        return decimal(nanoseconds / 1e9, 2) + " s"
    }

    /// A change in percent.
    static func change(_ percent: Double) -> String { (percent < 0 ? "" : "+") + decimal(percent, 1) + " %" }

    static func rate(_ count: Int, _ seconds: Double) -> String {
        rate(Double(count) / max(seconds, 0.001))
    }

    static func rate(_ rate: Double) -> String { rate < 100 ? decimal(rate, 1) : String(Int(rate.rounded())) }

    private static func bytes(_ count: Int) -> String {
        switch count {
        case ..<10_000: "\(count) B"
        case ..<10_000_000: decimal(Double(count) / 1e3, 1) + " kB"
        case ..<10_000_000_000: decimal(Double(count) / 1e6, 1) + " MB"
        default: decimal(Double(count) / 1e9, 1) + " GB"
        }
    }

    static func decimal(_ value: Double, _ places: Int) -> String {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        let scaled = Int((value * factor).rounded())
        guard places > 0 else { return String(scaled) }
        let fraction = String(abs(scaled) % Int(factor))
        return (scaled < 0 ? "-" : "") + "\(abs(scaled) / Int(factor))."
            + String(repeating: "0", count: places - fraction.count) + fraction
    }

    static func pad(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
