import Foundation

extension Row {
    static func all(history: Int) -> [Row] {
        againstFanOut + Instructions.rows + durability + encryption + [restart] + longLists
            + [longHistory(history), merging, start] + servers
    }

    // MARK: Compared with the C server

    private static let againstFanOut = [
        fanOut("100 clients, all writing: commits/s", "burst", 100, .ratioAtLeast(0.80), \.commitsPerSecond),
        fanOut("1,000 clients, all writing: commits/s", "burst", 1_000, .ratioAtLeast(0.85), \.commitsPerSecond),
        fanOut("1,000 clients, one writing: commits/s", "readers", 1_000, .ratioAtLeast(0.90), \.commitsPerSecond),
        fanOut("1 client: round trip p50, µs", "burst", 1, .ratioAtMost(1.25), \.acknowledged.p50),
        Row(name: "10,000 idle connections: bytes each", goal: .below(900)) { bench in
            try bench.compare {
                try idleBytes(.fanOut, bench)
            } _: {
                try idleBytes(memory, bench)
            }
        },
    ]

    private static let memory = Bench.Kind.hand(durability: "memory")

    private static func fanOut(
        _ name: String, _ script: String, _ clients: Int, _ goal: Goal, _ figure: @escaping @Sendable (Load) -> Double
    ) -> Row {
        Row(name: name, goal: goal) { bench in
            try bench.compare {
                // The other server has no lists to create.
                try bench.withServer(.fanOut) {
                    figure(try bench.load(script, on: $0, clients: clients, "--light", "--as-is"))
                }
            } _: {
                try bench.withServer(memory) { figure(try bench.load(script, on: $0, clients: clients, "--light")) }
            }
        }
    }

    /// Returns the bytes that each of many connections following a list costs a server, beyond the cost of ten.
    private static func idleBytes(_ kind: Bench.Kind, _ bench: Bench) throws -> Double {
        let clients = 10_000
        let script = try bench.write("loop\n  pause 1m\nend\n", to: "idle")
        return try bench.withServer(kind) { server in
            var options = ["--light"]
            if !kind.hasLists { options.append("--as-is") }
            _ = try bench.startLoad(script, on: server, clients: 10, options + ["--duration", "1s"]).finish()
            let before = server.residentBytes
            let load = try bench.startLoad(script, on: server, clients: clients, options + ["--duration", "6s"])
            // The first second is reported when all are connected. Two more pass until the server has given back the
            // memory that their hellos have taken.
            var line = load.nextLine()
            while let other = line, !other.contains("\"second\":3,") { line = load.nextLine() }
            guard line != nil else { throw Problem("the idle clients could not connect") }
            let after = server.residentBytes
            _ = load.finish()
            return (after - before) / Double(clients)
        }
    }

    // MARK: Durability and slow readers

    private static let durability = [
        Row(name: "1,000 writing, fsync beside memory: commits/s", goal: .ratioAtLeast(0.5)) { bench in
            func run(_ durability: String) throws -> Double {
                try bench.withServer(.hand(durability: durability)) {
                    try bench.load("burst", on: $0, clients: 1_000, "--light").commitsPerSecond
                }
            }
            return try bench.compare {
                try run("memory")
            } _: {
                try run("fsync")
            }
        },
        Row(name: "1 writing, fsync: ack p50 beside one fdatasync, µs", goal: .ratioAtMost(2.5)) { bench in
            try bench.compare {
                Machine.flushMicroseconds(in: bench.folder)
            } _: {
                try bench.withServer(.hand(durability: "fsync")) {
                    try bench.load("burst", on: $0, clients: 1, "--light").acknowledged.p50
                }
            }
        },
        Row(name: "a reader stops for a minute: others' ack p99, µs", goal: .ratioAtMost(1.25), measure: stall),
    ]

    /// 99 clients write as fast as they can while one reads nothing for a minute; compared with the same without the
    /// one.
    private static func stall(_ bench: Bench) throws -> Outcome {
        func run(_ first: String) throws -> (p99: Double, growth: Double) {
            let script = try bench.write(
                """
                items 1000
                role first 1
                  \(first)
                role writer rest
                  loop
                    move random to random
                  end
                """, to: "stall")
            return try bench.withServer(.hand(durability: "os")) { server in
                let child = try bench.startLoad(script, on: server, clients: 100, ["--light", "--duration", "75s"])
                var resident: [Double] = []
                var lines: [String] = []
                while let line = child.nextLine() {
                    lines.append(line)
                    resident.append(server.residentBytes)
                }
                let load = try Load(lines: lines)
                guard load.converged else { throw Problem("the reader that stopped did not catch up") }
                // The window has filled by this time.
                return (load.acknowledged.p99, (resident.max() ?? 0) - resident[min(15, resident.count - 1)])
            }
        }
        let plain = try run("pause 1m")
        let stalled = try run("stall 1m")
        let growth = Int(stalled.growth / 1_048_576)
        return Outcome(
            base: plain.p99, ours: stalled.p99,
            remark:
                "all converged; memory grew by \(growth) MiB from second 15 on, \(Int(plain.growth / 1_048_576)) without"
        )
    }

    // MARK: Starting

    private static let start = Row(name: "`hand ls` of a small list, from start to first output, ms", goal: .below(50))
    { bench in
        try bench.withServer(memory) { server in
            let url = "hand://127.0.0.1:\(server.port)/small"
            _ = try Child([bench.program("hand"), "create", "--url", url, "small"], core: 1).finish()
            _ = try Child([bench.program("hand"), "add", "--url", url, "milk", "bread"], core: 1).finish()
            return Outcome(
                ours: try (0..<max(10, bench.pairs)).map { _ in
                    let start = ContinuousClock.now
                    let child = try Child([bench.program("hand"), "ls", "--url", url], core: 1)
                    defer { child.stop() }
                    guard child.nextLine() != nil else { throw Problem("the list is not shown") }
                    return (ContinuousClock.now - start).seconds * 1_000
                }.median)
        }
    }
}
