import EventLoop
import Foundation
import HandClient
import HandCore
import HandTestSupport
import HandWire
import Testing

/// Clients that connect with a WebSocket, on real sockets.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WebSocketTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func serve(_ options: [String] = []) throws -> (server: RunningServer, port: UInt16) {
        let server = try RunningServer(folder, ["--web", "127.0.0.1:0"] + options, logPath: folder.path + "/log")
        let port = try #require(server.greeting.firstMatch(of: /https?:\/\/127\.0\.0\.1:([0-9]+)/)?.1)
        return (server, try #require(UInt16(port)))
    }

    private static func hello(_ name: String, token: String? = nil) -> UpMessage {
        let client = ClientID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
        return .hello(.init(client: client, person: name, program: "test", token: token))
    }

    private func token(_ words: String...) throws -> String {
        try Binary.run(["token"] + words + ["--data", folder.path + "/data"]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A client that was welcomed.
    private func client(_ port: UInt16, _ name: String, token: String? = nil) throws -> WebClient {
        let client = try WebClient(port: port)
        #expect(try client.upgrade().contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        client.send(Self.hello(name, token: token))
        _ = try client.message { if case .welcome = $0 { true } else { nil } }
        return client
    }

    // MARK: The conversation

    /// A client of each kind edits one list; both see the same.
    @Test func bothKindsOfClientsShareAList() async throws {
        let (server, port) = try serve()
        let other = try server.client("Bob")
        try await other.create("groceries", rules: Rules())
        let web = try client(port, "Ada")
        web.send(.subscribe(.init(request: 1, name: "groceries", logID: 0, revision: 0)))
        let subscribed = try web.message { if case .subscribed(let answer) = $0 { answer } else { nil } }
        let list = try await other.open("groceries")
        try await list.edit { _ in
            .inserting([Item(id: ItemID(rawValue: 2), content: .note("milk"))], at: 0, .after)
        }
        let first = try web.message { if case .commit(_, let commit) = $0 { commit } else { nil } }
        #expect(first.delta.items.map(\.content) == [.note("milk")])
        let item = Item(id: ItemID(rawValue: 4), content: .note("bread"))
        let delta = Delta.inserting([item], at: 1, .after)
        // In pieces, in fragments, with a ping between them.
        let frame = UpMessage.submit(.init(list: subscribed.list, base: 1, sequence: 1, delta: delta)).frame
        web.trickle(
            WebClient.frame(2, Array(frame[..<3]), isFinal: false) + WebClient.frame(9, [7])
                + WebClient.frame(0, Array(frame[3...])))
        // Who is there is told, too.
        var pong = try web.frame()
        while pong.opcode == 2 { pong = try web.frame() }
        #expect(pong == WebClient.Frame(opcode: 10, content: [7]))
        let second = try web.message { if case .commit(_, let commit) = $0 { commit } else { nil } }
        #expect(second.revision == 2 && second.delta.items.map(\.content) == [.note("bread")])
        let view = try await list.caughtUp(to: 2).view
        #expect(view.map(\.content) == [.note("milk"), .note("bread")])
        await other.close()
        #expect(server.terminate() == 0)
    }

    @Test func theSnapshotOfALongListArrives() async throws {
        let (server, port) = try serve()
        let other = try server.client("Bob")
        try await other.create("long", rules: Rules())
        let list = try await other.open("long")
        try await list.edit { _ in
            let items = (1...20_000).map { Item(id: ItemID(rawValue: $0 * 2), content: .note("item \($0)")) }
            return .inserting(items, at: 0, .after)
        }
        _ = try await list.settled()
        let web = try client(port, "Ada")
        web.send(.subscribe(.init(request: 1, name: "long", logID: 0, revision: 0)))
        var count = 0
        while count < 20_000 {
            count += try web.message { if case .chunk(_, let items) = $0 { items.count } else { nil } }
        }
        #expect(count == 20_000)
        await other.close()
        #expect(server.terminate() == 0)
    }

    /// With TLS, and through a proxy that says where clients come from, a WebSocket is a WebSocket. Small pieces share
    /// a record.
    @Test func webSocketsWorkOverTLSAndThroughProxies() throws {
        let certificates = try Certificates(folder)
        let own = try certificates.make("server", for: "IP:127.0.0.1")
        let (server, port) = try serve(
            ["--tls-cert", own.certificate, "--tls-key", own.key, "--trust-proxy", "127.0.0.1"])
        let secret = try token("create", "Ada", "--role", "write")
        let context = try TLSContext.client(authorities: certificates.authority)
        let loop = try Loop()
        var heard: [UInt8] = []
        var tls: TLSStream?
        TCP.connect(loop, to: try SocketAddress(ip: "127.0.0.1", port: port)) { result in
            guard case .success(let stream) = result else { return }
            stream.write([OutputBuffer(Array("PROXY TCP4 192.0.2.7 192.0.2.7 1 2\r\n".utf8))])
            tls = try? TLSStream(loop, stream, context, .client(of: "127.0.0.1"))
            tls?.open {
                if heard.isEmpty {
                    let hello = WebClient.frame(2, Self.hello("Ada", token: secret).frame)
                    tls?.write([OutputBuffer(hello)])
                }
                heard += $0
            } onEnd: { _ in
            }
            let head =
                "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            tls?.write([OutputBuffer(head.utf8)])
        }
        while heard.firstRange(of: Array("\r\n\r\n".utf8)).map({ heard[$0.upperBound...].count < 3 }) ?? true {
            loop.runOnce()
        }
        let end = try #require(heard.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound)
        #expect(String(decoding: heard[..<end], as: UTF8.self).hasPrefix("HTTP/1.1 101 "))
        // A binary message with the welcome.
        #expect(heard[end] == 0x82 && heard[end + 3] == 1)
        #expect(try server.figure("connections") == 1)
        tls?.close()
        loop.close()
        #expect(server.terminate() == 0)
    }

    // MARK: Requests

    /// The first line of a request, changed fields, and the status of the answer.
    static let requests: [(line: String, fields: [String: String?], status: String)] = [
        ("GET / HTTP/1.1", [:], "101"), ("GET /?x HTTP/1.1", ["Connection": "keep-alive, Upgrade"], "101"),
        ("GET / HTTP/1.1", ["Upgrade": "WebSocket"], "101"), ("GET / HTTP/1.1", ["Upgrade": "h2c, websocket"], "101"),
        ("GET / HTTP/1.1", ["Upgrade": nil], "200"), ("GET / HTTP/1.1", ["Connection": nil], "200"),
        ("GET / HTTP/1.1", ["Upgrade": "h2c"], "200"),
        ("GET / HTTP/1.1", ["Sec-WebSocket-Version": "8"], "426"),
        ("GET / HTTP/1.1", ["Sec-WebSocket-Version": nil], "426"),
        ("GET / HTTP/1.1", ["Sec-WebSocket-Key": nil], "400"), ("GET / HTTP/1.1", ["Sec-WebSocket-Key": "dGhl"], "400"),
        ("GET / HTTP/1.1", ["Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25j!Q=="], "400"),
        ("GET /nothing HTTP/1.1", [:], "404"), ("POST / HTTP/1.1", ["Upgrade": nil, "Connection": nil], "405"),
        ("POST / HTTP/1.1", [:], "400"), ("GET / HTTP/1.0", [:], "400"), ("GET / HTTP/2.0", [:], "400"),
        ("GET /", [:], "400"),
        // Bodies, and what two programs may read in two ways.
        ("GET / HTTP/1.1", ["Content-Length": "1"], "413"), ("GET / HTTP/1.1", ["Content-Length": "0"], "101"),
        ("GET / HTTP/1.1", ["Transfer-Encoding": "chunked"], "413"), ("GET / HTTP/1.1", ["Host": nil], "421"),
        ("GET / HTTP/1.1", ["X": "1\r\nHost: localhost"], "400"),
        ("GET / HTTP/1.1", ["X": "1\r\nOrigin: http://evil.example"], "400"),
        ("GET / HTTP/1.1", ["X": "1\r\n folded"], "400"),
        ("GET / HTTP/1.1", ["X": "1\r\n\tfolded"], "400"), ("GET / HTTP/1.1", ["X Y": "1"], "400"),
        ("GET / HTTP/1.1", ["Host ": "evil.example"], "400"),
        ("GET / HTTP/1.1", ["X": String(repeating: "x", count: 8_200)], "431"),
        // Other names of this machine.
        ("GET / HTTP/1.1", ["Host": "localhost:1", "Origin": "http://localhost:1"], "101"),
        ("GET / HTTP/1.1", ["Host": "[::1]", "Origin": "http://[::1]"], "101"),
        ("GET / HTTP/1.1", ["Host": "lists.example", "Origin": "http://lists.example"], "101"),
        ("GET / HTTP/1.1", ["Host": "LISTS.example", "Origin": "http://lists.example"], "101"),
        ("GET / HTTP/1.1", ["Host": "evil.example", "Origin": "http://evil.example"], "421"),
        ("GET / HTTP/1.1", ["Host": "127.0.0.1.evil.example", "Origin": "http://127.0.0.1.evil.example"], "421"),
        // Pages of other sites, and programs that say no site.
        ("GET / HTTP/1.1", ["Origin": "http://evil.example"], "403"), ("GET / HTTP/1.1", ["Origin": "null"], "403"),
        ("GET / HTTP/1.1", ["Origin": "http://127.0.0.1"], "403"), ("GET / HTTP/1.1", ["Origin": nil], "403"),
        ("GET / HTTP/1.1", ["Host": "127.0.0.1:9", "Origin": "https://127.0.0.1:9"], "403"),
    ]

    @Test func requestsAreFulfilledOrRefused() throws {
        let (server, port) = try serve(["--web-name", "lists.example"])
        for (line, fields, status) in Self.requests {
            let answer = try WebClient(port: port).upgrade(line, fields)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(line) \(fields): \(answer)")
            #expect(status != "426" || answer.lowercased().contains("\r\nupgrade: websocket\r\n"), "\(answer)")
        }
        #expect(server.terminate() == 0)
    }

    @Test func nothingComesBeforeTheAnswer() throws {
        let (server, port) = try serve()
        let client = try WebClient(port: port)
        client.write(
            Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nUpgrade: websocket\r\n".utf8))
        client.write(
            Array(
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    .utf8)
                + Array("\r\n".utf8) + WebClient.frame(2, [1]))
        #expect(try client.answer().hasPrefix("HTTP/1.1 400 "))
        #expect(server.terminate() == 0)
    }

    /// A connection that does not become a WebSocket in time is closed, and counts as one until then.
    @Test func slowRequestsEnd() throws {
        let (server, port) = try serve(["--handshake-timeout", "1", "--max-connections", "3"])
        let slow = try (0..<3).map { _ in try WebClient(port: port) }
        for client in slow { client.write(Array("GET / HTTP/1.1\r\nHost".utf8)) }
        #expect(slow.allSatisfy { $0.isClosedByServer })
        _ = try client(port, "Ada")
        #expect(server.terminate() == 0)
    }

    /// Requests that are not complete count as connections of their address.
    @Test func unfinishedRequestsOfOneAddressAreLimited() throws {
        let (server, port) = try serve(["--trust-proxy", "127.0.0.1", "--max-connections-per-address", "3"])
        func client(_ address: String) throws -> WebClient {
            let client = try WebClient(port: port)
            client.write(Array("PROXY TCP4 \(address) 192.0.2.1 1 2\r\nGET / HTTP/1.1\r\n".utf8))
            return client
        }
        let slow = try (0..<3).map { _ in try client("192.0.2.7") }
        // The server has read what came before this.
        let other = try client("192.0.2.8")
        let fields =
            "Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        other.write(Array(fields.utf8))
        #expect(try other.answer().hasPrefix("HTTP/1.1 101 "))
        #expect(try client("192.0.2.7").isClosedByServer)
        slow[0].write(Array(fields.utf8))
        #expect(try slow[0].answer().hasPrefix("HTTP/1.1 101 "))
        #expect(server.terminate() == 0)
    }

    // MARK: Ends

    @Test(
        arguments: [
            ([0x81, 0x81, 0, 0, 0, 0, 0x61], 1003), ([0x82, 0x01, 0x61], 1002), ([0x83, 0x80, 0, 0, 0, 0], 1002),
        ]
            as [([UInt8], Int)])
    func brokenFramesEndTheConnection(_ bytes: [UInt8], _ code: Int) throws {
        let (server, port) = try serve()
        let web = try client(port, "Ada")
        web.write(bytes)
        var frame = try web.frame()
        while frame.opcode == 2 { frame = try web.frame() }
        #expect(frame.code == code)
        #expect(web.isClosedByServer)
        _ = try client(port, "Bob")
        #expect(server.terminate() == 0)
    }

    /// What the protocol itself refuses is told in its own words, and then by the code of the end.
    @Test func errorsAreToldInTheProtocol() throws {
        let (server, port) = try serve()
        let web = try WebClient(port: port)
        try web.upgrade()
        web.write(WebClient.frame(2, [5, 1] + Array("HTTP".utf8)))
        let code = try web.message { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
        #expect(code == .notHand)
        #expect(try web.frame().code == 1008)
        web.write(WebClient.frame(8, [0x03, 0xF0]))
        #expect(web.isClosedByServer)
        #expect(server.terminate() == 0)
    }

    @Test func aServerThatStopsSaysComeBack() async throws {
        let (server, port) = try serve()
        let web = try client(port, "Ada")
        server.signal(SIGTERM)
        let code = try web.message { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
        #expect(code == .shuttingDown)
        #expect(try web.frame().code == 1012)
        web.write(WebClient.frame(8, [0x03, 0xF4]))
        #expect(web.isClosedByServer)
        #expect(server.waitForEnd() == 0)
    }

    /// An error after which a client may come back has a code that says so.
    @Test func whoSaysNoHelloMayComeBack() throws {
        let (server, port) = try serve(["--handshake-timeout", "1"])
        let web = try WebClient(port: port)
        try web.upgrade()
        let code = try web.message { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
        #expect(code == .handshakeTimeout)
        #expect(try web.frame().code == 1013)
        #expect(server.terminate() == 0)
    }

    /// A proxy on the server's machine passes on what comes from anywhere: that is no guest of this machine.
    @Test(arguments: ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
    func whatAProxyPassesOnIsNotLocal(_ field: String) throws {
        let (server, port) = try serve()
        let web = try WebClient(port: port)
        try web.upgrade("GET / HTTP/1.1", [field: "8.8.8.8"])
        web.send(Self.hello("Eve"))
        let code = try web.message { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
        #expect(code == .notAuthenticated)
        #expect(server.terminate() == 0)
    }

    @Test func aRevokedTokenSaysStayAway() throws {
        let (server, port) = try serve()
        let secret = try token("create", "Ada", "--role", "write")
        let web = try client(port, "Ada", token: secret)
        let id = try token("list").split(separator: "\n").first { $0.contains("Ada") }?.prefix { $0 != " " }
        _ = try token("revoke", String(try #require(id)))
        let code = try web.message { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
        #expect(code == .notAuthenticated)
        #expect(try web.frame().code == 1008)
        #expect(server.terminate() == 0)
    }

    /// A million pings, whose answers nobody reads, take no memory.
    @Test func pingsToADeafClientTakeNoMemory() throws {
        let (server, port) = try serve()
        let deaf = try client(port, "Ada")
        let before = try server.figure("residentBytes")
        let pings = (0..<10_000).flatMap { _ in WebClient.frame(9, [UInt8](repeating: 7, count: 20)) }
        let thread = deaf.writing(pings, times: 100)
        for number in 0..<50 { _ = try client(port, "P\(number)") }
        #expect(try server.figure("residentBytes") < before + (20 << 20))
        server.kill()
        while !thread.isFinished { usleep(10_000) }
    }
}
