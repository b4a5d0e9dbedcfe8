import FaultyNetwork
import Foundation
import HandFormats
import HandTestSupport
import Testing

/// Nothing that a terminal interprets reaches it, whatever command prints it, and wherever it comes from: a server, a
/// person, a list, an argument or a file. Data for programs is exact.
@Suite(.serialized) struct PrintedTests {
    /// Sequences that take a terminal over, break the line, turn the direction of writing, or hide.
    private static let evil =
        "x\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}2J\r\n\u{85}\u{202E}\u{2066}\u{200B}\u{E0041}\u{8}\u{7F}y"
    /// A name of lists and of a person that the network replaces by `evil`, as a malicious server would.
    private static let mark = String(repeating: "q", count: evil.utf8.count)

    let user: CommandUser
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        user = try CommandUser(Self.mark, ["--listen", "127.0.0.1:0"])
        try user.hand("create", "list")
        try user.hand("add", "-l", "list", "--", Self.evil, "milk")
        try user.hand("add", "-l", "list", "--link", "https://x/" + Self.evil, "--", Self.evil)
        try user.hand("edit", "-l", "list", "2", "--", "milk " + Self.evil)
        for name in [Self.mark, Self.mark + "2"] { try user.hand("create", name) }
        try user.hand("delete", "--force", Self.mark + "2")
    }

    /// All commands, with whatever they take from others.
    private var commands: [[String]] {
        let (evil, mark, data) = (Self.evil, Self.mark, user.server.folder.path + "/data")
        let file = folder.path + "/" + evil.replacing("/", with: "")
        return [
            ["ls"], ["show"], ["show", "1"], ["log"], ["diff", "1", "3"], ["who", "--all"], ["lists"],
            ["lists", "--deleted"],
            ["export", "--format", "todotxt"], ["export", "--format", "markdown"], ["export", "--format", "jsonl"],
            ["export", "--format", "csv"],
            ["ls", "--json"], ["log", "--json"], ["lists", "--json"], ["lists", "--deleted", "--json"],
            ["who", "--all", "--json"],
            ["doctor"], ["doctor", "--json"], ["ls", "-l", mark], ["watch", "-l", mark + "3"],
            ["ls", "-l", mark + "2"],
            ["create", mark], ["rename", "list", mark], ["undelete", mark + "3"], ["ls", "-l", mark + "x"],
            ["rm", "1"],
            ["undo"], ["redo"], ["edit", "1", "--was", evil + " z", "--", "k"], ["done", "1"],
            ["restore", "--at", "2"],
            ["add", "-l", "list", "--", evil], ["deal", "--", evil], ["mv", evil, "--top"], ["rm", evil],
            ["show", evil],
            ["ls", evil], ["done", evil], ["add", "--after", evil, "--", "x"], ["ls", "-l", evil],
            ["ls", "--url", evil],
            ["ls", "--url", "hand://\(evil)"], ["ls", "-c", evil], ["ls", "--timeout", evil], ["ls", "--\(evil)"],
            [evil],
            ["help", evil], ["token", evil], ["create", evil], ["rename", "list", evil], ["delete", "--force", evil],
            ["undelete", evil], ["create", "x", "--kinds", evil], ["export", file], ["import", file],
            ["import", file + ".x"],
            ["export", "--format", evil], ["context", "add", evil, "hand://x"], ["context", "add", "a", evil],
            ["context", "add", "b", "hand://x", "--as", evil, "--ca", file],
            ["context", "add", "c", "hand://x", "--as", evil],
            ["context", "list"], ["context", "use", evil], ["context", "rm", evil], ["load", evil],
            ["load", "--threshold", evil],
            ["sync", "-l", mark, "--discard"], ["serve", "--listen", evil], ["serve", "--config", file],
            ["unit", "--", "--" + evil],
            ["verify", "--data", data], ["verify", file], ["backup", file, "--data", file], ["recover", file],
            ["token", "create", evil, "--data", data], ["token", "list", "--data", data],
            ["token", "revoke", evil, "--data", data],
            ["share", mark, "--as", evil, "--data", data], ["share", evil], ["token", "list", "--data", file],
            ["admin", "connections", "--data", data], ["admin", "close", evil], ["admin", "log-level", evil],
            ["admin", "report", "--admin", file], ["admin", "drain", "--within", evil], ["top", "--admin", file],
            ["keys"], ["store", "copy", evil, evil],
        ]
    }

    private func environment() throws -> ([String: String], FaultyProxy) {
        var faults = Faults()
        faults.down.replaced[Array(Self.mark.utf8)] = Array(Self.evil.utf8)
        let proxy = try FaultyProxy(to: try user.server.tcpAddress(), seed: 1, faults: faults)
        var environment = user.environment
        environment["HAND_URL"] = "hand://\(proxy.address)/list"
        return (environment, proxy)
    }

    /// What a terminal must not get; colours of one's own are allowed, and what ends a line.
    private static func harm(in text: String) -> String? {
        let plain = text.replacing(#/\u{1B}\[[0-9;]*m|\r\u{1B}\[K/#, with: "").replacing("\r\n", with: "\n")
        return plain.split { $0 == "\n" || $0 == "\t" }.map(String.init).first { Printable.clean($0) != $0 }
    }

    @Test func nothingReachesATerminal() async throws {
        let (environment, proxy) = try environment()
        let guest = try user.server.client(Self.evil)
        _ = try await guest.open("list").live()
        var seen = 0
        for arguments in commands {
            let words = ([Binary.path] + arguments).map { "'" + $0.replacing("'", with: "'\\''") + "'" }
            let shown = try Binary.run(
                ["-qec", words.joined(separator: " "), "/dev/null"], environment: environment,
                program: "/usr/bin/script")
            #expect(!shown.output.isEmpty, "\(arguments)")
            #expect(Self.harm(in: shown.output) == nil, "\(arguments)")
            if shown.output.contains("\u{FFFD}") { seen += 1 }
        }
        #expect(seen > 50, "most commands show it")
        await guest.close()
        proxy.close()
    }

    /// Into a pipe, people's text is clean, too, and data is what it was.
    @Test func intoAPipeDataIsExact() throws {
        let (environment, proxy) = try environment()
        for arguments in commands where !arguments.contains("--json") && arguments.first != "export" {
            let outcome = try Binary.run(arguments, environment: environment)
            #expect(Self.harm(in: outcome.output) == nil && Self.harm(in: outcome.messages) == nil, "\(arguments)")
        }
        let lists = try Binary.run(["lists", "--json"], environment: environment).output
        #expect(
            try lists.split(separator: "\n").contains { try JSONValue.parse(String($0))["name"] == .string(Self.evil) })
        let todo = try Binary.run(["export", "--format", "todotxt"], environment: environment).output
        // The format escapes them.
        #expect(Self.harm(in: todo) == nil && !todo.isEmpty)
        let items = try Binary.run(["ls", "--json"], environment: environment).output
        #expect(try items.split(separator: "\n").contains { try "\(JSONValue.parse(String($0)))".contains("\u{202E}") })
        proxy.close()
    }
}
