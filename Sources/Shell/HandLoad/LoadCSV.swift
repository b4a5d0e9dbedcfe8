import Histogram

package enum LoadCSV {
    /// Returns one line per second, with times in microseconds.
    package static func text(_ result: LoadResult) -> String {
        let percentiles = LoadReport.percentiles
        var columns = ["second", "clients", "edits", "commits", "deliveries", "bytes_sent", "bytes_received", "errors"]
        columns += percentiles.map { "ack_\($0.name)_us" } + percentiles.map { "seen_\($0.name)_us" }
        var text = columns.joined(separator: ",") + "\n"
        for sample in result.samples {
            let figures = sample.figures
            var cells = [
                LoadReport.decimal(sample.at, 3), "\(sample.clients)", "\(figures.edits)", "\(figures.commits)",
                "\(figures.deliveries)", "\(figures.bytesSent)", "\(figures.bytesReceived)",
                "\(figures.errorCount)",
            ]
            for histogram in [figures.acknowledged, figures.seen] {
                cells += percentiles.map { percentile in
                    histogram.nanoseconds(at: percentile.value).map { "\(Int($0 / 1_000))" } ?? ""
                }
            }
            text += cells.joined(separator: ",") + "\n"
        }
        return text
    }

    /// Returns the distribution of latencies in milliseconds, in the format of HdrHistogram's plotter.
    package static func distribution(_ result: LoadResult) -> String {
        var text = ""
        for (name, histogram) in [("acknowledged", result.total.acknowledged), ("seen", result.total.seen)] {
            text += "#[\(name)]\n"
            histogram.outputPercentileDistribution(to: &text, outputValueUnitScalingRatio: 1e6)
        }
        return text
    }
}
