import EventLoop
import HTTP

/// A server's own figures: the difference between two readings, before and after the work.
package struct MeasuredServer: Codable, Sendable {
    package let cpuSeconds: Double
    package let commits: Int
    /// The number of transactions that wrote the commits.
    package let writes: Int
    /// The total time of these transactions.
    package let writeSeconds: Double
    package let deliveries: Int
    package let bytesSent: Int
    /// How often commits for a slow client were read from the store.
    package let readsBehind: Int
    /// The server's memory at the end.
    package let residentBytes: Int

    init(from before: [String: Double], to after: [String: Double]) {
        func grown(_ name: String) -> Double { max(0, (after[name] ?? 0) - (before[name] ?? 0)) }
        cpuSeconds = grown("process_cpu_seconds_total")
        commits = Int(grown("hand_commits_total"))
        writes = Int(grown("hand_writes_total"))
        writeSeconds = grown("hand_write_seconds_sum")
        deliveries = Int(grown("hand_deliveries_total"))
        bytesSent = Int(grown("hand_sent_bytes_total"))
        readsBehind = Int(grown("hand_reads_behind_total"))
        residentBytes = Int(after["process_resident_memory_bytes"] ?? 0)
    }
}

/// Reads a server's page of metrics.
enum Scrape {
    /// Passes the figures that have no labels to `done`, or the reason why there are none.
    static func figures(
        _ loop: Loop, at address: SocketAddress, _ done: @escaping (Result<[String: Double], LoadError>) -> Void
    ) {
        HTTPExchange(loop, at: .tcp(address), "/metrics") { result in
            done(
                result.mapError { LoadError(description: "the server's figures at \(address) cannot be read: \($0)") }
                    .flatMap { parsed($0, from: address) })
        }
    }

    private static func parsed(
        _ answer: HTTPExchange.Answer, from address: SocketAddress
    ) -> Result<[String: Double], LoadError> {
        guard answer.status == 200 else {
            return .failure(.init(description: "\(address) has no figures; is it the address given to --status?"))
        }
        var figures: [String: Double] = [:]
        for line in answer.body.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = Double(words[1]) { figures[String(words[0])] = value }
        }
        return .success(figures)
    }
}
