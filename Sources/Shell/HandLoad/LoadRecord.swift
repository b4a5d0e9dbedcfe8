import HandFormats

/// A test as `hand load --json` prints it: what was tested, a line per second, and a summary.
package struct LoadRecord: Sendable {
    private let test: JSONValue
    private let seconds: [JSONValue]
    private let summary: JSONValue

    package init(_ test: LoadTest, _ result: LoadResult) {
        self.test = LoadJSON.line(test)
        seconds = result.samples.map(LoadJSON.line)
        summary = LoadJSON.summary(result, [], nil)
    }

    /// Reads what was printed; lines that `hand load` does not print are an error.
    package init(parsing text: String) throws(FormatError) {
        var (test, summary): (JSONValue?, JSONValue?) = (nil, nil)
        var seconds: [JSONValue] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let value = try JSONValue.parse(String(line))
            if value["script"] != nil {
                test = value
            } else if value["second"] != nil {
                seconds.append(value)
            } else if value["commitsPerSecond"] != nil {
                summary = value
            }
        }
        guard let test, let summary else {
            throw FormatError(place: "", expected: "the output of 'hand load --json'", found: "something else")
        }
        (self.test, self.seconds, self.summary) = (test, seconds, summary)
    }

    /// Returns a value of the whole test, as `Threshold` does; nil if nothing was measured.
    func value(of metric: Threshold.Metric) -> Double? { Self.value(of: metric, in: summary) }

    /// Returns the values of all whole seconds. The last second of a test is often shorter.
    func values(of metric: Threshold.Metric) -> [Double] {
        seconds.filter { Self.number($0["milliseconds"]) ?? 0 >= 900 }.compactMap { Self.value(of: metric, in: $0) }
    }

    private static func value(of metric: Threshold.Metric, in line: JSONValue) -> Double? {
        func rate(_ count: JSONValue?) -> Double? {
            guard let count = number(count), let time = number(line["milliseconds"]) else { return nil }
            return count / max(1, time) * 1_000
        }
        func latency(_ all: JSONValue?, _ percentile: Double) -> Double? {
            guard number(all?["count"]) ?? 0 > 0 else { return nil }
            let name = LoadReport.percentiles.first { $0.value == percentile }?.name
            return name.flatMap { number(all?[$0]) }.map { $0 * 1_000 }
        }
        switch metric {
        case .commits: return rate(line["commits"])
        case .deliveries: return rate(line["deliveries"])
        case .acknowledged(let percentile): return latency(line["acknowledged"], percentile)
        case .seen(let percentile): return latency(line["seen"], percentile)
        case .errors, .rate: return nil
        }
    }

    private static func number(_ value: JSONValue?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    /// What was tested otherwise than in an earlier test, except for the seed and the address.
    func differences(from earlier: LoadRecord) -> [String] {
        guard case .object(let now) = test, case .object(let before) = earlier.test else { return [] }
        let keys = now.map(\.key) + before.map(\.key).filter { test[$0] == nil }
        return keys.filter { !["seed", "address"].contains($0) && test[$0] != earlier.test[$0] }.map { key in
            "\(key) was \(earlier.test[key]?.line ?? "not given"), and is \(test[key]?.line ?? "not given")"
        }
    }
}
