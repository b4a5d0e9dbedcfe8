import Foundation
import HandCore
import HandTestSupport
import HandWire

/// A server to attack, with tokens of several kinds and two lists.
package final class AttackRange: Sendable {
    package let folder: TemporaryFolder
    package let port: UInt16
    /// The secrets by role: root, writer, appender, reader (all on `open` only), revoked, expired, bystander.
    package let tokens: [String: String]
    /// The number of connections that one attack may open; each takes a descriptor of this process.
    package let crowd: Int
    /// An early revision of the list, and the number of items that it had then.
    package let past: (revision: Int, count: Int)
    /// Counts the bytes that all its clients have sent.
    package let meter = Meter()
    private let server: ServerProcess?

    package static let list = "open"
    package static let otherList = "secret"
    package static let quietList = "quiet"

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - program: the path of `hand`.
    ///   - prefix: the command that starts the server, such as `taskset`.
    ///   - crowd: the number of connections. Choose few if other tests share the process: code that waits for the end
    /// of programs there does not work with many descriptors.
    ///   - idleTimeout: seconds after which a silent client is disconnected.
    ///   - isLong: whether the list has many items and commits, and there are many other lists: then few bytes can ask
    /// for the most. Setting this up takes a minute.
    package init(
        _ program: String, prefix: [String] = [], crowd: Int = 200, idleTimeout: Int = 2, isLong: Bool = false
    ) throws {
        self.crowd = crowd
        past = isLong ? (100, 1_000_000) : (1, 20)
        folder = try TemporaryFolder()
        let data = folder.path + "/data"
        func token(_ arguments: String...) throws -> String {
            try Self.run(program, ["token", "create"] + arguments + ["--data", data], [:])
        }
        var tokens = [
            "root": try token("root", "--role", "admin"), "bystander": try token("bystander", "--role", "write"),
        ]
        for (name, role) in [("reader", "read"), ("appender", "append"), ("writer", "write"), ("flooder", "write")] {
            tokens[name] = try token(name, "--role", role, "--list", Self.list)
        }
        // Times are stored in whole seconds. The token expires before the first attack.
        let expiry = ContinuousClock.now + .seconds(1.1)
        tokens["expired"] = try token("late", "--role", "admin", "--expires", "1ms")
        tokens["revoked"] = try token("gone", "--role", "admin")
        let listed = try Self.run(program, ["token", "list", "--data", data], [:])
        let id = listed.split(separator: "\n").first { $0.contains("gone") }?.prefix(6) ?? ""
        _ = try Self.run(program, ["token", "revoke", String(id), "--data", data], [:])
        func letGuestsIn(_ role: String) throws {
            try Self.run(program, ["token", "guests", "--local", role, "--data", data], [:])
        }
        try letGuestsIn(isLong ? "admin" : "none")
        self.tokens = tokens

        let server = try ServerProcess(
            [
                "--listen", "0.0.0.0:0", "--insecure", "--data", data, "--durability", "os", "--handshake-timeout", "1",
                "--idle-timeout", "\(idleTimeout)", "--drain-timeout", "1", "--max-user-requests", "300",
                "--too-fast-notice", "0.5",
                "--too-fast-timeout", "2", "--log-format", "json", "--audit", folder.path + "/audit",
            ], program: program, launcher: prefix, log: folder.path + "/log")
        self.server = server
        port = try server.port
        pid = server.pid
        let root = try client()
        _ = try root.hello(1, token: tokens["root"])
        for name in [Self.list, Self.otherList, Self.quietList] {
            _ = try root.answers(to: .create(request: 1, name: name, rules: Rules()))
        }
        if isLong {
            // Its requests are not counted.
            let guest = try client(timeout: 60)
            _ = try guest.hello(2)
            try fill(guest, commits: 100_000, lists: 20_000)
            try letGuestsIn("none")
        } else {
            try fill(root, commits: 0, lists: 0)
        }
        while ContinuousClock.now < expiry { usleep(10_000) }
    }

    /// Uses the server of another process. `address` is the value of that process's `address`.
    package init(at address: String) throws {
        let words = address.split(separator: " ").map(String.init)
        guard words.count > 4, let port = UInt16(words[0]), let pid = Int32(words[1]), let revision = Int(words[2]),
            let count = Int(words[3])
        else {
            throw Failure(description: "no range: \(address)")
        }
        self.port = port
        self.pid = pid
        past = (revision, count)
        server = nil
        crowd = 10_000
        folder = try TemporaryFolder()
        tokens = Dictionary(
            uniqueKeysWithValues: words[4...].map { word in
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts[1])
            })
    }

    /// Everything that an attacker in another process needs.
    package var address: String {
        (["\(port)", "\(pid)", "\(past.revision)", "\(past.count)"] + tokens.map { "\($0)=\($1)" }).joined(
            separator: " ")
    }

    deinit { stop() }

    package func stop() { server?.terminate() }

    package var isRunning: Bool { server?.isRunning ?? true }
    package let pid: Int32

    package func client(timeout: Int = 10) throws -> RawClient {
        try RawClient("127.0.0.1", port, timeout: timeout, meter: meter)
    }

    /// Keeps the clients open for a moment without doing anything.
    func hold(_ clients: [RawClient]) { withExtendedLifetime(clients) { _ = usleep(200_000) } }

    /// Returns the server's log and audit log.
    package func logs() throws -> String {
        try ["/log", "/audit"].map { try String(contentsOfFile: folder.path + $0, encoding: .utf8) }.joined()
    }

    /// The server's resident memory in bytes.
    package var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        return text.firstMatch(of: #/VmRSS:\s+([0-9]+) kB/#).flatMap { Int($0.1) }.map { $0 << 10 } ?? 0
    }

    /// Runs `hand` and returns its output.
    @discardableResult
    package static func run(
        _ program: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = outerEnvironment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
