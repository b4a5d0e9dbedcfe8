import EventLoop
import FaultyNetwork
import Foundation
import HandCore
import HandTestSupport
import PostgresServer
import Testing

/// Three servers on one database, and people who move between them, while servers, the database, its sessions and the
/// network to it are lost again and again: no acknowledged edit is lost, nothing occurs twice, and everybody ends with
/// the database's list. `HAND_ROUNDS` gives the number of rounds (200 for the long run).
@Suite(.serialized, .enabled(if: PostgresServer.isThere)) struct SharedCrashTests {
    private let database: PostgresServer
    /// The networks between each server and the database.
    private let ways: [FaultyProxy]
    private let world: SharedWorld

    init() async throws {
        database = try PostgresServer(port: PostgresServer.freePort())
        let target = try SocketAddress(ip: "127.0.0.1", port: UInt16(database.port))
        ways = try (0..<3).map { try FaultyProxy(to: target, seed: UInt64($0)) }
        world = try await SharedWorld(
            ways.map { "postgres://hand@127.0.0.1:\($0.address.port)/hand?connect_timeout=1" })
    }

    private enum Blow: CaseIterable {
        case server, sessions, database, silence, reset
    }

    @Test func randomLossesLoseNoEdits() async throws {
        var random = SplitMix64(seed: testSeed(76))
        try await world.editing {
            for round in 0..<CrashTests.rounds {
                try await world.wait(for: 1 + random.next(below: 40))
                let blow = Blow.allCases[round % Blow.allCases.count]
                try await strike(blow, at: random.next(below: 3))
            }
        }
        try await world.verify(database.address())
    }

    private func strike(_ blow: Blow, at number: Int) async throws {
        switch blow {
        case .server:
            world.servers[number].kill()
            // The others' clients, and its own at other servers, continue.
            try await world.wait(for: 10)
            try world.servers[number].start()
        case .sessions:
            try database.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'hand' AND pid <> pg_backend_pid()"
            )
        case .database:
            database.stop()
            try database.start()
        case .silence:
            ways[number].change { ($0.up.isSilent, $0.down.isSilent) = (true, true) }
            try await world.wait(for: 10)
            ways[number].heal()
            ways[number].resetAll()
        case .reset: ways[number].resetAll()
        }
    }
}
