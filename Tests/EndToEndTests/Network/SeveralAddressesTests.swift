import FaultyNetwork
import Foundation
import HandSync
import HandTestSupport
import Testing

/// Commands with an address that names several servers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SeveralAddressesTests {
    private let user: CommandUser
    private let port: UInt16
    private let folder: String

    init() throws {
        user = try CommandUser("ada", ["--listen", "127.0.0.1:0"])
        port = try user.server.tcpAddress().port
        folder = user.server.folder.path + "/state/hand/clients"
    }

    /// Nobody listens at port 1.
    private func url(_ last: String = "/list") -> String { "hand://127.0.0.1:1,127.0.0.1:\(port)\(last)" }

    @Test func commandsUseTheReachableServer() throws {
        var ada = user
        ada.environment["HAND_URL"] = url()
        try ada.hand("create", "list")
        #expect(try ada.hand("add", "milk") == "")
        let link = try ada.hand("share", "list", "--role", "write", "--data", user.server.folder.path + "/data")
        #expect(link.contains(url("/list#hand-")))
        try ada.hand("add", "eggs", "--url", String(try #require(link.firstMatch(of: /hand:.*/)?.0)))
        let place = "hand://127.0.0.1:\(port),127.0.0.1:1/list"
        #expect(try ada.hand("ls", "--url", place).contains("eggs"))
        #expect(try ada.lines() == ["[ ] milk", "[ ] eggs"])
        let config = user.server.folder.path + "/config/hand"
        try FileManager.default.createDirectory(atPath: config, withIntermediateDirectories: true)
        try "url = \"\(url())\"\n".write(toFile: config + "/config.toml", atomically: true, encoding: .utf8)
        ada.environment["HAND_URL"] = nil
        #expect(try ada.lines() == ["[ ] milk", "[ ] eggs"])
    }

    /// Kept lists are found again in whatever order the servers are named, and never under another address.
    @Test func keptListsBelongToAllServersTogether() throws {
        try user.hand("create", "list")
        try user.hand("add", "milk", "--url", url())
        try user.hand("ls", "--url", url())
        #expect(try user.hand("ls", "--offline", "--url", "hand://127.0.0.1:\(port),127.0.0.1:1/list").contains("milk"))
        try user.hand("ls", "--offline", "--url", "hand://127.0.0.1:\(port)/list", expecting: 3)
        try user.hand("ls", "--url", "hand://127.0.0.1:\(port)/list")
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(folders.contains("hand___127.0.0.1_\(port)"), "\(folders)")
        #expect(folders.filter { $0.hasPrefix("2_hosts,") }.count == 1, "\(folders)")
        let many = "hand://" + (1...16).map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/list"
        try user.hand("add", "x", "--queue", "--url", many)
        #expect(try user.hand("ls", "--offline", "--url", many).contains("x"))
    }

    @Test func allUnreachableServersAreNamed() throws {
        func words(_ url: String) throws -> String { try user.hand("ls", "--url", url, expecting: 6) }
        #expect(
            try words("hand://127.0.0.1:2,127.0.0.1:1/list")
                == "hand: no server answers at 127.0.0.1:1, 127.0.0.1:2. Start one: hand serve --listen 127.0.0.1:1\n")
        #expect(
            try words("hand://127.0.0.1:2,127.0.0.2:1/list")
                == "hand: no server answers at 127.0.0.1:2, 127.0.0.2:1: connection refused\n")
        #expect(
            try words("hand://127.0.0.1:1,nobody.invalid/list").hasPrefix(
                "hand: the server cannot be reached: 127.0.0.1:1: connection refused; nobody.invalid:7777: "))
        let wrong = try user.hand("ls", "--url", "hand://a,b:x/list", expecting: 2)
        #expect(wrong.contains("'hand://a,b:x/list': in 'b:x', this is not a URL"))
    }

    /// A token for one of several servers is not sent to the others, and never unencrypted to another machine.
    @Test func tokensAreSentOnlyToTheirServers() throws {
        var ada = user
        ada.environment["HAND_URL"] = "hands://127.0.0.1:1,127.0.0.1:2/list"
        ada.environment["HAND_TOKEN"] = "secret"
        let clear = try ada.hand("ls", "--url", "hand://127.0.0.1:1,192.0.2.1/list#secret", expecting: 2)
        #expect(clear.contains("the token was not sent to hand://127.0.0.1:1,192.0.2.1:7777: without TLS"))
        #expect(try ada.hand("ls", "--url", "hand://127.0.0.1:1,127.0.0.1:2/list", expecting: 6).contains("no server"))
    }

    /// The first server does not listen, or is silent; the clients of a load test find the second.
    @Test(arguments: [[], ["--light"]], [false, true])
    func aLoadTestUsesTheReachableServer(options: [String], isSilent: Bool) throws {
        var silence = Faults()
        silence.isPartitioned = true
        let silent = try FaultyProxy(to: try user.server.tcpAddress(), seed: 1, faults: silence)
        let first = isSilent ? silent.address.port : 1
        let home = first < port ? 0 : 1
        let list = try #require((0..<100).map { "load-\($0)" }.first { ServerRound.home(of: $0, among: 2) == home })
        let outcome = try user.run(
            ["load", "--url", "hand://127.0.0.1:\(first),127.0.0.1:\(port)/\(list)", "--clients", "5"]
                + ["--duration", "1s", "--json", "-q"] + options)
        #expect(silent.traffic.connections == (isSilent ? 6 : 0), "each has tried the home of the list")
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.messages)")
        #expect(outcome.output.contains("\"converged\":true"))
    }

    /// A watcher that moves to another server reports which one.
    @Test func aWatcherReportsTheNewServer() throws {
        let proxies = try (1...2).map { try FaultyProxy(to: try user.server.tcpAddress(), seed: $0) }
        let places = proxies.map { "127.0.0.1:\($0.address.port)" }
        try user.hand("create", "list")
        let watch = try WatchTests.Watcher(user, "--url", "hand://\(places.joined(separator: ","))/list")
        defer { watch.end() }
        #expect(eventually { proxies.contains { $0.traffic.connections == 1 } })
        let first = try #require(proxies.firstIndex { $0.traffic.connections == 1 })
        try user.hand("add", "milk")
        #expect(try watch.line().contains("milk"))
        proxies[first].resetAll()
        #expect(try watch.says("connecting to \(places[1 - first])\nonline"))
        try user.hand("add", "eggs")
        #expect(try watch.line().contains("eggs"))
        #expect(proxies.map(\.traffic.connections) == [1, 1])
    }
}
