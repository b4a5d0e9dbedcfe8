import HandFormats
import Histogram

/// A condition that a test must meet, for example `ack.p99<20ms`, `commits>1000`, `errors<1`. In percent it is about
/// the change since an earlier test (`commits>-5%`), about the edits (`errors<0.1%`) or about the asked rate
/// (`rate>95%`).
package struct Threshold: Equatable, Sendable, CustomStringConvertible {
    enum Metric: Equatable, Sendable {
        case acknowledged(Double)
        case seen(Double)
        /// Commits per second.
        case commits
        /// Deliveries per second.
        case deliveries
        /// Errors in total, or as a part of the edits.
        case errors
        /// The part of the edits that were due at the asked rate which was made.
        case rate
    }

    package let description: String
    let metric: Metric
    let isUpperBound: Bool
    let isPercentage: Bool
    /// The bound: nanoseconds, a rate, a number or a percentage.
    let bound: Double

    /// The problem with a threshold's text.
    package struct ParseError: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ text: String) throws(ParseError) {
        guard let sign = text.firstIndex(where: { $0 == "<" || $0 == ">" }) else {
            throw ParseError(description: "'\(text)': expected '<' or '>', for example ack.p99<20ms")
        }
        let name = String(text[..<sign].trimmed { $0 == " " })
        let value = String(text[text.index(after: sign)...].trimmed { $0 == " " })
        guard let metric = Self.metric(name) else {
            throw ParseError(
                description: "'\(name)': expected ack.p50 (or p90, p99, p99.9, max), seen.p50 (…), commits, "
                    + "deliveries, errors or rate")
        }
        self.metric = metric
        isUpperBound = text[sign] == "<"
        description = text
        isPercentage = value.hasSuffix("%")
        switch metric {
        case _ where isPercentage:
            let isKnown = metric.percentile.map { known in LoadReport.percentiles.contains { $0.value == known } }
            guard let number = Double(value.dropLast().trimmed { $0 == " " }), isKnown != false else {
                throw ParseError(description: "'\(text)': in % expected a number, and p50, p90, p99, p99.9 or max")
            }
            bound = number
        case .rate: throw ParseError(description: "'\(value)': expected a percentage, for example rate>95%")
        case .acknowledged, .seen:
            guard let milliseconds = Self.milliseconds(value) else {
                throw ParseError(description: "'\(value)': expected a time such as 500us, 20ms or 1.5s, or 10%")
            }
            bound = milliseconds * 1e6
        case .commits, .deliveries, .errors:
            guard let number = Double(value) else {
                throw ParseError(description: "'\(value)': expected a number, or a percentage")
            }
            bound = number
        }
    }

    /// Whether an earlier test is needed to judge a result.
    package var needsComparison: Bool { isPercentage && metric != .errors && metric != .rate }

    /// Whether this says how much of the asked rate is enough.
    package var isRate: Bool { metric == .rate }

    private static func metric(_ name: String) -> Metric? {
        switch name {
        case "commits": return .commits
        case "deliveries": return .deliveries
        case "errors": return .errors
        case "rate": return .rate
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

    /// Returns the measured value in the unit of the bound, or nil if nothing was measured.
    ///
    /// - Parameter before: the result of an earlier test.
    package func value(in result: LoadResult, against before: LoadRecord?) -> Double? {
        let value = result.value(of: metric)
        guard isPercentage else { return value }
        switch metric {
        case .rate: return value
        case .errors: return value.map { $0 / Double(max(1, result.total.edits)) * 100 }
        case .acknowledged, .seen, .commits, .deliveries:
            guard let value, let earlier = before?.value(of: metric), earlier > 0 else { return nil }
            return (value / earlier - 1) * 100
        }
    }

    /// Returns whether the bound was met. A bound on something that was never measured is not met.
    package func isPassed(by result: LoadResult, against before: LoadRecord? = nil) -> Bool {
        guard let value = value(in: result, against: before) else { return false }
        return isUpperBound ? value < bound : value > bound
    }

    /// Returns a line that says whether the bound was met, with the measured value.
    func verdict(on result: LoadResult, against before: LoadRecord?) -> String {
        (isPassed(by: result, against: before) ? "met" : "NOT MET")
            + "  \(description) (\(reached(in: result, before)))"
    }

    private func reached(in result: LoadResult, _ before: LoadRecord?) -> String {
        guard let value = value(in: result, against: before) else { return "nothing was measured" }
        if needsComparison { return LoadReport.change(value) }
        switch metric {
        case .acknowledged, .seen: return LoadReport.time(nanoseconds: value)
        case .commits, .deliveries: return LoadReport.decimal(value, 1) + " a second"
        case .errors where isPercentage: return LoadReport.decimal(value, 2) + " %"
        case .errors: return LoadReport.decimal(value, 0)
        case .rate: return LoadReport.decimal(value, 1) + " %"
        }
    }
}

extension Threshold.Metric {
    var percentile: Double? {
        switch self {
        case .acknowledged(let value), .seen(let value): value
        case .commits, .deliveries, .errors, .rate: nil
        }
    }
}

extension LoadResult {
    /// Nanoseconds, a rate per second, a number, or a percentage of the asked rate; nil if nothing was measured.
    fileprivate func value(of metric: Threshold.Metric) -> Double? {
        switch metric {
        case .acknowledged(let percentile): total.acknowledged.nanoseconds(at: percentile)
        case .seen(let percentile): total.seen.nanoseconds(at: percentile)
        case .commits: Double(total.commits) / max(seconds, 0.001)
        case .deliveries: Double(total.deliveries) / max(seconds, 0.001)
        case .errors: Double(total.errorCount)
        case .rate: reachedRate
        }
    }
}
