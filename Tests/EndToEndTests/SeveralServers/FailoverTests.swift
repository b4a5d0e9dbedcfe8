import Foundation
import HandClient
import HandTestSupport
import PostgresServer
import Testing

/// The database is lost for good while people edit at three servers, and its standby takes over. This happens a tenth
/// of `HAND_ROUNDS` times, and at least three times.
@Suite(.serialized, .enabled(if: PostgresServer.isThere), .timeLimit(.minutes(10))) struct FailoverTests {
    /// The ports of the database and of its standby.
    private let ports: [Int]

    init() throws {
        ports = [try PostgresServer.freePort(), try PostgresServer.freePort()]
    }

    /// The address of the database, wherever it is, for each server.
    private var stores: [String] {
        Array(repeating: "postgres://hand@127.0.0.1:\(ports[0]),127.0.0.1:\(ports[1])/hand", count: 3)
    }

    /// A synchronous standby has every acknowledged edit. A standby that takes over gets a standby of its own.
    @Test func aSynchronousStandbyTakesOver() async throws {
        var primary = try PostgresServer(port: ports[0])
        let world = try await SharedWorld(stores)
        try await world.editing {
            for round in 1...max(3, CrashTests.rounds / 10) {
                let standby = try PostgresServer(port: ports[round % 2], standbyOf: primary)
                try primary.waitForStandby()
                try await world.wait(for: 20)
                // A database that does not wait for the standby now acknowledges edits that the standby will never
                // have.
                try primary.lose(standby)
                try await Task.sleep(for: .milliseconds(200))
                let start = ContinuousClock.now
                try primary.kill()
                try standby.promote()
                let promoted = ContinuousClock.now
                // Each client may still have to record one of the earlier edits.
                try await world.wait(for: 7)
                print("promoted after \(promoted - start), edits went on after \(ContinuousClock.now - start)")
                try await world.wait(for: 20)
                primary = standby
            }
        }
        try await world.verify(primary.address())
    }

    /// Commits that a standby lacks are lost when it takes over: the servers report it, and all reach the same list.
    @Test func aStandbyThatLacksCommitsTakesOver() async throws {
        let primary = try PostgresServer(port: ports[0])
        let standby = try PostgresServer(port: ports[1], standbyOf: primary)
        let world = try await SharedWorld(stores)
        try await world.editing {
            try await world.wait(for: 20)
            try primary.bringStandby()
            try primary.lose(standby)
            try await world.wait(for: 50)
            try primary.kill()
            try standby.promote()
            try await world.wait(for: 50)
        }
        // Reported once by each server that had seen more.
        let times = world.log.split(separator: "\n").count { $0.contains("loading it again") }
        #expect((1...3).contains(times), "\(world.log)")
        try await world.verify(standby.address(), isWhole: false)
    }

    /// A list that the standby never had is lost. That is reported too, and the list can be created again.
    @Test func aStandbyThatLacksTheListTakesOver() async throws {
        let primary = try PostgresServer(port: ports[0])
        let standby = try PostgresServer(port: ports[1], standbyOf: primary)
        let folder = try TemporaryFolder()
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--store", stores[0], "--log-level", "notice"], logPath: log)
        try primary.bringStandby()
        try primary.lose(standby)
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        _ = try await list.live()
        try primary.kill()
        try standby.promote()
        try #require(
            eventually {
                try String(contentsOfFile: log, encoding: .utf8).contains("no longer in the store")
            })
        for await event in list.events {
            if case .refused(.listDeleted, _) = event { break }
        }
        try await client.create("list")
        #expect(try await client.state(of: "list").revision == 0)
        await client.close()
        #expect(server.terminate() == 0)
        standby.stop()
    }
}
