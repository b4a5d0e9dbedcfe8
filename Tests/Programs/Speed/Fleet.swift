import Foundation
import HandFormats
import PostgresServer

/// Servers on one PostgreSQL that flushes what it acknowledges. Everything may use all cores of this machine.
final class Fleet {
    private let database: PostgresServer
    private let standby: PostgresServer?
    let servers: [Server]
    /// The address that names all of them.
    let url: String

    /// - Parameter isFollowed: whether the database has a synchronous standby.
    fileprivate init(_ bench: Bench, _ count: Int, isFollowed: Bool) throws {
        let database = try PostgresServer(settings: [])
        self.database = database
        let standby = isFollowed ? try PostgresServer(settings: [], standbyOf: database) : nil
        if standby != nil { try database.waitForStandby() }
        self.standby = standby
        let folders = [database.folder] + (standby.map { [$0.folder] } ?? [])
        let store = "postgres:///hand?host=\(folders.joined(separator: ","))&user=hand"
        servers = try (0..<count).map { _ in try bench.freshServer(["--store", store], core: nil) }
        url = "hand://" + servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    }

    /// Makes the standby take over after the database is lost.
    func failOver() throws {
        try database.kill()
        try standby?.promote()
    }

    fileprivate func stop() {
        for server in servers { server.stop() }
        standby?.stop()
        database.stop()
    }
}

extension Bench {
    func withFleet<Result>(_ count: Int, isFollowed: Bool = false, _ body: (Fleet) throws -> Result) throws -> Result {
        let fleet = try Fleet(self, count, isFollowed: isFollowed)
        defer { fleet.stop() }
        return try body(fleet)
    }

    /// Runs a load test whose clients are spread over all servers, for each list.
    func load(_ script: String, on fleet: Fleet, clients: Int, _ options: [String] = []) throws -> FleetLoad {
        let before = Machine.idleSeconds
        let start = ContinuousClock.now
        let child = try Child(
            [
                program("hand"), "load", script, "--url", fleet.url, "--clients", "\(clients)", "--json", "--light",
                "--spread", "--duration", "\(seconds)s",
            ] + options, core: nil)
        let load = try Load(lines: child.finish())
        let cores = Double(ProcessInfo.processInfo.processorCount)
        let idle = (Machine.idleSeconds - before) / ((ContinuousClock.now - start).seconds * cores)
        guard load.converged else { throw Problem("the servers' lists differ") }
        return FleetLoad(load: load, idle: idle)
    }
}

/// The result of a load test of several servers.
struct FleetLoad {
    let load: Load
    /// The idle share of the processor's time.
    let idle: Double

    /// The result as text, latencies in milliseconds.
    var text: String {
        func pair(_ latency: Load.Latency) -> String {
            "\(Row.number(latency.p50 / 1_000))/\(Row.number(latency.p99 / 1_000))"
        }
        return "\(Row.number(load.commitsPerSecond))/s, ack \(pair(load.acknowledged)), seen \(pair(load.seen)), "
            + "idle \(Int((idle * 100).rounded())) %"
    }
}
