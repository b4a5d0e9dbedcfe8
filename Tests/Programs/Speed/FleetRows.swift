import Foundation
import HandCore
import HandFormats
import PostgresServer

/// Several servers on one PostgreSQL. The remarks contain commits/s, latencies p50/p99 in ms, and the idle share of the
/// processor.
extension Row {
    static let servers: [Row] = PostgresServer.isThere ? all : []

    private static let all = [
        Row(name: "servers: one on PostgreSQL beside SQLite, 100 writing", goal: .ratioAtLeast(0.5)) { bench in
            var found: [FleetLoad] = []
            var outcome = try bench.compare {
                try bench.withServer(.hand(durability: "fsync")) {
                    try bench.load("burst", on: $0, clients: 100, "--light").commitsPerSecond
                }
            } _: {
                try bench.withFleet(1) { found.append(try bench.load("burst", on: $0, clients: 100)) }
                return found.last?.load.commitsPerSecond ?? 0
            }
            outcome.remark =
                median(found).text
                + "; one flush \(number(Machine.flushMicroseconds(in: bench.folder))) µs"
            return outcome
        },
        scaling("one list, 100 writing", "burst", 100, .ratioAtLeast(0.6)),
        scaling("one list, 1,000 writing", "burst", 1_000, .ratioAtLeast(0.6)),
        scaling("100 lists, 100 writing", "lists 100\nitems 1000\n\(writing)", 100, .ratioAtLeast(0.6)),
        // One machine cannot accept all of them at once within the time that a client waits.
        scaling("10,000 lists, 100 of them busy", many, 10_000, .ratioAtLeast(0.6), "--ramp", "30s"),
        scaling("one list, one writing, 1,000 reading", "readers", 1_001, .ratioAtLeast(0.6)),
        scaling("one list, one writing, 4,000 reading", "readers", 4_001, .ratioAtLeast(0.6)),
        Row(name: "servers: an edit is seen at others, beside its ack, p50 ms", goal: .addsAtMost(3)) { bench in
            // At the rate at which people edit, not at the servers' maximum.
            let found = try bench.withFleet(4) { try bench.load("burst", on: $0, clients: 40, ["--rate", "200"]) }
            return Outcome(
                base: found.load.acknowledged.p50 / 1_000, ours: found.load.seen.p50 / 1_000, remark: found.text)
        },
        Row(name: "servers: one of 3 is killed, until all edits are safe, ms", goal: .below(1_000)) { bench in
            try untilSafe(bench) { $0.servers[0].kill() }
        },
        Row(name: "servers: the database is killed, until all edits are safe, ms", goal: .below(2_000)) { bench in
            try untilSafe(bench, isFollowed: true) { try $0.failOver() }
        },
    ]

    /// The script of `burst`.
    private static let writing = """
        loop
          choose
            1 add "item {client}/{iteration}" at random
            1 delete random
            1 move random to random
          end
        end
        """

    /// One of a hundred clients edits, each on its own list.
    private static let many = """
        lists 10000
        items 20
        role writer 100
        \(writing)
        role reader rest
          loop
            pause 1m
          end
        """

    /// Compares 2 and 4 servers with one.
    private static func scaling(
        _ name: String, _ script: String, _ clients: Int, _ goal: Goal, _ options: String...
    ) -> Row {
        Row(name: "servers: \(name), 4 beside 1: commits/s", goal: goal) { bench in
            let script = script.contains("\n") ? try bench.write(script, to: "script") : script
            var found: [Int: [FleetLoad]] = [:]
            for _ in 0..<bench.pairs {
                for count in [1, 2, 4] {
                    let load = try bench.withFleet(count) { try bench.load(script, on: $0, clients: clients, options) }
                    found[count, default: []].append(load)
                }
            }
            let medians = found.mapValues(median)
            return Outcome(
                base: medians[1]?.load.commitsPerSecond, ours: medians[4]?.load.commitsPerSecond ?? 0,
                remark: [1, 2, 4].map { "\($0): \(medians[$0]?.text ?? "")" }.joined(separator: "; "))
        }
    }

    private static func median(_ found: [FleetLoad]) -> FleetLoad {
        found.sorted { $0.load.commitsPerSecond < $1.load.commitsPerSecond }[found.count / 2]
    }

    /// Measures from a loss until all edits that people make at that moment are durable.
    private static func untilSafe(
        _ bench: Bench, isFollowed: Bool = false, _ lose: (Fleet) throws -> Void
    ) throws -> Outcome {
        let times = try (0..<bench.pairs).map { _ in
            try bench.withFleet(3, isFollowed: isFollowed) { fleet in
                let lists = (0..<12).map { "list-\($0)" }
                try bench.make(lists, on: fleet.servers[0])
                let crowd = try Crowd(120, at: try HandAddress(fleet.url).server, on: lists)
                defer { crowd.close() }
                crowd.edit()
                crowd.waitUntilSafe()
                let start = ContinuousClock.now
                try lose(fleet)
                crowd.edit()
                crowd.waitUntilSafe()
                return (ContinuousClock.now - start).seconds * 1_000
            }
        }
        return Outcome(ours: times.median, remark: "the longest of \(times.count): \(number(times.max() ?? 0))")
    }
}
