import Foundation
import HandCore
import HandSync
import HandWire

extension Row {
    static let million = 1_000_000

    static let longLists = [
        Row(name: "1,000,000 items: join to a usable list, ms", goal: .below(400)) { bench in
            try withLists(bench) { server in
                let idle = try bench.write("loop\n  pause 1m\nend\n", to: "idle")
                _ = try join(idle, bench, server)
                return Outcome(ours: try (0..<bench.pairs).map { _ in try join(idle, bench, server) }.median)
            }
        },
        Row(
            name: "the same: ack p99 while others join, ms", goal: .addsAtMost(5), measure: joinWhileEditing),
        Row(name: "the same: server memory, bytes an item", goal: .below(120)) { bench in
            let idle = try bench.write("loop\n  pause 1m\nend\n", to: "idle")
            func resident(_ list: String) throws -> Double {
                try withLists(bench) { server in
                    _ = try bench.load(idle, on: server, clients: 1, "--as-is", "-l", list, "--duration", "1s")
                    return server.residentBytes
                }
            }
            return Outcome(ours: (try resident("million") - resident("thousand")) / Double(million))
        },
        Row(name: "the same: commits/s of 100 clients, beside 1,000 items", goal: .ratioAtLeast(0.8)) { bench in
            let script = try bench.longListScript()
            func run(_ list: String) throws -> Double {
                try withLists(bench) { server in
                    try bench.load(script, on: server, clients: 100, "--light", "--as-is", "-l", list).commitsPerSecond
                }
            }
            return try bench.compare {
                try run("thousand")
            } _: {
                try run("million")
            }
        },
    ]

    /// Runs `body` with a server that has a list of 1,000,000 items and one of 1,000. The store is made once.
    static func withLists<Result>(_ bench: Bench, _ body: (Server) throws -> Result) throws -> Result {
        let data = bench.folder + "/lists"
        if !FileManager.default.fileExists(atPath: data) {
            try Stores.fill(data, list: "million", items: million)
            try Stores.fill(data, list: "thousand", items: 1_000)
        }
        return try bench.withServer(.hand(durability: "os", data: data), body)
    }

    private static func join(_ idle: String, _ bench: Bench, _ server: Server) throws -> Double {
        try bench.load(idle, on: server, clients: 1, "--as-is", "-l", "million", "--duration", "100ms")
            .connectMilliseconds
    }

    /// Ten people edit with pauses while others join, one after the other; compared with the same without others. The
    /// joining client has a lower priority than the measuring one, which uses the same core. In memory, because the
    /// disk has pauses of its own.
    private static func joinWhileEditing(_ bench: Bench) throws -> Outcome {
        let idle = try bench.write("list million\nitems \(million)\nloop\n  pause 1m\nend\n", to: "idle")
        let edits = try bench.write(
            "list million\nloop\n  move random to random\n  pause 20ms\nend\n", to: "edits")
        return try bench.withServer(.hand(durability: "memory")) { server in
            _ = try bench.load(idle, on: server, clients: 1, "--light", "--duration", "100ms")
            func p99(joining: Bool) throws -> Double {
                let child = try bench.startLoad(
                    edits, on: server, clients: 10, ["--light", "--as-is", "--duration", "\(bench.seconds)s"])
                // They are working when the first second is reported.
                _ = child.nextLine()
                let start = ContinuousClock.now
                while joining, (ContinuousClock.now - start).seconds < Double(bench.seconds) - 2 {
                    let options = ["--light", "--as-is", "--duration", "100ms"]
                    _ = try bench.startLoad(idle, on: server, clients: 1, options, niceness: 19).finish()
                }
                return try Load(lines: child.finish()).acknowledged.p99 / 1_000
            }
            return try bench.compare {
                try p99(joining: false)
            } _: {
                try p99(joining: true)
            }
        }
    }

    // MARK: Long histories

    static func longHistory(_ commits: Int) -> Row {
        let words = commits >= 1_000_000 ? "\(commits / 1_000_000),000,000" : "\(commits)"
        return Row(name: "history of \(words) commits: start to a list that is read, s", goal: .below(1)) { bench in
            let data = bench.folder + "/history"
            try Stores.remember(data, list: "long", commits: commits)
            let idle = try bench.write("loop\n  pause 1m\nend\n", to: "idle")
            var (times, resident): ([Double], [Double]) = ([], [])
            for _ in 0..<bench.pairs {
                try bench.withServer(.hand(durability: "fsync", data: data)) { server in
                    let load = try bench.load(
                        idle, on: server, clients: 1, "--as-is", "-l", "long", "--duration", "100ms")
                    times.append(server.startSeconds + load.connectMilliseconds / 1_000)
                    resident.append(server.residentBytes)
                }
            }
            return Outcome(ours: times.median, remark: "\(Int(resident.median / 1_048_576)) MiB of memory")
        }
    }
}
