extension Row {
    /// The server is stopped with SIGTERM and started again at once, while clients continue editing: the time from the
    /// signal until each of them is back and all its edits from that time are durable.
    static let restart = Row(
        name: "restart under 1,000 clients that edit: until all is resumed, ms", goal: .below(1_000)
    ) { bench in
        let outcomes = try (0..<bench.pairs).map { _ in try restart(bench) }
        return Outcome(
            ours: outcomes.map(\.all).median * 1_000,
            remark: "of which the server itself: \(Row.number(outcomes.map(\.server).median * 1_000)) ms")
    }

    private static func restart(_ bench: Bench) throws -> (all: Double, server: Double) {
        let server = try bench.freshServer()
        defer { server.stop() }
        let lists = (0..<100).map { "list-\($0)" }
        try bench.make(lists, on: server)
        let crowd = try Crowd(1_000, at: .tcp(host: "127.0.0.1", port: UInt16(server.port)), on: lists)
        defer { crowd.close() }
        crowd.edit()
        crowd.waitUntilSafe()
        let start = ContinuousClock.now
        server.terminate()
        crowd.waitUntilLost()
        crowd.edit()
        server.stop()
        let next = try bench.again(server)
        defer { next.stop() }
        let up = ContinuousClock.now
        crowd.waitUntilSafe()
        let end = ContinuousClock.now
        return ((end - start).seconds, (up - start).seconds)
    }
}
