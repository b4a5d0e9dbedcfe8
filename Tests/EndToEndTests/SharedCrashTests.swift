import EventLoop
import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandSimulation
import HandStore
import HandTestSupport
import PostgresServer
import Testing

/// Three servers on one database, and people who move between them, while servers, the database, its sessions and the ways there
/// are lost again and again: nothing that was acknowledged is gone, nothing is there twice, and all end with what the database has.
/// `HAND_ROUNDS` says how often (200 for the long run).
@Suite(.serialized, .enabled(if: PostgresServer.isThere)) struct SharedCrashTests {
    private let database: PostgresServer
    /// Between each server and the database.
    private let ways: [FaultyProxy]
    private let servers: [RunningServer]
    /// The address of all of them.
    private let url: String

    init() throws {
        database = try PostgresServer(port: PostgresServer.freePort())
        let target = try SocketAddress(ip: "127.0.0.1", port: UInt16(database.port))
        ways = try (0..<3).map { try FaultyProxy(to: target, seed: UInt64($0)) }
        let ports = try (0..<3).map { _ in try PostgresServer.freePort() }
        servers = try zip(ways, ports).map { way, port in
            let store = "postgres://hand@127.0.0.1:\(way.address.port)/hand?connect_timeout=1"
            let options = ["--store", store, "--listen", "127.0.0.1:\(port)", "--log-level", "critical"]
            return try RunningServer(try TemporaryFolder(), options)
        }
        url = "hand://" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
    }

    private enum Blow: CaseIterable {
        case server, sessions, database, silence, reset
    }

    @Test func whateverIsLost() async throws {
        var random = SplitMix64(seed: testSeed(76))
        // Those who name a list begin with the same server. So each names another one.
        let clients = try (0..<6).map { number in
            var configuration = try ClientConfiguration(address: url, person: "client \(number)", program: "test")
            configuration.list = "home of \(number)"
            return try HandClient(configuration)
        }
        try await clients[0].create("list")
        let ledger = CrashTests.Ledger()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, client) in clients.enumerated() {
                let list = try await client.open("list")
                group.addTask {
                    var chaos = Chaos(seed: UInt64(index) + 100)
                    while !ledger.isOver { try await CrashTests.edit(list, &chaos, ledger) }
                }
            }
            for round in 0..<CrashTests.rounds {
                await wait(for: 1 + random.next(below: 40), ledger)
                let blow = Blow.allCases[round % Blow.allCases.count]
                try await strike(blow, at: random.next(below: 3), ledger)
            }
            ledger.finish()
            try await group.waitForAll()
        }
        try await verify(clients, ledger)
    }

    /// Until so many more edits are acknowledged.
    private func wait(for edits: Int, _ ledger: CrashTests.Ledger) async {
        let threshold = ledger.count + edits
        for await count in ledger.counts where count >= threshold { break }
    }

    private func strike(_ blow: Blow, at number: Int, _ ledger: CrashTests.Ledger) async throws {
        switch blow {
        case .server:
            servers[number].kill()
            // The others' clients, and its own elsewhere, go on.
            await wait(for: 10, ledger)
            try servers[number].start()
        case .sessions:
            try database.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'hand' AND pid <> pg_backend_pid()"
            )
        case .database:
            database.stop()
            try database.start()
        case .silence:
            ways[number].change { ($0.up.isSilent, $0.down.isSilent) = (true, true) }
            await wait(for: 10, ledger)
            ways[number].heal()
            ways[number].resetAll()
        case .reset: ways[number].resetAll()
        }
    }

    /// - Precondition: everybody has the answers to all edits.
    private func verify(_ clients: [HandClient], _ ledger: CrashTests.Ledger) async throws {
        var head = 0
        for client in clients { head = max(head, try await client.open("list").state().revision) }
        var views: [Hand] = []
        for client in clients {
            views.append(try await client.open("list").caughtUp(to: head).view)
            await client.close()
        }
        for server in servers { #expect(server.terminate() == 0) }
        let store = try PostgresStore(database.address())
        defer { store.close() }
        let number = try #require(try store.list(named: "list")?.number)
        // Loading replays all commits, and compares each digest.
        let stored = try store.load(number)
        #expect(views.allSatisfy { $0 == stored.hand } && stored.revision == head)
        let ids = stored.hand.map(\.id)
        #expect(Set(ids).count == ids.count, "an item is there twice")
        let missing = ledger.inserted.subtracting(ledger.deleted).subtracting(ids)
        #expect(missing.isEmpty, "\(missing.count) acknowledged items are missing")
        print("\(ledger.count) acknowledged edits at three servers, \(ids.count) items, revision \(stored.revision)")
    }
}
