import Foundation
import Histogram

/// A result as a page: tables and plots.
public enum LoadHTML {
    public static func page(_ result: LoadResult, title: String) -> String {
        Page(
            title: title,
            body: """
                <p class="\(result.hasConverged ? "good" : "bad")">\(result.hasConverged
                    ? "Every client ended with what the server has." : "Not every client ended with what the server has.")</p>
                <pre>\(Page.escaped(LoadReport(result).lines.joined(separator: "\n")))</pre>
                \(plots(result).map(\.svg).joined(separator: "\n"))
                """
        ).html
    }

    private static let colors = ["#1f6feb", "#d1582a", "#2a9d56"]

    private static func plots(_ result: LoadResult) -> [LinePlot] {
        func line(_ name: String, _ color: Int, _ value: (LoadFigures) -> Double) -> LinePlot.Line {
            LinePlot.Line(
                name: name, color: colors[color], points: result.samples.map { ($0.at, value($0.figures)) })
        }
        func latency(_ percentile: Double) -> (LoadFigures) -> Double {
            { figures in
                let histogram = figures.acknowledged
                return histogram.totalCount > 0 ? Double(histogram.valueAtPercentile(percentile)) / 1e6 : 0
            }
        }
        return [
            LinePlot(title: "Commits", unit: "a second", lines: [line("commits", 0) { Double($0.commits) }]),
            LinePlot(title: "Deliveries", unit: "a second", lines: [line("deliveries", 2) { Double($0.deliveries) }]),
            LinePlot(
                title: "Until acknowledged", unit: "ms",
                lines: [line("p50", 0, latency(50)), line("p99", 1, latency(99))]),
            distribution(result.total),
        ]
    }

    /// Latency against percentile; each mark to the right has a tenth of the rest.
    private static func distribution(_ total: LoadFigures) -> LinePlot {
        let nines: [(x: Double, name: String)] = [
            (0, "0"), (1, "90 %"), (2, "99 %"), (3, "99.9 %"), (4, "99.99 %"),
        ]
        func line(_ name: String, _ color: Int, _ histogram: Histogram<UInt64>) -> LinePlot.Line {
            let points =
                histogram.totalCount == 0
                ? []
                : stride(from: 0.0, through: 4, by: 0.1).map { nines in
                    (nines, Double(histogram.valueAtPercentile(100 - 100 * pow(0.1, nines))) / 1e6)
                }
            return LinePlot.Line(name: name, color: colors[color], points: points)
        }
        return LinePlot(
            title: "Latency by percentile", unit: "ms",
            lines: [line("acknowledged", 0, total.acknowledged), line("seen", 1, total.seen)], marks: nines)
    }
}
