import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandTestSupport
import Testing

/// A load balancer between the clients and two servers, one of which is lost.
@Suite(.serialized, .enabled(if: Balancer.isThere), .timeLimit(.minutes(5))) struct BalancerTests {
    /// The balancer knows only TCP. The client connects to it again, and it chooses the remaining server; the edit in
    /// flight is committed once.
    @Test(arguments: [true, false]) func anEditInFlightSurvivesTheLossOfAServer(isCommitted: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = try RunningServer(folder, ["--listen", "127.0.0.1:0", "--durability", "os"])
        let proxies = try (1...2).map { try FaultyProxy(to: try server.tcpAddress(), seed: $0) }
        let balancer = try Balancer(folder, to: proxies.map { "\($0.address)" })
        let ben = try server.client("ben")
        try await ben.create("list")
        let others = try await ben.open("list")
        let ada = try HandClient(
            ClientConfiguration(address: "hand+unix://\(balancer.socket)/list", person: "ada", program: "test"))
        let list = try await ada.open("list")
        _ = try await list.live()
        let first = try #require(proxies.first { $0.traffic.connections == 1 })
        #expect(proxies.map(\.traffic.connections).reduce(0, +) == 1)

        first.change { if isCommitted { $0.down.isSilent = true } else { $0.up.isSilent = true } }
        var random = SystemRandomNumberGenerator()
        let item = Item(id: .random(using: &random), content: .note("milk"))
        try await list.edit { _ in Delta.inserting([item], at: 0, .after) }
        if isCommitted { _ = try await others.caughtUp(to: 1) }
        let start = ContinuousClock.now
        first.close()
        #expect(try await list.settled().rejections.isEmpty)
        print("behind a balancer the edit in flight was settled after \(ContinuousClock.now - start)")
        #expect(try await ben.state(of: "list").hand.map(\.content.text) == ["milk"])
        #expect(try await ben.state(of: "list").revision == 1)
        #expect(proxies.map(\.traffic.connections) == [1, 1])
        await ada.close()
        await ben.close()
    }
}

/// HAProxy, which distributes connections over several servers. It ends with this object.
private final class Balancer {
    /// Debian installs it where only root looks for programs.
    private static let program = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/usr/bin/haproxy"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    static let isThere: Bool = {
        if program == nil { print("The tests with a load balancer are left out: install HAProxy (Debian: haproxy).") }
        return program != nil
    }()

    let socket: String
    private let process = Process()

    init(_ folder: TemporaryFolder, to servers: [String]) throws {
        socket = folder.path + "/balancer.sock"
        let lines = servers.enumerated().map { "    server server\($0) \($1)" }
        // If a server refuses a connection, the other one is tried.
        let text = """
            defaults
                mode tcp
                retries 2
                option redispatch 1
                timeout connect 1s
                timeout client 1h
                timeout server 1h
            frontend clients
                bind unix@\(socket)
                default_backend servers
            backend servers
                balance roundrobin

            """
        let file = folder.path + "/haproxy.cfg"
        try (text + lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: Self.program ?? "")
        // In the foreground, as the user who runs the tests.
        process.arguments = ["-db", "-q", "-f", file]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        #expect(eventually { FileManager.default.fileExists(atPath: socket) }, "HAProxy does not start")
    }

    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
