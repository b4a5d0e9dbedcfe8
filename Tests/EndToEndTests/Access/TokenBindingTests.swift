import Foundation
import HandTestSupport
import Testing

/// A secret is sent to the server that it is for, and to no other.
@Suite(.serialized) struct TokenBindingTests {
    private let folder: TemporaryFolder
    private let server: RunningServer
    private let secret: String
    private var url: String { "hand+unix://\(server.socket)" }

    /// Starts a server that admits nobody without the token.
    init() throws {
        folder = try TemporaryFolder()
        let data = folder.path + "/data"
        secret = try Binary.run(["token", "create", "ada", "--role", "admin", "--data", data]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try Binary.run(["token", "guests", "--local", "none", "--data", data])
        server = try RunningServer(folder)
    }

    private func lists(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws -> Binary.Outcome {
        let folders = ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path + "/config"]
        return try Binary.run(["lists"] + arguments, environment: folders.merging(environment) { $1 })
    }

    private func configure(_ lines: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder.path + "/config/hand", withIntermediateDirectories: true)
        let file = folder.path + "/config/hand/config.toml"
        try lines.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(chmod(file, 0o600) == 0)
    }

    private static let other = "hands://lists.example.org"

    @Test func theVariableIsForTheServerOfTheVariable() throws {
        defer { server.kill() }
        #expect(try lists([], ["HAND_URL": url, "HAND_TOKEN": secret]).status == 0)
        #expect(try lists(["--url", url], ["HAND_TOKEN": secret]).status == 0)
        let kept = try lists(["--url", url], ["HAND_URL": Self.other, "HAND_TOKEN": secret])
        #expect(kept.status == 5 && kept.messages.contains("it is for \(Self.other)"), "\(kept.messages)")
        try configure("url = \"\(Self.other)\"")
        #expect(try lists(["--url", url], ["HAND_TOKEN": secret]).status == 5)
        #expect(try lists([], ["HAND_URL": url, "HAND_TOKEN": secret]).status == 0)
        #expect(try lists(["--url", url + "#" + secret], ["HAND_URL": Self.other]).status == 0, "a link has its token")
    }

    @Test func theFilesTokenIsForTheFilesServer() throws {
        defer { server.kill() }
        try configure("url = \"\(Self.other)\"\ntoken = \"\(secret)\"")
        let kept = try lists(["--url", url])
        #expect(kept.status == 5 && kept.messages.contains("config.toml was not sent"), "\(kept.messages)")
        #expect(try lists([], ["HAND_URL": url]).status == 5)
        try configure("url = \"\(url)\"\ntoken = \"\(secret)\"")
        #expect(try lists().status == 0)
        try configure("token = \"\(secret)\"")
        #expect(try lists([], ["HAND_URL": url]).status == 0)
        #expect(try lists(["--url", url]).status == 5, "it is not known to be for this server")
        #expect(chmod(folder.path + "/config/hand/config.toml", 0o644) == 0)
        #expect(try lists([], ["HAND_URL": url]).messages.contains("chmod 600"))
    }

    @Test func theVariableTakesPrecedenceOverTheFile() throws {
        defer { server.kill() }
        try configure("url = \"\(url)\"\ntoken = \"wrong\"")
        #expect(try lists().status == 5)
        #expect(try lists([], ["HAND_TOKEN": secret]).status == 0)
        try configure("url = \"\(url)\"\ntoken = \"\(secret)\"")
        #expect(try lists([], ["HAND_TOKEN": "wrong"]).status == 5)
        #expect(try lists(["--url", url + "#" + secret], ["HAND_TOKEN": "wrong"]).status == 0)
    }

    /// Nobody answers at that address, which is reserved for documentation; it is not even tried.
    @Test func noTokenIsSentUnencrypted() throws {
        defer { server.kill() }
        let clear = "hand://192.0.2.1/x"
        for (arguments, environment) in [
            (["--url", clear], ["HAND_TOKEN": secret]), ([], ["HAND_URL": clear, "HAND_TOKEN": secret]),
            (["--url", clear + "#" + secret], [:]),
        ] {
            let refused = try lists(arguments, environment)
            #expect(refused.status == 2 && refused.messages.contains("without TLS"), "\(refused.messages)")
            #expect(!refused.messages.contains(secret))
        }
        #expect(try lists(["--url", "hand://127.0.0.1:1", "--timeout", "1"], ["HAND_TOKEN": secret]).status == 6)
    }

    /// The secret in a link cannot be read from the list of processes.
    @Test(.timeLimit(.minutes(5))) func aLinkIsHidden() throws {
        defer { server.kill() }
        for arguments in [["create", "list"], ["add", "-l", "list", "milk"]] {
            let made = try Binary.run(
                arguments + ["--url", url],
                environment: ["HAND_TOKEN": secret, "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path])
            #expect(made.status == 0, "\(made.messages)")
        }
        let watch = Process()
        watch.executableURL = URL(fileURLWithPath: Binary.path)
        watch.arguments = ["watch", "--url", url + "/list#" + secret]
        watch.environment = outerEnvironment.merging(["XDG_STATE_HOME": folder.path]) { $1 }
        let output = Pipe()
        watch.standardOutput = output
        watch.standardError = FileHandle.nullDevice
        try watch.run()
        defer { watch.terminate() }
        // It has shown the list, so it has read its arguments.
        #expect(try output.fileHandleForReading.read(upToCount: 1)?.isEmpty == false)
        let seen = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(watch.processIdentifier)/cmdline"))
        let text = String(decoding: seen, as: UTF8.self)
        #expect(text.contains("/list#***") && !text.contains(secret), "\(text)")
    }
}
