import Glibc
import HandFormats
import Histogram

/// What readers of a result need to know to understand or repeat the test.
package struct LoadOccasion: Sendable {
    /// The command as it was typed, without secrets.
    package let command: String
    /// The script's whole text.
    package let script: String
    package let version: String
    package let date: String

    package init(command: String, script: String, version: String, date: String) {
        self.command = command
        self.script = script
        self.version = version
        self.date = date
    }
}

/// A result as an HTML page with plots.
package enum LoadHTML {
    package static func page(
        _ result: LoadResult, _ bounds: [Threshold], _ comparison: LoadComparison? = nil, of occasion: LoadOccasion,
        title: String
    ) -> String {
        let sound =
            result.isSound
            ? "Every client ended with what the server has."
            : result.hasConverged
                ? "Every client ended with what the server has, but some had diverged from it before."
                : "Not every client ended with what the server has."
        let verdicts = bounds.map { bound in
            let before = comparison?.before
            return verdict(bound.verdict(on: result, against: before), bound.isPassed(by: result, against: before))
        }
        let facts = [
            ("Command", occasion.command), ("Version", occasion.version), ("Date", occasion.date),
            ("Seed", "\(result.seed)"),
        ]
        return Page.html(
            title: title,
            body: """
                \(([verdict(sound, result.isSound)] + verdicts).joined(separator: "\n"))
                <dl>
                \(facts.map { "<dt>\($0.0)</dt><dd>\(Page.escaped($0.1))</dd>" }.joined(separator: "\n"))
                </dl>
                <pre>\(Page.escaped(Printable(lines: LoadReport(result, [], comparison).lines.joined(separator: "\n")).text))</pre>
                \(plots(result).map(\.svg).joined(separator: "\n"))
                <h2>Script</h2>
                <pre>\(Page.escaped(occasion.script))</pre>
                """)
    }

    private static func verdict(_ text: String, _ isGood: Bool) -> String {
        "<p class=\"\(isGood ? "good" : "bad")\">\(Page.escaped(text))</p>"
    }

    private static let colors = ["#1f6feb", "#d1582a", "#2a9d56"]

    private static func plots(_ result: LoadResult) -> [LinePlot] {
        func rate(_ name: String, _ color: Int, _ count: (LoadFigures) -> Int) -> LinePlot.Line {
            LinePlot.Line(
                name: name, color: colors[color],
                points: result.samples.map { ($0.at, Double(count($0.figures)) / max($0.seconds, 0.001)) })
        }
        // A second without answers has no latency, rather than a low one.
        func latency(_ name: String, _ color: Int, _ percentile: Double) -> LinePlot.Line {
            LinePlot.Line(
                name: name, color: colors[color],
                points: result.samples.compactMap { sample in
                    sample.figures.acknowledged.nanoseconds(at: percentile).map { (sample.at, $0 / 1e6) }
                })
        }
        let time = "seconds since the work began"
        return [
            LinePlot(title: "Commits", unit: "a second", across: time, lines: [rate("commits", 0, \.commits)]),
            LinePlot(title: "Deliveries", unit: "a second", across: time, lines: [rate("deliveries", 2, \.deliveries)]),
            LinePlot(
                title: "Until acknowledged", unit: "ms", across: time,
                lines: [latency("p50", 0, 50), latency("p99", 1, 99)]),
            distribution(result.total),
        ]
    }

    /// Plots latency by percentile. The scale is logarithmic: each mark has a tenth of the previous mark's share of
    /// edits above it.
    private static func distribution(_ total: LoadFigures) -> LinePlot {
        let nines: [(x: Double, name: String)] = [
            (0, "0"), (1, "90 %"), (2, "99 %"), (3, "99.9 %"), (4, "99.99 %"),
        ]
        func line(_ name: String, _ color: Int, _ histogram: Histogram<UInt64>) -> LinePlot.Line {
            LinePlot.Line(
                name: name, color: colors[color],
                points: stride(from: 0.0, through: 4, by: 0.1).compactMap { nines in
                    histogram.nanoseconds(at: 100 - 100 * pow(0.1, nines)).map { (nines, $0 / 1e6) }
                })
        }
        return LinePlot(
            title: "Latency by percentile", unit: "ms", across: "percentile: share of edits that took no longer",
            lines: [line("acknowledged", 0, total.acknowledged), line("seen", 1, total.seen)], marks: nines)
    }
}
