import EventLoop
import Foundation
import HTTP
import HandClient
import HandCore
import HandFormats
import HandTestSupport
import Testing

/// A running server, as its operator observes and controls it.
@Suite(.serialized) struct AdminTests {
    private let server: RunningServer

    init() throws {
        let folder = try TemporaryFolder()
        server = try RunningServer(
            folder, ["--status", "127.0.0.1:0", "--audit", folder.path + "/audit", "--keep-deleted", "0"])
    }

    private func admin(_ arguments: String...) throws -> Binary.Outcome {
        try Binary.run(["admin"] + arguments + ["--data", server.folder.path + "/data"])
    }

    @Test func connectionsAreListedAndClosed() async throws {
        defer { server.kill() }
        let evil = try server.client("eve\u{1B}[2J\u{202E}\n")
        try await evil.connected()
        try await evil.create("list")
        _ = try await evil.open("list").live()
        let ada = try server.client("ada")
        try await ada.connected()
        let ben = try server.client("ben")
        try await ben.connected()
        let listed = try admin("connections")
        let lines = listed.output.split(separator: "\n")
        #expect(lines.count == 3 && listed.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
        let line = try #require(lines.first { $0.contains("eve") })
        #expect(line.contains("on 'list'") && !listed.output.contains("\u{202E}"))
        let number = String(line.prefix { $0 != " " })
        let all = try admin("connections", "--json").output.split(separator: "\n").map {
            try JSONValue.parse(String($0))
        }
        #expect(all.contains { $0["person"] == "ada" } && all.count == 3)
        #expect(try admin("close", number, "--json").output == "{\"closed\":\(number),\"answer\":\"closed\"}\n")
        // Its client is notified, and does not reconnect.
        await #expect(
            throws: ClientError.refused(.closedByOperator, "the operator of the server closed this connection")
        ) {
            try await evil.lists()
        }
        #expect(try admin("connections").output.split(separator: "\n").count == 2)
        #expect(try admin("close", number).status == 3)
        let left = #""event":"left""#
        #expect(
            try eventually { try audit().split(separator: "\n").contains { $0.contains(left) && $0.contains("eve") } })
        await ben.close()
        await ada.close()
        await evil.close()
    }

    private static func insertion(_ text: String) -> Delta {
        var random = SystemRandomNumberGenerator()
        return Delta.inserting([Item(id: .random(using: &random), content: .note(text))], at: 0, .after)
    }

    /// No new clients are admitted, connected ones continue, and the server ends with the last one.
    @Test func aDrainedServerEndsWithItsLastClient() async throws {
        defer { server.kill() }
        let ada = try server.client("ada")
        try await ada.connected()
        try await ada.create("list")
        #expect(try admin("drain", "--within", "5m").status == 0)
        let other = try Binary.run(["ls", "-l", "list", "--url", "hand+unix://\(server.socket)", "--timeout", "1"])
        #expect(other.status == 6, "\(other.messages)")
        try await ada.create("second")
        #expect(try await ada.lists().map(\.name) == ["list", "second"])
        let port = try #require(server.greeting.firstMatch(of: /127\.0\.0\.1:([0-9]+)\/metrics/)?.1)
        let status = try SocketAddress(ip: "127.0.0.1", port: try #require(UInt16(port)))
        let loop = try Loop()
        var readiness: Int?
        HTTPExchange(loop, at: .tcp(status), "/readyz") { readiness = try? $0.get().status }
        loop.run()
        loop.close()
        #expect(readiness == 503)
        await ada.close()
        #expect(server.waitForEnd() == 0)
        #expect(try admin("connections").status == 6)
        #expect(!FileManager.default.fileExists(atPath: server.folder.path + "/data/admin.sock"))
    }

    @Test func drainingEndsAfterItsTime() async throws {
        defer { server.kill() }
        let ada = try server.client("ada")
        try await ada.connected()
        #expect(try admin("drain", "--within", "100ms").status == 0)
        #expect(server.waitForEnd() == 0)
        await ada.close()
    }

    @Test func theStoreIsCopiedAndCompacted() async throws {
        defer { server.kill() }
        let ada = try server.client("ada")
        try await ada.connected()
        try await ada.create("list")
        let list = try await ada.open("list")
        _ = try await list.live()
        for number in 0..<80 {
            let text = String(repeating: "x", count: 16_000)
            try await list.edit { _ in Self.insertion("\(number) \(text)") }
        }
        _ = try await list.settled()
        let copy = server.folder.path + "/copy of it"
        let written = try admin("backup", copy)
        #expect(written.status == 0 && written.output.contains("everything is sound"), "\(written)")
        #expect(try Binary.run(["verify", copy]).status == 0)
        let again = try admin("backup", copy)
        #expect(again.status == 1 && again.messages == "hand: \(copy) exists already; name another file\n", "\(again)")
        try await ada.delete("list")
        let compacted = try admin("compact").messages
        let sizes = try #require(compacted.firstMatch(of: /([0-9.]+) MB → ([0-9]+)[0-9.]* kB/))
        #expect(try #require(Double(sizes.1)) > 1 && #require(Int(sizes.2)) < 300, "\(compacted)")
        for file in ["hand.sqlite", "hand.sqlite-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: server.folder.path + "/data/\(file)")
            #expect(try #require(attributes[.size] as? Int) < 300_000, "\(file)")
        }
        try await ada.create("list")
        await ada.close()
        #expect(server.terminate() == 0)
        #expect(try server.stored("list").revision == 0)
    }

    private func audit() throws -> String {
        try String(contentsOfFile: server.folder.path + "/audit", encoding: .utf8)
    }

    @Test func invalidCommandsAreRefused() throws {
        defer { server.kill() }
        #expect(try admin("log-level", "loud").status == 2)
        #expect(try admin("log-level", "debug").messages == "logs from debug on\n")
        #expect(try admin("log-level", "debug", "-q").messages == "")
        #expect(try eventually { try audit().contains("log-level") })
        let written = try audit()
        #expect(written.contains(#""event":"ordered","peer":"admin","detail":"log-level"}"#), "\(written)")
        #expect(try admin("drain", "--within", "later").status == 2)
        #expect(try Binary.run(["admin", "report", "--admin", "/nowhere.sock"]).status == 6)
        let mode = try FileManager.default.attributesOfItem(atPath: server.folder.path + "/data/admin.sock")
        #expect(mode[.posixPermissions] as? Int == 0o600, "only the server's user may control it")
    }

    private func order(_ target: String) throws -> HTTPExchange.Answer {
        let loop = try Loop()
        defer { loop.close() }
        var answer: Result<HTTPExchange.Answer, HTTPError>?
        HTTPExchange(
            loop, at: .unix(server.folder.path + "/data/admin.sock"), target, method: "POST", timeout: 60_000
        ) { answer = $0 }
        loop.run()
        return try #require(try answer?.get())
    }

    /// The commands check their requests; other programs may not.
    @Test(arguments: [
        ("/drain?within=86401", "within: expected 0 to 86400 seconds\n"),
        ("/drain?within=-1", "within: expected 0 to 86400 seconds\n"),
        ("/drain?within=nan", "within: expected 0 to 86400 seconds\n"),
        ("/drain?within=inf", "within: expected 0 to 86400 seconds\n"),
        ("/backup?to=copy", "to: expected the absolute path of a file\n"),
        ("/backup", "to: expected the absolute path of a file\n"),
    ])
    func unusualRequestsAreRefused(order target: String, refusal: String) throws {
        defer { server.kill() }
        let answer = try order(target)
        #expect(answer.status == 400 && answer.body == refusal)
        #expect(try admin("report").status == 0)
    }

    /// Bytes after a request are not another request: a command is executed once, whatever follows.
    @Test func aCommandIsExecutedOnce() throws {
        defer { server.kill() }
        let loop = try Loop()
        defer { loop.close() }
        let more = EventLoop.Timer(loop)
        var left = 20
        EventLoop.Pipe.connect(loop, path: server.folder.path + "/data/admin.sock") { result in
            guard case .success(let stream) = result else { return more.close() }
            stream.open { _ in
            } onEnd: { _ in
            }
            stream.write([OutputBuffer(Array("POST /log-level?to=error HTTP/1.1\r\n\r\n".utf8))])
            more.start(after: 2, repeating: 2) {
                stream.write([OutputBuffer(Array("x".utf8))])
                left -= 1
                if left > 0 { return }
                more.close()
                stream.close()
            }
        }
        loop.run()
        #expect(try eventually { try audit().contains("ordered") })
        let written = try audit()
        #expect(written.split(separator: "\n").count { $0.contains("ordered") } == 1, "\(written)")
    }

    /// The live view, on a terminal.
    @Test func theLiveViewClosesConnections() async throws {
        defer { server.kill() }
        let ada = try server.client("ada")
        try await ada.connected()
        try await ada.create("groceries")
        let list = try await ada.open("groceries")
        _ = try await list.live()
        let tmux = try Tmux(
            rows: 20, columns: 100, environment: ["HAND_DATA": server.folder.path + "/data"],
            "\(Binary.path) top")
        try tmux.wait(for: tmux.first) { screen in
            screen.contains { $0.contains("groceries") } && screen.contains { $0.contains("ada") }
        }
        try await list.edit { _ in Self.insertion("one") }
        try tmux.wait(for: tmux.first) { screen in
            screen.contains { $0.contains("groceries") && $0.firstMatch(of: #/ 1 +1 +1 /#) != nil }
        }
        // The connection is selected and closed; its client is notified and stays away.
        try tmux.press("j", "x", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.last?.contains("(y/n)") == true && $0.last?.contains("ada") == true }
        try tmux.press("y", in: tmux.first)
        try tmux.wait(for: tmux.first) { screen in !screen.contains { $0.contains("ada") } }
        server.kill()
        try tmux.wait(for: tmux.first) { screen in screen.contains { $0.contains("no server answers") } }
        try server.start()
        try tmux.wait(for: tmux.first) { screen in screen.contains { $0.contains("q quit") } }
        await ada.close()
    }
}
