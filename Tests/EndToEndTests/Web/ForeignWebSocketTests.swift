import Foundation
import HandTestSupport
import Testing

private let python = "/usr/bin/python3"
private let hasLibraries = (try? Binary.run(["-c", "import websockets, wsproto"], program: python).status) == 0

/// Clients with WebSockets that other people wrote (`Tests/Programs/WebSockets`), with and without TLS. Needs Debian's
/// python3-wsproto and python3-websockets.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasLibraries, "no python3-wsproto and python3-websockets"))
struct ForeignWebSocketTests {
    private static let folder = Project.root.appending(path: "Tests/Programs/WebSockets")

    private let folder: TemporaryFolder
    private let certificates: Certificates

    init() throws {
        folder = try TemporaryFolder()
        certificates = try Certificates(folder)
    }

    private func serve(secure: Bool) throws -> (server: RunningServer, url: String) {
        var options = ["--web", "127.0.0.1:0"]
        if secure {
            let own = try certificates.make("server", for: "IP:127.0.0.1")
            options += ["--tls-cert", own.certificate, "--tls-key", own.key]
        }
        let server = try RunningServer(folder, options, logPath: folder.path + "/log")
        let page = try #require(server.greeting.firstMatch(of: /http(s?:\/\/127\.0\.0\.1:[0-9]+)/)?.1)
        return (server, "ws\(page)")
    }

    private func stranger(
        _ mode: String, _ url: String, _ arguments: String..., meanwhile: () throws -> Void = {}
    ) throws -> [String] {
        try run("strangers.py", [mode, url] + arguments, meanwhile: meanwhile)
    }

    /// - Parameter meanwhile: called while the program runs.
    private func run(_ script: String, _ arguments: [String], meanwhile: () throws -> Void = {}) throws -> [String] {
        let (client, output) = (Process(), Pipe())
        client.executableURL = URL(fileURLWithPath: python)
        client.arguments = [Self.folder.appending(path: script).path] + arguments
        client.environment = ["HAND_CA": certificates.authority, "PYTHONIOENCODING": "utf-8"]
        client.standardOutput = output
        try client.run()
        try meanwhile()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        client.waitUntilExit()
        #expect(client.terminationStatus == 0)
        return text.split(separator: "\n").map(String.init)
    }

    private func hand(_ arguments: String..., on server: RunningServer) throws {
        let environment = ["HAND_URL": "hand+unix://\(server.socket)", "XDG_STATE_HOME": folder.path + "/state"]
        let outcome = try Binary.run(arguments, environment: environment)
        #expect(outcome.status == 0, "\(outcome.messages)")
    }

    /// Autobahn's cases, with frames that websockets makes and wsproto reads.
    @Test(arguments: [false, true]) func theCasesOfAutobahnPass(secure: Bool) throws {
        let (server, url) = try serve(secure: secure)
        let lines = try run("cases.py", [url])
        #expect(lines == ["101 cases, 0 failed"])
        #expect(server.terminate() == 0)
    }

    /// Messages in fragments around pings, sent byte by byte.
    @Test(arguments: [false, true]) func choppedMessagesAreRead(secure: Bool) throws {
        let (server, url) = try serve(secure: secure)
        try hand("create", "groceries", on: server)
        #expect(
            try stranger("chopped", url, "groceries", "milk", "Käse") == [
                "committed milk", "committed Käse", "closed 1000 last ping answered True", "- milk", "- Käse",
            ])
        #expect(server.terminate() == 0)
    }

    /// A client that would like to compress, and sends pings all the time.
    @Test(arguments: [false, true]) func aLongListArrives(secure: Bool) throws {
        let (server, url) = try serve(secure: secure)
        try (1...20_000).map { "\($0)\n" }.joined()
            .write(toFile: folder.path + "/long.txt", atomically: true, encoding: .utf8)
        try hand("create", "long", on: server)
        try hand("import", folder.path + "/long.txt", "-l", "long", on: server)
        #expect(try stranger("snapshot", url, "long", "20000") == ["items 20000 compression [] closed 1000"])
        #expect(server.terminate() == 0)
    }

    /// A token that is not one: the error, and a code that says stay away.
    @Test(arguments: [false, true]) func aWrongTokenIsRefused(secure: Bool) throws {
        let (server, url) = try serve(secure: secure)
        #expect(try stranger("end", url, "nonsense") == ["messages 14 closed 1008"])
        #expect(server.terminate() == 0)
    }

    /// A server that stops says so, and its code says come back.
    @Test(arguments: [false, true]) func aServerThatStopsIsUnderstood(secure: Bool) throws {
        let (server, url) = try serve(secure: secure)
        let lines = try stranger("end", url, "") {
            let isThere = try eventually { try server.figure("connections") == 1 }
            #expect(isThere)
            server.signal(SIGTERM)
        }
        let end = try #require(lines.last)
        #expect(end.hasPrefix("messages ") && end.hasSuffix(" 14 closed 1012"), "\(end)")
        #expect(server.waitForEnd() == 0)
    }
}
