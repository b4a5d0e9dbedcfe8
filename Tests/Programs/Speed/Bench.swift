import EventLoop
import Foundation
import HandTestSupport

/// Starts servers on one core and load on another.
final class Bench {
    let pairs: Int
    let seconds: Int
    /// The working folder: empty at the start, removed at the end.
    let folder: String
    private let programs: URL
    // Below the ports that the system gives to outgoing connections.
    private var port = Int.random(in: 10_000..<28_000)

    init(pairs: Int, seconds: Int) throws {
        self.pairs = pairs
        self.seconds = seconds
        programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        folder = FileManager.default.temporaryDirectory.path + "/hand-speed-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        ProcessLimits.raiseOpenFiles()
    }

    func close() {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func program(_ name: String) -> String { programs.appendingPathComponent(name).path }

    /// Returns the path of a program in `Tests/Programs/Peers`. The working directory must be the package's folder.
    func peer(_ name: String) -> String { FileManager.default.currentDirectoryPath + "/Tests/Programs/Peers/" + name }

    func write(_ text: String, to name: String) throws -> String {
        let path = folder + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Writes a script whose edits do not change the list's length.
    func longListScript() throws -> String {
        try write(
            """
            loop
              move random to random
            end
            """, to: "long")
    }

    // MARK: Servers

    enum Kind {
        /// The C server that only numbers frames.
        case fanOut
        /// `hand serve` with that durability, on a new store or an existing one.
        case hand(durability: String, data: String? = nil)
        /// `hand serve` with TLS, in memory.
        case secure(Certificates, own: (certificate: String, key: String))
        /// `hand serve` for WebSockets, in memory.
        case web
        case other([String], environment: [String: String] = [:])

        /// Whether lists must be created on it.
        var hasLists: Bool { if case .fanOut = self { false } else { true } }
    }

    func withServer<Result>(_ kind: Kind, _ body: (Server) throws -> Result) throws -> Result {
        port += 1
        let server: Server
        switch kind {
        case .fanOut: server = try Server([program("hand-fanout"), "\(port)"], port: port)
        case .hand(let durability, let data):
            let fresh = folder + "/data-\(port)"
            server = try Server(
                [
                    program("hand"), "serve", "--listen", "127.0.0.1:\(port)", "--durability", durability, "--data",
                    data ?? fresh,
                ], port: port)
        case .secure(let certificates, let own):
            server = try Server(
                [
                    program("hand"), "serve", "--listen", "127.0.0.1:\(port)", "--durability", "memory", "--data",
                    folder + "/data-\(port)", "--tls-cert", own.certificate, "--tls-key", own.key,
                ], port: port, authority: certificates.authority)
        case .web:
            server = try Server(
                [
                    program("hand"), "serve", "--listen", folder + "/\(port).sock", "--web", "127.0.0.1:\(port)",
                    "--durability", "memory", "--data", folder + "/data-\(port)",
                ], port: port)
        case .other(let command, let environment):
            server = try Server(command + ["\(port)"], port: port, environment: environment)
        }
        defer {
            server.stop()
            try? FileManager.default.removeItem(atPath: folder + "/data-\(port)")
        }
        return try body(server)
    }

    /// Starts a server on a new store. The caller stops it.
    ///
    /// - Parameter core: the core to run on, or nil for any.
    func freshServer(_ options: [String] = [], core: Int? = 0) throws -> Server {
        port += 1
        return try server(port, options, core: core)
    }

    /// Starts a server again once it has stopped.
    func again(_ old: Server) throws -> Server { try server(old.port) }

    private func server(_ port: Int, _ options: [String] = [], core: Int? = 0) throws -> Server {
        try Server(
            [program("hand"), "serve", "--listen", "127.0.0.1:\(port)", "--data", folder + "/data-\(port)"] + options,
            port: port, core: core)
    }

    func make(_ lists: [String], on server: Server) throws {
        for list in lists {
            _ = try Child([program("hand"), "create", "--url", server.url, list], core: 1).finish()
        }
    }

    // MARK: Load

    /// Runs `hand load` to its end.
    func load(_ script: String, on server: Server, clients: Int, _ options: String...) throws -> Load {
        let child = try startLoad(script, on: server, clients: clients, options)
        return try Load(lines: child.finish())
    }

    func startLoad(
        _ script: String, on server: Server, clients: Int, _ options: [String], niceness: Int = 0
    ) throws -> Child {
        var arguments = [
            program("hand"), "load", script, "--url", server.url, "--clients", "\(clients)", "--json",
        ]
        if !options.contains("--duration") { arguments += ["--duration", "\(seconds)s"] }
        return try Child(
            ["nice", "-n", "\(niceness)"] + arguments + options, core: 1, environment: server.clientEnvironment)
    }

    /// Measures two things alternately, so that whatever slows the machine down slows both.
    func compare(_ base: () throws -> Double, _ ours: () throws -> Double) rethrows -> Row.Outcome {
        var (bases, others, ratios): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<pairs {
            let (first, second) = (try base(), try ours())
            bases.append(first)
            others.append(second)
            ratios.append(second / first)
        }
        return Row.Outcome(base: bases.median, ours: others.median, ratio: ratios.median)
    }
}

/// The summary at the end of `hand load --json`.
struct Load: Decodable {
    struct Latency: Decodable {
        let p50, p99, max: Double
        let p999: Double

        enum CodingKeys: String, CodingKey {
            case p50, p99, max
            case p999 = "p99.9"
        }
    }

    let commitsPerSecond: Double
    let connectMilliseconds: Double
    /// The time until the acknowledgement in microseconds.
    let acknowledged: Latency
    /// The time until another client has the edit.
    let seen: Latency
    let converged: Bool
    let errors: [String: Int]

    init(lines: [String]) throws {
        guard let last = lines.last, let found = try? JSONDecoder().decode(Load.self, from: Data(last.utf8)) else {
            throw Problem("a load test printed no result")
        }
        self = found
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
