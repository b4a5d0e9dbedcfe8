import Foundation
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
        try FileManager.default.moveItem(atPath: audit, toPath: audit + ".1")
        server.hangUp()
        #expect(eventually { FileManager.default.fileExists(atPath: audit) })
        #expect(try hand(server, "create", "second") == 0)
        #expect(try eventually { try entries().contains { $0.contains("second") } })
        #expect(try !entries(audit + ".1").contains { $0.contains("second") })
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
