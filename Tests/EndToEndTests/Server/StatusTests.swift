import EventLoop
import Foundation
import HTTP
import HandClient
import HandCore
import HandTestSupport
import Testing

/// The server's status over HTTP.
@Suite(.serialized) struct StatusTests {
    private static func server(
        _ folder: TemporaryFolder, _ options: [String] = []
    ) throws -> (server: RunningServer, status: SocketAddress) {
        let server = try RunningServer(folder, ["--status", "127.0.0.1:0"] + options)
        let port = try #require(server.greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\/metrics/)?.1)
        return (server, try SocketAddress(ip: "127.0.0.1", port: try #require(UInt16(port))))
    }

    /// Sends bytes, and returns the answer until the server closes the connection.
    private static func answer(to request: String, at address: SocketAddress, thenEnd: Bool = false) throws -> String {
        let loop = try Loop()
        defer { loop.close() }
        var answer: [UInt8] = []
        TCP.connect(loop, to: address) { result in
            guard case .success(let stream) = result else { return }
            stream.open {
                answer.append(contentsOf: $0)
            } onEnd: { [unowned stream] _ in
                stream.close()
            }
            stream.write([OutputBuffer(Array(request.utf8))])
            if thenEnd { stream.shutdown() }
        }
        loop.run()
        return String(decoding: answer, as: UTF8.self)
    }

    private static func get(_ path: String, at address: SocketAddress) throws -> String {
        try answer(to: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", at: address)
    }

    @Test func eachRequestGetsItsStatusCode() throws {
        let (server, status) = try Self.server(try TemporaryFolder())
        defer { server.kill() }
        #expect(try Self.get("/healthz", at: status).hasSuffix("\r\n\r\nok\n"))
        #expect(try Self.get("/readyz?why", at: status).hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(try Self.get("/", at: status).hasPrefix("HTTP/1.1 404 "))
        #expect(try Self.answer(to: "POST /metrics HTTP/1.1\r\n\r\n", at: status).hasPrefix("HTTP/1.1 405 "))
        #expect(try Self.answer(to: "HEAD /healthz HTTP/1.1\r\n\r\n", at: status).hasSuffix("\r\n\r\n"))
        for nonsense in ["\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9\r\n\r\n", "\u{1}\u{2}\r\n\r\n"] {
            #expect(try Self.answer(to: nonsense, at: status).hasPrefix("HTTP/1.1 400 "), "\(nonsense)")
        }
        let long = String(repeating: "x", count: 9_000)
        #expect(try Self.answer(to: "GET /\(long)", at: status).hasPrefix("HTTP/1.1 431 "))
        #expect(try Self.answer(to: "GET /", at: status, thenEnd: true).isEmpty)
    }

    /// Whoever watches the server learns early enough that its certificate ends.
    @Test func theEndOfTheCertificateIsAFigure() throws {
        let folder = try TemporaryFolder()
        let own = try Certificates(folder).make("server", for: "IP:127.0.0.1", days: 3)
        let options = ["--listen", "127.0.0.1:0", "--tls-cert", own.certificate, "--tls-key", own.key]
        let (server, status) = try Self.server(folder, options)
        defer { server.kill() }
        let page = try Self.get("/metrics", at: status)
        let end = try #require(page.firstMatch(of: /\nhand_certificate_end_seconds ([0-9]+)/)?.1)
        let days = (try #require(Double(end)) - Date().timeIntervalSince1970) / 86_400
        #expect((2.9...3).contains(days))
    }

    /// Every line of the page is a comment, or a name, perhaps labels, and a number; each figure is explained.
    @Test func figuresAreInPrometheusFormat() throws {
        let (server, status) = try Self.server(try TemporaryFolder())
        defer { server.kill() }
        let page = try Self.get("/metrics", at: status)
        let body = try #require(page.components(separatedBy: "\r\n\r\n").last)
        var explained: Set<Substring> = []
        for line in body.split(separator: "\n") {
            if line.hasPrefix("# HELP ") {
                explained.insert(line.split(separator: " ")[2])
            } else if !line.hasPrefix("# TYPE ") {
                let sample = try #require(
                    try /([a-z_]+)(\{[a-z]+="[^"\\]*"\})? ([0-9.e+-]+)/.wholeMatch(in: line), "\(line)")
                let name = sample.1
                let isPart = ["_bucket", "_sum", "_count"].contains {
                    name.hasSuffix($0) && explained.contains(name.dropLast($0.count))
                }
                #expect(explained.contains(name) || isPart, "\(name)")
            }
        }
        #expect(explained.contains("hand_commits_total") && explained.contains("process_cpu_seconds_total"))
    }

    /// Each edit that arrives counts, also one that is rejected because of its user's role.
    @Test func rejectedEditsCountAsSubmitted() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "milk")
        try ada.hand("token", "guests", "--local", "read", "--data", ada.server.folder.path + "/data")
        try ada.hand("add", "bread", expecting: 5)
        #expect(try ada.server.figure("submissions") == 2)
        #expect(try ada.server.figure("notAllowed") == 1)
    }

    /// The duration of each commit is reported once.
    @Test func eachCommitIsTimedOnce() async throws {
        let (server, status) = try Self.server(try TemporaryFolder())
        defer { server.kill() }
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        for number in 1...5 {
            try await list.edit { _ in
                let item = Item(id: ItemID(rawValue: UInt64(number)), content: .note("x"))
                return Delta.inserting([item], at: 0, .after)
            }
            _ = try await list.settled()
        }
        await client.close()
        let page = try Self.get("/metrics", at: status)
        for figure in ["hand_commits_total", "hand_commit_seconds_count"] {
            #expect(page.contains("\n\(figure) 5\n"), "\(page)")
        }
    }

    /// The server's counts equal those of its clients, and a load test reports both.
    @Test func aLoadTestAsksTheServerToo() throws {
        let (server, status) = try Self.server(try TemporaryFolder())
        defer { server.kill() }
        let outcome = try Binary.run([
            "load", "--url", "hand+unix://\(server.socket)", "--clients", "3", "--duration", "1s", "--json",
            "--server-status", "\(status)",
        ])
        #expect(outcome.status == 0, "\(outcome.messages)")
        struct Summary: Decodable {
            struct Server: Decodable {
                let commits, deliveries, writes, residentBytes: Int
            }
            let commits, deliveries: Int
            let server: Server
        }
        let last = try #require(outcome.output.split(separator: "\n").last)
        let summary = try JSONDecoder().decode(Summary.self, from: Data(last.utf8))
        // Edits in flight at the end are counted only by the server, one for each client; edits in flight at the
        // beginning are counted only by the clients.
        #expect(summary.commits > 0 && (-3...3).contains(summary.server.commits - summary.commits))
        // These are sent to three clients, and so are the messages that were under way.
        #expect((-30...30).contains(summary.server.deliveries - summary.deliveries))
        #expect(summary.server.writes > 0 && summary.server.residentBytes > 0)
        let nobody = try Binary.run([
            "load", "--url", "hand+unix://\(server.socket)", "--clients", "1", "--duration", "1s", "--server-status",
            "127.0.0.1:1",
        ])
        #expect(nobody.status != 0 && nobody.messages.contains("figures"))
    }

    /// A truncated answer counts as none.
    @Test func aTruncatedAnswerIsRejected() throws {
        for (answer, reason) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "its answer is incomplete"),
            ("SSH-2.0\r\n", "another program answers there"),
            ("", "it closed the connection without an answer"),
        ] {
            let loop = try Loop()
            defer { loop.close() }
            var listener: Listener?
            listener = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { stream in
                listener?.close()
                stream.open { [unowned stream] _ in
                    stream.write([OutputBuffer(Array(answer.utf8))])
                    stream.shutdown { [unowned stream] _ in stream.close() }
                } onEnd: { _ in
                }
            }
            let address = try #require(listener?.localAddress)
            var problem: String?
            HTTPExchange(loop, at: .tcp(address), "/report") { result in
                if case .failure(let failure) = result { problem = failure.description }
            }
            loop.run()
            #expect(problem == reason)
        }
    }

    /// Silent clients are turned away after a while, and do not keep others from asking.
    @Test func silentVisitorsDoNoHarm() throws {
        let (server, status) = try Self.server(try TemporaryFolder())
        defer { server.kill() }
        let loop = try Loop()
        defer { loop.close() }
        var (open, closed) = (0, 0)
        for _ in 0..<100 {
            TCP.connect(loop, to: status) { result in
                guard case .success(let stream) = result else { return }
                open += 1
                stream.open { _ in
                } onEnd: { [unowned stream] _ in
                    closed += 1
                    stream.close()
                }
            }
        }
        loop.run()
        #expect(open == 100 && closed == 100)
        #expect(try Self.get("/healthz", at: status).hasSuffix("ok\n"))
    }

    /// A visitor that waits for an answer is not dropped: one visitor too many is turned away, until somebody has left.
    @Test func oneRequestTooManyIsTurnedAway() throws {
        let loop = try Loop()
        defer { loop.close() }
        var owed: [(HTTPEndpoint.Page) -> Void] = []
        var answers: [String] = []
        var endpoint: HTTPEndpoint?
        func ask(_ then: @escaping () -> Void) {
            guard let address = endpoint?.localAddress else { return }
            HTTPExchange(loop, at: .tcp(address), "/", timeout: 300_000) { result in
                answers.append((try? result.get().body) ?? "turned away")
                then()
            }
        }
        endpoint = try HTTPEndpoint(loop, at: .tcp(SocketAddress(ip: "127.0.0.1", port: 0)), maxConnections: 2) {
            owed.append($1)
            switch owed.count {
            // One after the other, so that two are waiting when the third arrives.
            case 1: ask { endpoint?.close() }
            case 2: ask { owed[0](.init(body: "first")) }
            default: $1(.init(body: "third"))
            }
        }
        ask {
            // Now there is room again.
            ask { owed[1](.init(body: "second")) }
        }
        loop.run()
        #expect(answers == ["turned away", "first", "third", "second"])
    }

    /// A visitor that does not close after the answer, or does not even read it, is closed after a while.
    @Test(.timeLimit(.minutes(1)), arguments: [1, 32 << 20]) func slowReadersAreClosed(bytes: Int) throws {
        let loop = try Loop()
        defer { loop.close() }
        let body = String(repeating: "x", count: bytes)
        var answered = 0
        let endpoint = try HTTPEndpoint(loop, at: .tcp(SocketAddress(ip: "127.0.0.1", port: 0)), timeout: 50) {
            answered += 1
            $1(.init(body: body))
        }
        var streams: [EventLoop.Stream] = []
        for _ in 0..<3 {
            TCP.connect(loop, to: try #require(endpoint.localAddress)) { result in
                guard case .success(let stream) = result else { return }
                streams.append(stream)
                stream.write([OutputBuffer(Array("GET / HTTP/1.1\r\n\r\n".utf8))])
            }
        }
        let look = EventLoop.Timer(loop)
        look.start(after: 10, repeating: 10) {
            guard answered == 3, endpoint.connectionCount == 0 else { return }
            look.close()
            endpoint.close()
            for stream in streams { stream.close() }
        }
        loop.run()
        #expect(answered == 3 && endpoint.connectionCount == 0)
    }

    /// However often it is asked for, a page is made now and then, and everybody gets one that was made later than they
    /// asked.
    @Test func aCostlyPageIsMadeNowAndThen() throws {
        let loop = try Loop()
        defer { loop.close() }
        var (made, answers) = (0, [Int: Int]())
        let page = PacedPage(loop) {
            made += 1
            return .init(body: "\(made)")
        }
        for number in 0..<20 {
            let before = made
            page.answer {
                answers[number] = Int(String(decoding: $0.body, as: UTF8.self))
                #expect(answers[number] ?? 0 > before)
                if answers.count == 20 { page.close() }
            }
        }
        #expect(made == 1)
        loop.run()
        #expect(made == 2 && answers.count == 20)
        // Many do not wait.
        let crowded = PacedPage(loop) {
            made += 1
            return .init(body: "")
        }
        var served = 0
        for _ in 0..<640 { crowded.answer { _ in served += 1 } }
        #expect((570...640).contains(served) && made <= 2 + 11)
        crowded.close()
    }

    /// A web page under another name cannot make a browser read the figures.
    @Test func figuresAreForKnownNames() throws {
        let server = try RunningServer(
            try TemporaryFolder(), ["--status", "127.0.0.1:0", "--status-name", "hand.example"])
        defer { server.kill() }
        let port = try #require(server.greeting.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\/metrics/)?.1)
        let status = try SocketAddress(ip: "127.0.0.1", port: try #require(UInt16(port)))
        func code(_ host: String) throws -> Substring {
            try Self.answer(to: "GET /metrics HTTP/1.1\r\n\(host)\r\n\r\n", at: status).dropFirst(9).prefix(3)
        }
        for host in [
            "evil.example", "evil.example:9177", "127.0.0.1.evil.example", "hand.example.evil", "", "127.0.0.1:1, evil",
            "[::1].evil.example", "[::1]:1.evil.example", "[fe80::1%evil.example]", "[fe80::1%1]",
        ] {
            #expect(try code("Host: \(host)") == "421", "\(host)")
        }
        for host in ["127.0.0.1:\(port)", "10.0.0.1", "[::1]:1", "localhost:9", "Hand.example:1", "LOCALHOST"] {
            #expect(try code("host:  \(host)") == "200", "\(host)")
        }
        #expect(try code("Accept: */*") == "200")
    }

    /// An answer may take longer than a visitor has for asking.
    @Test func anAnswerMayTakeLong() throws {
        let loop = try Loop()
        defer { loop.close() }
        var answer: String?
        var endpoint: HTTPEndpoint?
        endpoint = try HTTPEndpoint(loop, at: .tcp(SocketAddress(ip: "127.0.0.1", port: 0))) { _, page in
            guard let address = endpoint?.localAddress else { return }
            // A silent visitor that arrives later has left by then.
            TCP.connect(loop, to: address) { result in
                guard case .success(let stream) = result else { return }
                stream.open { _ in
                } onEnd: { [unowned stream] _ in
                    stream.close()
                    page(.init(body: "late"))
                }
            }
        }
        let address = try #require(endpoint?.localAddress)
        HTTPExchange(loop, at: .tcp(address), "/", timeout: 300_000) { result in
            answer = try? result.get().body
            endpoint?.close()
        }
        loop.run()
        #expect(answer == "late")
    }

    /// However many clients are silent or do not read their answers, a request is answered.
    @Test(arguments: ["", "GET /", "GET /metrics HTTP/1.1\r\n\r\n"])
    func silentVisitorsMakeRoom(request: String) throws {
        let (server, status) = try Self.server(try TemporaryFolder())
        defer { server.kill() }
        let loop = try Loop()
        defer { loop.close() }
        var answer: [UInt8] = []
        // One after the other, so that they arrive in this order.
        func idle(_ count: Int) {
            guard count > 0 else { return ask() }
            TCP.connect(loop, to: status) { result in
                guard case .success(let stream) = result else { return }
                if !request.isEmpty { stream.write([OutputBuffer(Array(request.utf8))]) }
                // The answers are not read.
                if !request.hasSuffix("\n") {
                    stream.open { _ in
                    } onEnd: { _ in
                    }
                }
                idle(count - 1)
            }
        }
        func ask() {
            TCP.connect(loop, to: status) { result in
                guard case .success(let stream) = result else { return }
                stream.open {
                    answer.append(contentsOf: $0)
                } onEnd: { _ in
                    loop.stop()
                }
                stream.write([OutputBuffer(Array("GET /healthz HTTP/1.1\r\n\r\n".utf8))])
            }
        }
        idle(300)
        loop.run()
        #expect(String(decoding: answer, as: UTF8.self).hasSuffix("ok\n"))
    }
}
