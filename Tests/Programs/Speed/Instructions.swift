import EventLoop
import Foundation
import HandServer
import HandStore
import HandSync
import Logging

/// The processor's instructions for one commit, counted by Callgrind: the same however busy the machine is.
enum Instructions {
    /// The rows that compare servers with the C server. "Other" is the C server's count.
    static let rows = [
        row("1 client", clients: 1, below: 9_000), row("10 clients, all writing", clients: 10, below: 12_000),
        row("100 clients, all writing", clients: 100, below: 12_000),
        Row(name: "instructions, 1 client, durable: a commit", goal: .below(50_000)) { bench in
            let server = [bench.program("hand-speed"), "--store", bench.folder + "/counted-store", "--serve"]
            let ours = try perCommit(server, bench, clients: 1, writers: 1, edits: (500, 1_500))
            return Row.Outcome(base: nil, ours: ours)
        },
        Row(name: "instructions, 1,000 clients, one writing: a delivery", goal: .below(700)) { bench in
            try outcome(bench, clients: 1_000, writers: 1, edits: (10, 40), per: 1_000)
        },
    ]

    private static func row(_ name: String, clients: Int, below goal: Double) -> Row {
        Row(name: "instructions, \(name): a commit", goal: .below(goal)) { bench in
            try outcome(bench, clients: clients, writers: clients, edits: (2_000 / clients, 8_000 / clients), per: 1)
        }
    }

    private static func outcome(
        _ bench: Bench, clients: Int, writers: Int, edits: (few: Int, many: Int), per units: Int
    ) throws -> Row.Outcome {
        let fanOut = try perCommit(
            [bench.program("hand-fanout")], bench, clients: clients, writers: writers, edits: edits, asIs: true)
        let ours = try perCommit(
            [bench.program("hand-speed"), "--serve"], bench, clients: clients, writers: writers, edits: edits)
        return Row.Outcome(base: fanOut / Double(units), ours: ours / Double(units))
    }

    private static func perCommit(
        _ server: [String], _ bench: Bench, clients: Int, writers: Int, edits: (few: Int, many: Int), asIs: Bool = false
    ) throws -> Double {
        // Both runs include the cost of connecting.
        let counts = try [edits.few, edits.many].map { edits in
            try count(server, bench, clients: clients, writers: writers, edits: edits, asIs: asIs)
        }
        return (counts[1] - counts[0]) / Double((edits.many - edits.few) * writers)
    }

    /// Returns the instructions of a server from its start to its end, in user mode.
    private static func count(
        _ server: [String], _ bench: Bench, clients: Int, writers: Int, edits: Int, asIs: Bool
    ) throws -> Double {
        let (program, result) = (bench.folder + "/counted", bench.folder + "/callgrind")
        // Valgrind does not read the debug information of newer compilers.
        guard try Child(["strip", "-g", "-o", program, server[0]], core: 0).succeeds() else {
            throw Problem("strip (package binutils) is missing")
        }
        let script = try bench.write(
            """
            items 1000
            role writer \(writers)
              loop \(edits)
                add "a text of 20 bytes.." at random
              end
            role reader rest
              pause 1ms
            """, to: "counted.load")
        try bench.withServer(
            // Without the list that the load test fetches at the end: it is longer after more commits.
            .other(
                [
                    "valgrind", "--tool=callgrind", "--toggle-collect=*11DownMessageO5chunk*", "--collect-atstart=yes",
                    "--callgrind-out-file=\(result)", program,
                ] + server.dropFirst())
        ) { server in
            let options = ["--light", "--duration", "10m"] + (asIs ? ["--as-is"] : [])
            _ = try Load(lines: try bench.startLoad(script, on: server, clients: clients, options).finish())
        }
        let lines = (try? String(contentsOfFile: result, encoding: .utf8))?.split(separator: "\n") ?? []
        guard let count = lines.last(where: { $0.hasPrefix("totals: ") })?.dropFirst(8), let count = Double(count)
        else {
            throw Problem("valgrind did not count: is it installed?")
        }
        return count
    }

    /// Serves lists on this thread until it is told to end: Valgrind cannot run programs without a main thread.
    ///
    /// - Parameter folder: the folder of a new store that flushes each transaction; nil for lists in memory.
    static func serve(port: Int, from folder: String?) throws {
        guard let port = UInt16(exactly: port) else { throw Problem("\(port) is not a port") }
        _ = ProcessLimits.raiseOpenFiles()
        let loop = try Loop()
        let configuration = ServerConfiguration(
            endpoints: [.tcp(try SocketAddress(ip: "127.0.0.1", port: port))], program: "hand-speed", seed: 1)
        let store: any CommitStore =
            try folder.map { folder in
                try? FileManager.default.removeItem(atPath: folder)
                return try SQLiteStore(folder: folder, durability: .fsync)
            } ?? MemoryStore()
        let server = HandServer.Server(
            configuration, store: store, loop: loop,
            logger: Logger(label: "hand") { _ in SwiftLogNoOpLogHandler() })
        _ = try server.start()
        let signal = try Signal(loop, SIGTERM) { loop.stop() }
        loop.run()
        signal.close()
        // Freeing the lists is not part of a commit, so the process ends without it.
        withExtendedLifetime(server) { exit(0) }
    }
}
