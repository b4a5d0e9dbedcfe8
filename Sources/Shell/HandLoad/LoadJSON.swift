import HandFormats
import Histogram

/// Results of load tests as JSON. Latencies are in microseconds.
package enum LoadJSON {
    package static func line(_ test: LoadTest) -> JSONValue {
        let plan = test.plan
        return JSONValue(fields: [
            "script": test.script, "address": "\(plan.server)", "lists": plan.script.names, "clients": plan.clients,
            "kind": plan.kind.rawValue, "web": plan.isWeb ? true : nil, "processes": test.processes,
            "rate": plan.rate.map(JSONValue.double), "seed": plan.seed,
        ])
    }

    package static func line(_ sample: LoadResult.Sample) -> JSONValue {
        .object(
            .init([
                "second": Int(sample.at.rounded()), "milliseconds": Int((sample.seconds * 1_000).rounded()),
                "clients": sample.clients,
            ]) + figures(sample.figures))
    }

    package static func summary(
        _ result: LoadResult, _ bounds: [Threshold], _ comparison: LoadComparison?
    ) -> JSONValue {
        let thresholds = bounds.map { bound in
            JSONValue(fields: ["bound": "\(bound)", "met": bound.isPassed(by: result, against: comparison?.before)])
        }
        return .object(
            .init([
                "clients": result.clients, "seed": result.seed, "milliseconds": Int(result.seconds * 1_000),
                "connectMilliseconds": Int(result.connected * 1_000),
                "commitsPerSecond": Int(Double(result.total.commits) / max(result.seconds, 0.001)),
                "rate": result.rate.map { JSONValue.double($0) },
                "rateReached": result.rate == nil ? nil : result.hasReachedRate,
            ]) + figures(result.total)
                + .init([
                    "server": JSONValue(orNull: result.server.map(server)), "converged": result.hasConverged,
                    "lists": result.lists.map(list), "problems": result.problems, "thresholds": thresholds,
                    "comparison": comparison?.json,
                ]))
    }

    private static func server(_ server: MeasuredServer) -> JSONValue {
        JSONValue(fields: [
            "cpuMilliseconds": Int(server.cpuSeconds * 1_000), "commits": server.commits, "writes": server.writes,
            "writeMilliseconds": Int(server.writeSeconds * 1_000), "deliveries": server.deliveries,
            "bytesSent": server.bytesSent, "readsBehind": server.readsBehind, "residentBytes": server.residentBytes,
        ])
    }

    private static func list(_ list: LoadResult.Convergence) -> JSONValue {
        JSONValue(fields: [
            "name": list.list, "revision": list.revision, "items": list.items, "digest": Hex.text(list.digest),
            "agreed": list.agreed, "differences": list.differences,
        ])
    }

    private static func figures(_ figures: LoadFigures) -> [JSONValue.Member] {
        let errors = figures.errors.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, JSONValue($0.value)) }
        return .init([
            "edits": figures.edits, "missed": figures.missed, "commits": figures.commits,
            "deliveries": figures.deliveries,
            "bytesSent": figures.bytesSent, "bytesReceived": figures.bytesReceived,
            "acknowledged": latencies(figures.acknowledged), "seen": latencies(figures.seen),
            "errors": JSONValue.object(errors),
        ])
    }

    private static func latencies(_ histogram: Histogram<UInt64>) -> JSONValue {
        .object(
            [JSONValue.Member("count", JSONValue(histogram.totalCount))]
                + LoadReport.percentiles.map { name, percentile in
                    .init(name, JSONValue(Int((histogram.nanoseconds(at: percentile) ?? 0) / 1_000)))
                })
    }
}
