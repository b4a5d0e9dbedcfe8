import HandFormats
import Histogram

/// A condition that a test must meet, for example `ack.p99<20ms`, `commits>1000`, `errors<1`.
package struct Threshold: Equatable, Sendable, CustomStringConvertible {
    enum Metric: Equatable, Sendable {
        case acknowledged(Double)
        case seen(Double)
        /// Commits per second.
        case commits
        /// Deliveries per second.
        case deliveries
        /// Errors in total.
        case errors
    }

    package let description: String
    let metric: Metric
    let isUpperBound: Bool
    /// The bound: nanoseconds, a rate or a number.
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

    /// Returns the measured value in the unit of the bound, or nil if nothing was measured.
    package func value(in result: LoadResult) -> Double? {
        let seconds = max(result.seconds, 0.001)
        switch metric {
        case .acknowledged(let percentile): return result.total.acknowledged.nanoseconds(at: percentile)
        case .seen(let percentile): return result.total.seen.nanoseconds(at: percentile)
        case .commits: return Double(result.total.commits) / seconds
        case .deliveries: return Double(result.total.deliveries) / seconds
        case .errors: return Double(result.total.errorCount)
        }
    }

    /// Returns whether the bound was met. A bound on something that was never measured is not met.
    package func isPassed(by result: LoadResult) -> Bool {
        guard let value = value(in: result) else { return false }
        return isUpperBound ? value < bound : value > bound
    }

    /// Returns a line that says whether the bound was met, with the measured value.
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
