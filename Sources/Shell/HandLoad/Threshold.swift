import HandScript
import Histogram

/// What a test must reach to be passed, for example `ack.p99<20ms`, `commits>1000`, `errors<1`.
package struct Threshold: Equatable, Sendable, CustomStringConvertible {
    enum Metric: Equatable, Sendable {
        case acknowledged(Double)
        case seen(Double)
        /// A second.
        case commits
        case deliveries
        /// In all.
        case errors
    }

    package let description: String
    let metric: Metric
    let isUpperBound: Bool
    /// Nanoseconds, a rate or a number.
    let bound: Double

    /// What is wrong with the text.
    package struct ParseError: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ text: String) throws(ParseError) {
        guard let sign = text.firstIndex(where: { $0 == "<" || $0 == ">" }) else {
            throw ParseError(description: "'\(text)': expected '<' or '>', for example ack.p99<20ms")
        }
        let name = text[..<sign].trimmed
        let value = text[text.index(after: sign)...].trimmed
        guard let metric = Self.metric(name) else {
            throw ParseError(
                description: "'\(name)': expected ack.p50 (or p90, p99, p99.9, max), seen.p50 (…), commits, "
                    + "deliveries or errors")
        }
        self.metric = metric
        isUpperBound = text[sign] == "<"
        description = text
        switch metric {
        case .acknowledged, .seen:
            guard let milliseconds = Self.milliseconds(value) else {
                throw ParseError(description: "'\(value)': expected a time such as 500us, 20ms or 1.5s")
            }
            bound = milliseconds * 1e6
        case .commits, .deliveries, .errors:
            guard let number = Double(value) else {
                throw ParseError(description: "'\(value)': expected a number")
            }
            bound = number
        }
    }

    private static func metric(_ name: String) -> Metric? {
        switch name {
        case "commits": return .commits
        case "deliveries": return .deliveries
        case "errors": return .errors
        default: break
        }
        let parts = name.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let percentile = percentile(parts[1]) else { return nil }
        switch parts[0] {
        case "ack": return .acknowledged(percentile)
        case "seen": return .seen(percentile)
        default: return nil
        }
    }

    private static func percentile(_ text: Substring) -> Double? {
        if text == "max" { return 100 }
        guard text.first == "p", let value = Double(text.dropFirst()), (0...100).contains(value) else { return nil }
        return value
    }

    private static func milliseconds(_ text: String) -> Double? {
        for (unit, factor) in [("us", 0.001), ("µs", 0.001), ("ms", 1), ("s", 1_000)] where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }

    /// What was reached, in the unit of the bound; nil if nothing was measured.
    package func value(in result: LoadResult) -> Double? {
        let seconds = max(result.seconds, 0.001)
        func latency(_ histogram: Histogram<UInt64>, _ percentile: Double) -> Double? {
            histogram.totalCount > 0 ? Double(histogram.valueAtPercentile(percentile)) : nil
        }
        switch metric {
        case .acknowledged(let percentile): return latency(result.total.acknowledged, percentile)
        case .seen(let percentile): return latency(result.total.seen, percentile)
        case .commits: return Double(result.total.commits) / seconds
        case .deliveries: return Double(result.total.deliveries) / seconds
        case .errors: return Double(result.total.errors.values.reduce(0, +))
        }
    }

    /// What was never measured meets no bound.
    package func isPassed(by result: LoadResult) -> Bool {
        guard let value = value(in: result) else { return false }
        return isUpperBound ? value < bound : value > bound
    }

    /// A line that says whether it was met, and what was reached.
    func verdict(on result: LoadResult) -> String {
        (isPassed(by: result) ? "met" : "NOT MET") + "  \(description) (\(reached(in: result)))"
    }

    private func reached(in result: LoadResult) -> String {
        guard let value = value(in: result) else { return "nothing was measured" }
        switch metric {
        case .acknowledged, .seen: return LoadReport.time(nanoseconds: value)
        case .commits, .deliveries: return LoadReport.decimal(value, 1) + " a second"
        case .errors: return LoadReport.decimal(value, 0)
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
