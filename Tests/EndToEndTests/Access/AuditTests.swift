import Foundation
import HandFormats
import HandTestSupport
import Testing

/// The audit log on a full disk, and when it is moved away; and a log that nobody reads.
@Suite(.serialized) struct AuditTests {
    private let folder: TemporaryFolder
    private var audit: String { folder.path + "/audit" }

    init() throws { folder = try TemporaryFolder() }

    private func entries(_ path: String? = nil) throws -> [Substring] {
        try String(contentsOfFile: path ?? audit, encoding: .utf8).split(separator: "\n")
    }

    private func hand(_ server: RunningServer, _ arguments: String...) throws -> Int32 {
        let environment = ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        return try Binary.run(arguments + ["--url", "hand+unix://\(server.socket)"], environment: environment).status
    }

    @Test(.timeLimit(.minutes(5))) func aMovedAuditLogIsReopened() throws {
        let server = try RunningServer(folder, ["--audit", audit])
        defer { server.kill() }
        #expect(try hand(server, "create", "first") == 0)
        #expect(try eventually { try entries().contains { $0.contains("first") } })
        for name in ["second", "third"] {
            try FileManager.default.moveItem(atPath: audit, toPath: audit + ".before." + name)
            server.hangUp()
            #expect(eventually { FileManager.default.fileExists(atPath: audit) })
            #expect(try hand(server, "create", name) == 0)
            #expect(try eventually { try entries().contains { $0.contains(name) } })
            #expect(try !entries(audit + ".before." + name).contains { $0.contains(name) })
        }
        #expect(try !entries().contains { $0.contains("second") })
    }

    /// Who only connects, as `hand doctor` first does, or is turned away, has not left: nobody was let in.
    @Test(.timeLimit(.minutes(5))) func onlyWhoWasLetInLeaves() throws {
        let server = try RunningServer(folder, ["--audit", audit])
        defer { server.kill() }
        #expect(try hand(server, "doctor") == 0)
        #expect(try hand(server, "create", "first") == 0)
        #expect(server.terminate() == 0)
        let events = try entries().compactMap { $0.firstMatch(of: /"event":"([a-zA-Z]+)"/)?.1 }
        #expect(events == ["letIn", "left", "letIn", "left", "letIn", "created", "left"], "\(events)")
    }

    /// Whoever reads it sees who may do what, and since when.
    @Test(.timeLimit(.minutes(5))) func changesOfTheRulesAreRecorded() throws {
        let server = try RunningServer(folder, ["--audit", audit])
        defer { server.kill() }
        #expect(try hand(server, "create", "first") == 0)
        func operate(_ arguments: String...) throws -> String {
            let outcome = try Binary.run(arguments + ["--data", folder.path + "/data"])
            #expect(outcome.status == 0, "\(outcome.messages)")
            return outcome.output
        }
        let made = try operate("token", "create", "zed", "--role", "read", "--json")
        let id = String(try #require(made.firstMatch(of: /"id":"([^"]+)"/)?.1))
        _ = try operate("token", "grant", id, "--role", "write", "-l", "first")
        _ = try operate("token", "guests", "--remote", "admin")
        _ = try operate("token", "revoke", id)
        func details(_ event: String) throws -> [String] {
            try entries().filter { $0.contains("\"event\":\"\(event)\"") }
                .map { $0.firstMatch(of: /"detail":"([^"]*)"/).map { String($0.1) } ?? "" }
        }
        #expect(try eventually { try details("revoked").count == 1 })
        #expect(try details("granted") == ["read on all lists", "read on all lists, write on 'first'"])
        #expect(try details("guests") == ["admin on this machine, admin from elsewhere"])
        #expect(try entries().filter { $0.contains("\"person\":\"zed\"") && $0.contains(id) }.count == 3)
    }

    /// Log lines are data: numbers are numbers, lists are lists, a refusal says who and what, and a change of the rules
    /// is one line, however often they change.
    @Test(.timeLimit(.minutes(5))) func logLinesAreData() throws {
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--log-level", "debug", "--log-format", "json"], logPath: log)
        defer { server.kill() }
        func lines(_ message: String) throws -> [JSONValue] {
            try entries(log).map { try JSONValue.parse(String($0)) }.filter { $0["message"] == .string(message) }
        }
        #expect(try hand(server, "create", "first") == 0)
        var secrets: [String] = []
        for (number, name) in ["ada", "ben", "eve"].enumerated() {
            let made = try Binary.run(
                ["token", "create", name, "--role", "read", "--list", "first", "--data", folder.path + "/data"])
            secrets.append(made.output.trimmingCharacters(in: .whitespacesAndNewlines))
            #expect(made.status == 0 && made.messages.contains("has applied the change"), "\(made.messages)")
            #expect(try eventually { try lines("access rules reloaded").count > number })
        }
        for secret in secrets.prefix(2) {
            let outcome = try Binary.run(
                ["rm", "1", "-l", "first", "--url", "hand+unix://\(server.socket)"],
                environment: ["HAND_TOKEN": secret, "XDG_STATE_HOME": folder.path])
            #expect(outcome.status != 0)
            let deleted = try Binary.run(
                ["delete", "first", "--force", "--url", "hand+unix://\(server.socket)"],
                environment: ["HAND_TOKEN": secret, "XDG_STATE_HOME": folder.path])
            #expect(deleted.status == 5, "\(deleted.messages)")
        }
        #expect(server.terminate() == 0)
        #expect(try lines("access rules reloaded").map { $0["tokens"] } == [1, 2, 3])
        #expect(try lines("denied").map { $0["person"] } == ["ada", "ben"])
        #expect(try lines("denied").allSatisfy { $0["list"] == "first" && $0["what"] == "delete" })
        #expect(try lines("listening").map { $0["endpoints"] } == [.array([.string("unix:\(server.socket)")])])
        #expect(try lines("stopping").map { $0["connections"] } == [0])
    }

    /// At the limit of open files a server says so a few times, not ten times a second, and accepts the clients as soon
    /// as it can, each time.
    @Test(.timeLimit(.minutes(5))) func aServerOutOfFilesSaysSoOnce() throws {
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--log-level", "warning"], logPath: log)
        defer { server.kill() }
        #expect(try hand(server, "create", "first") == 0)
        func warnings() throws -> Int { try entries(log).count { $0.contains("cannot accept a connection") } }
        for _ in 0..<2 {
            try server.limitFiles(to: 1)
            #expect(try hand(server, "who", "-l", "first", "--timeout", "2") == 6)
            #expect(try eventually { try warnings() > 0 })
            try server.limitFiles(to: 1_000)
            #expect(try hand(server, "who", "-l", "first") == 0)
        }
        #expect(try (1...5).contains(warnings()))
    }

    /// A failed write of the audit log is logged, and blocks nobody.
    @Test(.timeLimit(.minutes(5))) func aFullDiskBlocksNobody() throws {
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--audit", "/dev/full"], logPath: log)
        defer { server.kill() }
        for number in 0..<5 { #expect(try hand(server, "create", "list\(number)") == 0) }
        func said() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }
        #expect(try eventually { try said().contains("cannot write the audit log") })
        let text = try said()
        #expect(text.split(separator: "\n").count { $0.contains("audit") } == 1, "\(text)")
        #expect(server.terminate() == 0)
    }

    /// A pipe that nobody reads, as from a log collector that hangs.
    @Test(.timeLimit(.minutes(5))) func anUnreadLogBlocksNobody() throws {
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let server = try RunningServer(folder, ["--log-level", "trace"], logPath: path)
        defer { server.kill() }
        // More than the capacity of a pipe, which is 64 KiB.
        let name = String(repeating: "n", count: 200)
        for _ in 0..<150 { #expect(try hand(server, "who", "-l", name) == 3) }
        #expect(server.terminate() == 0)
    }
}
