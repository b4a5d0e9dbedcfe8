import FaultyNetwork
import Foundation
import HandTestSupport
import Testing

/// Commands while nobody knows whether an earlier edit was made.
@Suite(.serialized) struct UnknownOutcomeTests {
    /// They send nothing before the outcome is known: an edit is kept with `--queue`, and otherwise to be repeated.
    @Test func editsBehindAnUnknownOneAreNotUnknown() throws {
        let server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0"])
        let proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
        var user = try CommandUser()
        user.environment["HAND_URL"] = "hand://127.0.0.1:\(proxy.address.port)/lost"
        try user.hand("create", "lost")
        try user.hand("add", "-q", "first")
        // The commit is the last message from the server.
        let before = try server.figure("bytesSent")
        try user.hand("add", "-q", "second")
        let all = try server.figure("bytesSent") - before
        var lost = 0
        for bytes in stride(from: all - 100, to: all, by: 20) {
            proxy.change { $0.down.strike = .silence(after: bytes) }
            let isUnknown = try user.run(["add", "unknown \(bytes)", "--timeout", "1"]).status == 8
            proxy.change { $0.down.strike = .silence(after: 0) }
            if isUnknown {
                lost += 1
                #expect(try user.run(["add", "again \(bytes)", "--timeout", "1"]).status == 6)
                #expect(try user.run(["ls", "--timeout", "1"]).status == 6)
                let kept = try user.run(["add", "kept \(bytes)", "--queue", "--timeout", "1"])
                #expect(kept.status == 0, "\(kept.messages)")
            }
            proxy.heal()
            try user.hand("sync")
            let texts = try user.hand("ls")
            for word in isUnknown ? ["unknown", "kept"] : [] {
                #expect(texts.components(separatedBy: "\(word) \(bytes)\n").count == 2, "\(texts)")
            }
            #expect(!texts.contains("again"), "\(texts)")
        }
        #expect(lost > 0, "some answers were lost")
    }
}
