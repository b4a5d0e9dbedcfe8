import Foundation
import HandTestSupport
import Testing

/// The findings of `hand doctor`, and its advice.
@Suite(.serialized) struct DoctorTests {
    private let user: CommandUser
    private var state: String { user.server.folder.path + "/state/hand/clients" }

    init() throws { user = try CommandUser() }

    private func doctor(
        _ options: String..., environment: [String: String] = [:], expecting status: Int32 = 0
    ) throws -> [String] {
        var user = user
        user.environment.merge(environment) { $1 }
        let outcome = try user.run(["doctor"] + options)
        #expect(outcome.status == status, "\(outcome.output) \(outcome.messages)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    /// Returns the line about a subject, with its advice.
    private func about(_ subject: String, _ lines: [String]) throws -> String {
        let index = try #require(lines.firstIndex { $0.dropFirst(9).hasPrefix(subject) }, "\(lines)")
        let advice = lines.dropFirst(index + 1).first.flatMap { $0.contains("→") ? $0 : nil }
        return lines[index] + (advice ?? "")
    }

    @Test func aHealthySetupHasNoFindings() throws {
        try user.hand("create", "list")
        try user.hand("add", "milk")
        let lines = try doctor(environment: ["LC_ALL": "C.UTF-8"])
        #expect(lines.allSatisfy { $0.hasPrefix("ok ") }, "\(lines)")
        #expect(try about("settings", lines).contains("from $HAND_URL"))
        #expect(try about("name", lines).contains("ada, from $HAND_NAME"))
        #expect(try about("name", doctor("--as", "bob")).contains("bob, from --as"))
        #expect(try about("server", lines).contains("hand/"))
        #expect(try about("lists", lines).contains("1 list"))
        #expect(try about("clock", lines).contains("no commit is from the future"))
        #expect(try user.messages("doctor").contains("everything is as it should be"))
        let json = try doctor("--json")
        #expect(json.count == lines.count && json.allSatisfy { $0.hasPrefix("{\"subject\":\"") }, "\(json)")
    }

    @Test func anUnreachableServerIsExplained() throws {
        user.server.kill()
        let lines = try doctor(expecting: 6)
        #expect(try about("connection", lines).contains("hand serve --listen"))
        let localhost = try doctor("--url", "hand://localhost:1", expecting: 6)
        #expect(localhost.contains { $0.contains("127.0.0.1:1: connection refused") }, "tried: \(localhost)")
        let name = try about("connection", doctor("--url", "hand://nosuch.invalid", expecting: 6))
        #expect(name.hasPrefix("problem") && name.contains("nosuch.invalid"))
        let two = try doctor("--url", "hand://127.0.0.1:1,127.0.0.1:2", expecting: 6)
        #expect(two.count { $0.contains("connection refused") } == 2, "\(two)")
    }

    @Test func aMissingListIsFound() throws {
        try user.hand("create", "lists")
        #expect(try about("lists", doctor(expecting: 1)).contains("lists"))
    }

    @Test func aTokenForAnotherServerIsFound() throws {
        let lines = try doctor(
            "--url", "hand+unix://\(user.server.socket)",
            environment: ["HAND_TOKEN": "x", "HAND_URL": "hands://other.example"])
        let token = try about("token", lines)
        #expect(token.hasPrefix("warning") && token.contains("hands://other.example"))
    }

    @Test func unreadableSettingsAreFound() throws {
        let folder = user.server.folder.path + "/config/hand"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "urll = \"x\"".write(toFile: folder + "/config.toml", atomically: true, encoding: .utf8)
        let settings = try about("settings", doctor(expecting: 1))
        #expect(settings.hasPrefix("problem") && settings.contains("unknown setting 'urll'"))
    }

    @Test func keptListsAndEditsAreShown() throws {
        try user.hand("create", "list")
        user.server.kill()
        try user.hand("add", "--queue", "milk")
        let waiting = try about("kept lists", doctor(expecting: 6))
        #expect(waiting.hasPrefix("warning") && waiting.contains("list") && waiting.contains("hand sync"))
        let files = try #require(FileManager.default.enumerator(atPath: state)).compactMap { $0 as? String }
        let file = try #require(files.first { $0.hasSuffix(".sqlite") })
        let path = state + "/" + file
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: path))
        let damaged = try doctor(expecting: 6).filter { $0.contains("kept lists") }
        #expect(damaged.contains { $0.hasPrefix("problem") && $0.contains(file) }, "\(damaged)")
    }

    @Test func theTerminalIsChecked() throws {
        var environment = user.environment
        environment["NO_COLOR"] = ""
        let tmux = try Tmux(rows: 30, columns: 100, environment: environment, "sh")
        func says(_ command: String, _ text: String) throws {
            try tmux.type("clear; \(command)", in: tmux.first)
            try tmux.press("Enter", in: tmux.first)
            try tmux.wait(for: tmux.first) { $0.joined(separator: " ").contains(text) }
        }
        try says("\(Binary.path) doctor", "tmux-256color, 100 × 30, 256 colours")
        try says("NO_COLOR=1 \(Binary.path) doctor", "no colours, as NO_COLOR is set")
        try says("TERM=nonesuch \(Binary.path) doctor", "does not know a terminal 'nonesuch'")
        try says("LC_ALL=C \(Binary.path) doctor", "the locale's encoding is ANSI_X3.4-1968")
        try says("sh -c 'ulimit -n 256; \(Binary.path) doctor'", "ulimit -n 65536")
        try tmux.resize(rows: 30, columns: 36)
        try says("\(Binary.path) doctor", "make it larger")
    }
}
