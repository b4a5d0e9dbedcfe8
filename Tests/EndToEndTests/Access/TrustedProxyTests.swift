import EventLoop
import FaultyNetwork
import Foundation
import HandTestSupport
import HandWire
import Testing

/// A server behind a proxy that reports the origin of the connections it forwards.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TrustedProxyTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func serve(_ options: [String] = []) throws -> (server: RunningServer, address: SocketAddress) {
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--listen", "127.0.0.1:0"] + options, logPath: log)
        let port = try #require(server.greeting.firstMatch(of: /hands?:\/\/127\.0\.0\.1:([0-9]+)/)?.1)
        return (server, try SocketAddress(ip: "127.0.0.1", port: try #require(UInt16(port))))
    }

    /// Starts a proxy that sends this header first, a few bytes at a time.
    private func proxy(to address: SocketAddress, saying greeting: [UInt8]) throws -> FaultyProxy {
        var faults = Faults()
        faults.up.greeting = greeting
        faults.up.pieceBytes = 1...9
        return try FaultyProxy(to: address, seed: 1, faults: faults)
    }

    private static func line(_ ip: String) -> [UInt8] {
        Array("PROXY \(ip.contains(":") ? "TCP6" : "TCP4") \(ip) \(ip) 4711 7777\r\n".utf8)
    }

    private func hand(
        _ words: [String], at address: SocketAddress, token: String? = nil, scheme: String = "hand", timeout: Int = 60
    ) throws -> Binary.Outcome {
        var environment = ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        environment["HAND_TOKEN"] = token
        environment["HAND_CA"] = folder.path + "/ca.pem"
        return try Binary.run(
            words + ["--url", "\(scheme)://\(address)", "--timeout", "\(timeout)"], environment: environment)
    }

    private func token(_ name: String) throws -> String {
        let made = try Binary.run(["token", "create", name, "--role", "admin", "--data", folder.path + "/data"])
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns the answer to bytes, until the server closes the connection.
    private func answer(to bytes: [UInt8], at address: SocketAddress) throws -> [DownMessage] {
        let loop = try Loop()
        defer { loop.close() }
        var (heard, reader): ([DownMessage], FrameReader) = ([], FrameReader(limit: 1 << 20))
        TCP.connect(loop, to: address) { result in
            guard case .success(let stream) = result else { return }
            stream.open { bytes in
                try? reader.read(bytes) { (body) throws(WireError) -> Bool in
                    heard.append(try DownMessage(body))
                    return true
                }
            } onEnd: { [unowned stream] _ in
                stream.close()
            }
            stream.write([OutputBuffer(bytes)])
        }
        loop.run()
        return heard
    }

    /// Clients behind the proxy count under their own addresses: they are not local, and do not have the proxy's
    /// address.
    @Test func clientsHaveTheAddressesThatTheProxyReports() throws {
        let token = try token("ada")
        let audit = folder.path + "/audit"
        let (server, address) = try serve(["--trust-proxy", "127.0.0.0/8", "--max-failures", "1", "--audit", audit])
        defer { server.kill() }
        let first = try proxy(to: address, saying: Self.line("203.0.113.7"))
        let second = try proxy(to: address, saying: Self.line("2001:db8::8"))
        for proxy in [first, first, second] {
            #expect(try hand(["lists"], at: proxy.address, token: "hand-wrong").status == 5)
        }
        // The second failure of an address is no longer logged; a valid token gets in all the same.
        func failures(_ address: String) throws -> Int {
            try String(contentsOfFile: audit, encoding: .utf8).split(separator: "\n")
                .count { $0.contains("turnedAway") && $0.contains(address) }
        }
        #expect(try eventually { try failures("2001:db8::8") == 1 })
        #expect(try failures("203.0.113.7") == 1)
        #expect(try hand(["lists"], at: first.address, token: token).status == 0)
        #expect(try hand(["create", "groceries"], at: second.address, token: token).status == 0)
        let report = try Binary.run(["admin", "connections", "--data", folder.path + "/data"])
        #expect(report.status == 0, "\(report.messages)")
    }

    /// Local guests may do everything, but no client behind a proxy is local.
    @Test(arguments: ["127.0.0.1", "::1", ""]) func clientsBehindAProxyAreNotLocal(ip: String) throws {
        let (server, address) = try serve(["--trust-proxy", "127.0.0.1"])
        defer { server.kill() }
        let local: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x20, 0, 0, 0]
        let proxy = try proxy(to: address, saying: ip.isEmpty ? local : Self.line(ip))
        let refused = try hand(["create", "groceries"], at: proxy.address)
        #expect(refused.status == 5 && refused.messages.contains("asks for a token"), "\(refused.messages)")
        let url = "hand+unix://\(server.socket)"
        #expect(try Binary.run(["create", "groceries", "--url", url]).status == 0)
    }

    /// The header comes before TLS, and bytes that arrive together with it belong to TLS.
    @Test func theHeaderComesBeforeTLS() throws {
        let own = try Certificates(folder).make("server", for: "IP:127.0.0.1")
        let token = try token("ada")
        let (server, address) = try serve([
            "--trust-proxy", "127.0.0.1", "--tls-cert", own.certificate, "--tls-key", own.key,
        ])
        defer { server.kill() }
        for isDivided in [true, false] {
            let proxy = try proxy(to: address, saying: Self.line("203.0.113.7"))
            if !isDivided { proxy.change { $0.up.pieceBytes = nil } }
            let outcome = try hand(["create", "l\(isDivided)"], at: proxy.address, token: token, scheme: "hands")
            #expect(outcome.status == 0, "\(outcome.messages)")
        }
    }

    /// Where a header is required, anything else is refused; where none is allowed, a header is.
    @Test func missingAndUnexpectedHeadersAreRefused() throws {
        let hello = UpMessage.hello(
            .init(
                client: .init(high: 1, low: 2), person: "ada", program: "test", token: nil)
        ).frame
        // Refused connections make room: there are more of them than the server takes at a time.
        let (server, address) = try serve([
            "--trust-proxy", "127.0.0.1", "--handshake-timeout", "0.2", "--max-connections", "3",
        ])
        defer { server.kill() }
        var garbage: [[UInt8]] = [hello, Array("GET / HTTP/1.1\r\n\r\n".utf8), [0], Self.line("1.2.3") + hello]
        garbage += [Self.line("1.2.3.4").dropLast(2) + [UInt8](repeating: 0x31, count: 9_000)]
        // Nothing at all, and the beginning of a header.
        garbage += [[], Array("PROXY TCP4 1.2".utf8)]
        for bytes in garbage {
            let heard = try answer(to: bytes, at: address)
            guard case .error(.notHand, _, _, _, let text)? = heard.first, heard.count == 1 else {
                Issue.record("\(bytes.prefix(20)): \(heard)")
                continue
            }
            #expect(text.contains("PROXY header"))
        }
        #expect(try answer(to: Self.line("1.2.3.4") + hello, at: address).count == 1)
        #expect(try String(contentsOfFile: folder.path + "/log", encoding: .utf8).isEmpty, "only warnings are logged")
        #expect(server.terminate() == 0)

        let (other, open) = try serve(["--trust-proxy", "127.0.0.9", "--trust-proxy", "10.0.0.0/8"])
        defer { other.kill() }
        for ip in ["203.0.113.7", "127.0.0.1"] {
            let heard = try answer(to: Self.line(ip) + hello, at: open)
            #expect(heard.count == 1 && !heard.contains { if case .welcome = $0 { true } else { false } }, "\(heard)")
        }
        #expect(try hand(["lists"], at: open).status == 0)
    }

    /// The time for the header is over once the header is there: the connection stays as long as any other.
    @Test func aConnectionOutlivesTheTimeForItsHeader() throws {
        let secret = try token("ada")
        let (server, address) = try serve([
            "--trust-proxy", "127.0.0.1", "--handshake-timeout", "0.2", "--idle-timeout", "1", "--drain-timeout", "0.2",
        ])
        defer { server.kill() }
        let hello = UpMessage.hello(
            .init(
                client: .init(high: 1, low: 2), person: "ada", program: "test", token: secret)
        ).frame
        let heard = try answer(to: Self.line("203.0.113.7") + hello, at: address)
        guard case .welcome? = heard.first, case .error(.idleTimeout, _, _, _, _)? = heard.last else {
            Issue.record("\(heard)")
            return
        }
    }

    @Test func trustedProxiesAreASetting() throws {
        let file = folder.path + "/serve.toml"
        try "trust-proxy = [\"10.0.0.0/8\", \"::1\"]\n".write(toFile: file, atomically: true, encoding: .utf8)
        let set = try Binary.run(["serve", "--config", file, "--print-config"])
        #expect(set.output.contains("trust-proxy = [\"10.0.0.0/8\", \"::1\"]  # \(file)"), "\(set.output)")
        let wrong = try Binary.run(
            ["serve", "--data", folder.path + "/data"],
            environment: ["HAND_TRUST_PROXY": "10.0.0.0/8,proxy.example.org"])
        #expect(
            wrong.status == 2 && wrong.messages.contains("--trust-proxy: 'proxy.example.org'"),
            "\(wrong.status) \(wrong.messages)")
    }
}
