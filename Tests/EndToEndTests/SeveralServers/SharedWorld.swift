import Foundation
import HandClient
import HandCore
import HandSimulation
import HandStore
import HandTestSupport
import PostgresServer
import Testing

/// Three servers on one database, and six people who edit one list at them. Clients that find their server down go to
/// another.
final class SharedWorld {
    let servers: [RunningServer]
    private let clients: [HandClient]
    let ledger = CrashTests.Ledger()

    /// - Parameter stores: the address of the database for each of the servers.
    init(_ stores: [String]) async throws {
        let ports = try stores.map { _ in try PostgresServer.freePort() }
        servers = try zip(stores, ports).map { store, port in
            let folder = try TemporaryFolder()
            let options = ["--store", store, "--listen", "127.0.0.1:\(port)", "--log-level", "critical"]
            return try RunningServer(folder, options, logPath: folder.path + "/log")
        }
        let url = "hand://" + ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        // Clients that follow a list begin with the same server. So each names another list.
        clients = try (0..<6).map { number in
            var configuration = try ClientConfiguration(address: url, person: "client \(number)", program: "test")
            configuration.list = "home of \(number)"
            return try HandClient(configuration)
        }
        try await clients[0].create("list")
    }

    /// Everybody edits until `body` is over, and then has the answers to all edits.
    func editing(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [clients, ledger] group in
            for (index, client) in clients.enumerated() {
                let list = try await client.open("list")
                group.addTask {
                    var chaos = Chaos(seed: UInt64(index) + 100)
                    while !ledger.isOver { try await CrashTests.edit(list, &chaos, ledger) }
                }
            }
            do { try await body() } catch {
                // Nobody waits for an answer that may not arrive.
                for client in clients { await client.close() }
                throw error
            }
            ledger.finish()
            try await group.waitForAll()
        }
    }

    /// Waits until this many more edits are acknowledged, for at least a minute.
    ///
    /// Turns are counted, not seconds: other tests may keep the threads that the editing needs for as long.
    func wait(for edits: Int) async throws {
        let threshold = ledger.count + edits
        for _ in 0..<60_000 where ledger.count < threshold { try await Task.sleep(for: .milliseconds(1)) }
        try #require(ledger.count >= threshold, "editing does not continue")
    }

    /// The logs of the servers since they started.
    var log: String {
        servers.map { (try? String(contentsOfFile: $0.folder.path + "/log", encoding: .utf8)) ?? "" }.joined()
    }

    /// Checks that everybody has the database's list, and that nothing occurs twice.
    ///
    /// - Parameter isWhole: whether every acknowledged edit must be present.
    /// - Precondition: nobody edits any more.
    func verify(_ store: String, isWhole: Bool = true) async throws {
        var head = 0
        for client in clients { head = max(head, try await client.open("list").state().revision) }
        var views: [Hand] = []
        for client in clients {
            views.append(try await client.open("list").caughtUp(to: head).view)
            await client.close()
        }
        for server in servers { #expect(server.terminate() == 0) }
        let database = try PostgresStore(store)
        defer { database.close() }
        let number = try #require(try database.list(named: "list")?.number)
        // Loading replays all commits, and compares each digest.
        let stored = try database.load(number)
        #expect(views.allSatisfy { $0 == stored.hand } && stored.revision == head)
        let ids = stored.hand.map(\.id)
        #expect(Set(ids).count == ids.count, "an item is there twice")
        let missing = ledger.inserted.subtracting(ledger.deleted).subtracting(ids)
        #expect(missing.isEmpty || !isWhole, "\(missing.count) acknowledged items are missing")
        #expect(log.isEmpty || !isWhole, "\(log)")
        let found = try Binary.run(["verify", "--store", store])
        #expect(found.status == 0, "\(found.messages)\(found.output)")
        print("\(ledger.count) acknowledged edits at three servers, \(ids.count) items, revision \(stored.revision)")
    }
}
