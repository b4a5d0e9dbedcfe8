import HandSync
import Histogram

/// Metrics in Prometheus's text format (version 0.0.4).
struct Exposition {
    private(set) var text = ""

    /// A counter only grows; a gauge goes up and down.
    enum Kind: String {
        case counter, gauge
    }

    mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Double) {
        head(name, help, kind.rawValue)
        sample(name, value)
    }

    mutating func add(_ kind: Kind, _ name: String, _ help: String, _ value: Int) {
        add(kind, name, help, Double(value))
    }

    /// Adds a metric with one sample for each value of a label.
    mutating func add(_ kind: Kind, _ name: String, _ help: String, by label: String, _ values: [String: Int]) {
        head(name, help, kind.rawValue)
        for (value, number) in values.sorted(by: { $0.key < $1.key }) {
            sample("\(name){\(label)=\"\(value)\"}", Double(number))
        }
    }

    /// Adds a distribution of times, in seconds.
    mutating func add(_ name: String, _ help: String, _ latency: Latency) {
        head(name, help, "histogram")
        for bound in Latency.bounds {
            sample("\(name)_bucket{le=\"\(Self.number(bound))\"}", Double(latency.count(upTo: bound)))
        }
        sample("\(name)_bucket{le=\"+Inf\"}", Double(latency.count))
        sample("\(name)_sum", latency.seconds)
        sample("\(name)_count", Double(latency.count))
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func sample(_ name: String, _ value: Double) {
        text += "\(name) \(Self.number(value))\n"
    }

    private static func number(_ value: Double) -> String {
        value.rounded() == value && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }
}

package struct Latency {
    private var histogram = Histogram<UInt64>(
        lowestDiscernibleValue: 1_000, highestTrackableValue: longest, numberOfSignificantValueDigits: .two)
    /// The sum of all durations.
    package private(set) var seconds = 0.0

    private static let longest: UInt64 = 100_000_000_000
    /// The histogram's bounds, in seconds.
    static let bounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    package var count: Int { Int(histogram.totalCount) }

    mutating func record(nanoseconds: UInt64, times: Int = 1) {
        _ = histogram.record(min(nanoseconds, Self.longest), count: UInt64(times))
        seconds += Double(nanoseconds) / 1e9 * Double(times)
    }

    package var distribution: ServerReport.Distribution {
        .init(bounds: Self.bounds, counts: Self.bounds.map(count(upTo:)) + [count])
    }

    func count(upTo bound: Double) -> Int {
        Int(histogram.count(within: 0...UInt64(bound * 1e9)))
    }
}
