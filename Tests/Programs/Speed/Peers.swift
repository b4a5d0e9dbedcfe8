import Foundation

/// Other projects' servers under a load like the one for ours: each writer appends items of about 20 bytes, one in
/// flight.
struct Peers {
    private let bench: Bench

    private struct Peer {
        let name: String
        let commitsPerSecond: (_ clients: Int, _ writers: Int) throws -> Double
    }

    /// The output of `hand-yjs-load`.
    private struct YjsLoad: Decodable {
        let commitsPerSecond: Double
    }

    init(_ bench: Bench) {
        self.bench = bench
    }

    func compare() throws {
        let peers = [
            own("C fan-out", .fanOut), own("hand, memory", .hand(durability: "memory")),
            yjs("y-websocket", ["node", bench.peer("ywebsocket.js")], ["NODE_PATH": "/usr/share/nodejs"]),
            yjs("pycrdt-websocket", ["python3", bench.peer("pycrdt_server.py")], [:]),
        ]
        print("commits/s".padding(toLength: 30, withPad: " ", startingAt: 0) + peers.map { cell($0.name) }.joined())
        for (clients, writers) in [(1, 1), (10, 10), (100, 1), (100, 100), (1_000, 1), (1_000, 1_000)] {
            let title = "\(clients) clients, \(writers == clients ? "all" : "\(writers)") writing"
            print(title.padding(toLength: 30, withPad: " ", startingAt: 0), terminator: "")
            for peer in peers {
                let samples = (0..<bench.pairs).map { _ in try? peer.commitsPerSecond(clients, writers) }
                print(
                    cell(samples.contains { $0 == nil } ? "–" : Row.number(samples.compactMap(\.self).median)),
                    terminator: "")
                fflush(nil)
            }
            print()
        }
    }

    private func cell(_ text: String) -> String {
        String(repeating: " ", count: max(1, 18 - text.count)) + text
    }

    private func own(_ name: String, _ kind: Bench.Kind) -> Peer {
        Peer(name: name) { clients, writers in
            let script = try bench.write(
                """
                role writer \(writers)
                  loop
                    add "an item of 20 bytes" at end
                  end
                role reader rest
                  pause 10m
                """, to: "append")
            return try bench.withServer(kind) { server in
                let options = kind.hasLists ? ["--light"] : ["--light", "--as-is"]
                return try Load(
                    lines: bench.startLoad(script, on: server, clients: clients, options).finish()
                ).commitsPerSecond
            }
        }
    }

    private func yjs(_ name: String, _ command: [String], _ environment: [String: String]) -> Peer {
        Peer(name: name) { clients, writers in
            try bench.withServer(.other(command, environment: environment)) { server in
                let child = try Child(
                    [
                        bench.program("hand-yjs-load"), "\(server.port)", "list", "\(clients)", "\(writers)",
                        "\(bench.seconds)",
                    ], core: 1)
                guard let line = child.finish().last else { throw Problem("\(name) accepted no load") }
                return try JSONDecoder().decode(YjsLoad.self, from: Data(line.utf8)).commitsPerSecond
            }
        }
    }
}
