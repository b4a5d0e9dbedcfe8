import HandFormats
import HandLoad
import Histogram

/// Results of load tests as JSON. Latencies are in microseconds.
enum LoadJSON {
    static func line(_ sample: LoadResult.Sample) -> JSONValue {
        .object(
            [
                member("second", Int(sample.at.rounded())), member("clients", sample.clients),
            ] + figures(sample.figures))
    }

    static func summary(_ result: LoadResult, _ bounds: [Threshold]) -> JSONValue {
        .object(
            [
                member("clients", result.clients), JSONValue.Member("seed", JSONValue(result.seed)),
                member("milliseconds", Int(result.seconds * 1_000)),
                member("connectMilliseconds", Int(result.connected * 1_000)),
                member("commitsPerSecond", Int(Double(result.total.commits) / max(result.seconds, 0.001))),
            ] + figures(result.total) + [
                JSONValue.Member("server", result.server.map(server) ?? .null),
                JSONValue.Member("converged", .bool(result.hasConverged)),
                JSONValue.Member("lists", .array(result.lists.map(list))),
                JSONValue.Member("problems", .array(result.problems.map { .string($0) })),
                JSONValue.Member(
                    "thresholds",
                    .array(bounds.map { ["bound": .string("\($0)"), "met": .bool($0.isPassed(by: result))] })),
            ])
    }

    private static func member(_ key: String, _ value: Int) -> JSONValue.Member {
        JSONValue.Member(key, JSONValue(value))
    }

    private static func server(_ server: ServerFigures) -> JSONValue {
        .object([
            member("cpuMilliseconds", Int(server.cpuSeconds * 1_000)), member("commits", server.commits),
            member("writes", server.writes), member("writeMilliseconds", Int(server.writeSeconds * 1_000)),
            member("deliveries", server.deliveries), member("bytesSent", server.bytesSent),
            member("readsBehind", server.readsBehind), member("residentBytes", server.residentBytes),
        ])
    }

    private static func list(_ list: LoadResult.Convergence) -> JSONValue {
        [
            "name": .string(list.list), "revision": JSONValue(list.revision),
            "items": JSONValue(list.items), "digest": .string(Hex.text(list.digest)),
            "agreed": JSONValue(list.agreed), "differences": .array(list.differences.map { .string($0) }),
        ]
    }

    private static func figures(_ figures: LoadFigures) -> [JSONValue.Member] {
        let errors = figures.errors.sorted { $0.key < $1.key }.map { member($0.key, $0.value) }
        return [
            member("edits", figures.edits), member("commits", figures.commits),
            member("deliveries", figures.deliveries), member("bytesSent", figures.bytesSent),
            member("bytesReceived", figures.bytesReceived),
            JSONValue.Member("acknowledged", latencies(figures.acknowledged)),
            JSONValue.Member("seen", latencies(figures.seen)), JSONValue.Member("errors", .object(errors)),
        ]
    }

    private static func latencies(_ histogram: Histogram<UInt64>) -> JSONValue {
        .object(
            [member("count", Int(histogram.totalCount))]
                + LoadReport.percentiles.map { name, percentile in
                    member(name, Int((histogram.nanoseconds(at: percentile) ?? 0) / 1_000))
                })
    }
}
