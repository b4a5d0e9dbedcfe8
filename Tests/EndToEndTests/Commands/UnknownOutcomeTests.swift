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
            // Nothing else tells the person, so --quiet does not silence it.
            let sync = try user.run(["sync", "-q"])
            #expect(sync.status == 0 && sync.messages.contains("whose outcome was not known") == isUnknown)
            let texts = try user.hand("ls")
            for word in isUnknown ? ["unknown", "kept"] : [] {
                #expect(texts.components(separatedBy: "\(word) \(bytes)\n").count == 2, "\(texts)")
            }
            #expect(!texts.contains("again"), "\(texts)")
        }
        #expect(lost > 0, "some answers were lost")
    }

    /// A signal ends a command at once. If the edit was sent, the command says that nobody knows what became of it.
    @Test func aSignalEndsAnEdit() throws {
        let server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0"])
        let proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
        var user = try CommandUser()
        user.environment["HAND_URL"] = "hand://127.0.0.1:\(proxy.address.port)/lost"
        try user.hand("create", "lost")
        try user.hand("add", "-q", "first")
        let before = try server.figure("bytesSent")
        try user.hand("add", "-q", "second")
        let all = try server.figure("bytesSent") - before
        for (bytes, isSent) in [(all - 20, true), (0, false)] {
            let strikes = proxy.traffic.strikes
            proxy.change { $0.down.strike = .silence(after: bytes) }
            let command = try RunningCommand(
                ["add", "third \(bytes)", "--timeout", "600"], user.environment, server.folder.path + "/said")
            // Not later than the client waits for an answer to its hello.
            #expect(eventually { proxy.traffic.strikes > strikes })
            command.process.interrupt()
            let end = try command.end()
            #expect(command.process.terminationReason == .uncaughtSignal && end.status == SIGINT)
            #expect(end.messages.hasPrefix("hand: interrupted"), "\(end.messages)")
            #expect(end.messages.contains("do not repeat it") == isSent, "\(end.messages)")
            proxy.heal()
            #expect(try user.messages("sync").contains("was made") == isSent)
            #expect(try user.lines().contains("[ ] third \(bytes)") == isSent)
        }
    }

    /// Whichever answer is lost: a command that says that no server answers has changed nothing.
    @Test(arguments: [["create"], ["rename", "old"], ["cp", "1", "--to"], ["delete", "--force"]])
    func changesOfListsAreUnknownToo(_ command: [String]) throws {
        let server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0"])
        let proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
        var user = try CommandUser()
        user.environment["HAND_URL"] = "hand://127.0.0.1:\(proxy.address.port)/old"
        try user.hand("create", "old")
        try user.hand("add", "milk")
        func prepare(_ name: String) throws {
            if ["cp", "delete"].contains(command[0]) { try user.hand("create", name) }
        }
        func isMade(_ name: String) throws -> Bool {
            if command[0] == "cp" { return try !user.lines("-l", name).isEmpty }
            return try user.hand("lists").contains("\(name)\t") == (command[0] != "delete")
        }
        func undo(_ name: String) throws { if command[0] == "rename" { try user.hand("rename", name, "old") } }
        try prepare("first")
        let before = try server.figure("bytesSent")
        #expect(try user.run(command + ["first"]).status == 0)
        let all = try server.figure("bytesSent") - before
        try undo("first")
        var unknown = 0
        for bytes in stride(from: 0, through: all, by: max(1, all / 24)) {
            let name = "n\(bytes)"
            try prepare(name)
            proxy.change { $0.down.strike = .silence(after: bytes) }
            let outcome = try user.run(command + [name, "--timeout", "1"])
            proxy.heal()
            let isMade = try isMade(name)
            switch outcome.status {
            case 0: #expect(isMade)
            case 6: #expect(!isMade, "\(bytes) of \(all): \(outcome.messages)")
            default: #expect(outcome.status == 8, "\(outcome.messages)")
            }
            if outcome.status == 8 { unknown += 1 }
            if isMade { try undo(name) }
        }
        #expect(unknown > 0)
    }
}
