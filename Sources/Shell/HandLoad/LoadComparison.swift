import HandFormats

/// Two tests side by side: what changed, and whether it is noise.
///
/// A change is *noise* if the seconds of the two tests might come from one distribution: if chance alone makes them
/// differ as much in one of a hundred pairs of tests, or more often (`RankSum`). This says how the seconds vary
/// within a test. It cannot know what else was different, such as what else the machine did.
package struct LoadComparison: Sendable {
    struct Row: Sendable {
        let name: String
        let metric: Threshold.Metric
        let before: Double?
        let now: Double?
        /// How likely such a difference is if nothing has changed; nil if a test is too short to tell.
        let chance: Double?

        var change: Double? {
            guard let before, let now, before > 0 else { return nil }
            return (now / before - 1) * 100
        }

        var verdict: String {
            guard let chance else { return "too short" }
            return chance < LoadComparison.noise ? "changed" : "noise"
        }
    }

    /// From this probability on a change is noise.
    static let noise = 0.01

    package let before: LoadRecord
    let name: String
    let rows: [Row]
    /// What makes the tests different tests.
    let differences: [String]

    /// - Parameter name: the name of the earlier test's file.
    package init(_ before: LoadRecord, _ now: LoadRecord, name: String) {
        (self.before, self.name) = (before, name)
        differences = now.differences(from: before)
        let metrics: [(String, Threshold.Metric)] = [
            ("commits/s", .commits), ("deliveries/s", .deliveries), ("ack p50", .acknowledged(50)),
            ("ack p99", .acknowledged(99)), ("seen p50", .seen(50)), ("seen p99", .seen(99)),
        ]
        rows = metrics.map { name, metric in
            Row(
                name: name, metric: metric, before: before.value(of: metric), now: now.value(of: metric),
                chance: RankSum.chance(before.values(of: metric), now.values(of: metric)))
        }
    }

    package var lines: [String] {
        let pad = LoadReport.pad
        return ["compared with \(name)"] + differences.map { "            NOT THE SAME TEST: \($0)" }
            + [pad("", 12) + pad("before", 12) + pad("now", 12) + pad("change", 12)]
            + rows.map { row in
                let name = row.name + pad("", 12 - row.name.count)
                let change = row.change.map(LoadReport.change) ?? "–"
                return name + pad(text(row.before, row), 12) + pad(text(row.now, row), 12) + pad(change, 12)
                    + "  \(row.verdict)" + (row.chance.map { " (p \(Self.text($0)))" } ?? "")
            }
    }

    private func text(_ value: Double?, _ row: Row) -> String {
        guard let value else { return "–" }
        return row.metric.percentile == nil ? LoadReport.rate(value) : LoadReport.time(nanoseconds: value)
    }

    private static func text(_ chance: Double) -> String {
        chance < 0.001 ? "< 0.001" : "= \(LoadReport.decimal(chance, 3))"
    }

    /// The fields of the summary.
    var json: JSONValue {
        let rows = rows.map { row in
            JSONValue.Member(
                row.name,
                JSONValue(fields: [
                    "before": row.before.map(JSONValue.double), "now": row.now.map(JSONValue.double),
                    "percent": row.change.map(JSONValue.double), "p": row.chance.map(JSONValue.double),
                    "verdict": row.verdict,
                ]))
        }
        return .object(.init(["with": name, "differences": differences]) + rows)
    }
}
