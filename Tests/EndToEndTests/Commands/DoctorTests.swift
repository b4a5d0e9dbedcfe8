import EventLoop
import FaultyNetwork
import Foundation
import HandClient
import HandCore
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

    /// Others see the name of the token, whatever the settings say.
    @Test func theNameIsTheServers() throws {
        try user.hand("create", "list")
        #expect(try doctor().contains { $0.hasSuffix(" others see you as ada") })
        let data = user.server.folder.path + "/data"
        let token = try user.hand("token", "create", "Bob", "--data", data).trimmingCharacters(in: .newlines)
        #expect(try doctor(environment: ["HAND_TOKEN": token]).contains { $0.hasSuffix(" others see you as Bob") })
        #expect(try doctor().contains { $0.hasSuffix(" others see you as (guest) ada") })
    }

    @Test func misspeltVariablesAreFound() throws {
        try user.hand("create", "list")
        let lines = try doctor(environment: ["HAND_NAM": "bob"])
        #expect(lines.contains { $0.hasSuffix("$HAND_NAM means nothing. Did you mean $HAND_NAME?") }, "\(lines)")
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

    @Test func theRoleIsTold() throws {
        try user.hand("create", "list")
        #expect(try about("role", doctor()).contains("admin on all lists"))
        let data = ["--data", user.server.folder.path + "/data"]
        func role(_ options: String...) throws -> String {
            let made = try user.run(["token", "create", "Ben", "--json"] + options + data)
            let secret = try #require(made.output.firstMatch(of: /"secret":"([^"]+)"/)?.1, "\(made.messages)")
            return try about("role", doctor(environment: ["HAND_TOKEN": String(secret)]))
        }
        for name in ["read", "append", "write", "admin"] {
            #expect(try role("--role", name).contains("\(name) on all lists"))
        }
        // The role on a single list is not told.
        let none = try role("--role", "write", "--list", "list")
        #expect(none.contains("none on all lists") && none.contains("hand lists"), "\(none)")
    }

    /// A server says nothing about a person's roles if they are too many.
    @Test func rolesThatAreTooManyAreNotTold() throws {
        let socket = user.server.folder.path + "/older.sock"
        let older = try ScriptedServer(at: socket) { message in
            guard case .lists(let request, _) = message else { return [] }
            return [.lists(request: request, [], hasMore: false)]
        }
        defer { older.close() }
        let lines = try doctor("--url", "hand+unix://\(socket)")
        #expect(try about("server", lines).contains("older/1.0"))
        #expect(try about("role", lines).contains("too many to tell"))
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
        #expect(waiting.hasPrefix("ok "))
        let warning = try #require(doctor(expecting: 6).first { $0.contains("edits of list wait to be sent to") })
        #expect(warning.hasPrefix("warning") && warning.hasSuffix(user.server.socket), "\(warning)")
        #expect(try doctor(expecting: 6).contains { $0.hasSuffix("send them: hand sync") })
        // Seen from another server, the command names the one that the edits are for.
        let other = "hand+unix:///nowhere/hand.sock"
        try user.hand("context", "add", "home", "hand+unix://\(user.server.socket)")
        let elsewhere = try doctor("--url", other, expecting: 6)
        #expect(elsewhere.contains { $0.hasSuffix("send them: hand -c home sync") }, "\(elsewhere)")
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
        try says("TERM=dumb \(Binary.path) doctor", "a terminal of kind 'dumb' cannot show a whole screen")
        try says("LC_ALL=C \(Binary.path) doctor", "the locale's encoding is ANSI_X3.4-1968")
        try says("LC_ALL=C \(Binary.path) doctor", "unset LC_ALL, then export LANG=C.UTF-8")
        try says("sh -c 'ulimit -n 256; \(Binary.path) doctor'", "ulimit -n 65536")
        try tmux.resize(rows: 90, columns: 36)
        try says("\(Binary.path) doctor", "→ make it larg")
    }

    @Test func nothingIsStored() throws {
        let state = user.server.folder.path + "/fresh"
        try user.hand("create", "list")
        _ = try doctor(environment: ["XDG_STATE_HOME": state])
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    @Test(arguments: ["XDG_STATE_HOME", "XDG_CONFIG_HOME"]) func foldersThatCannotBeWrittenAreFound(
        variable: String
    ) throws {
        try user.hand("create", "list")
        let file = user.server.folder.path + "/file"
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        let folders = try about("folders", doctor(environment: [variable: file + "/below"], expecting: 1))
        #expect(folders.hasPrefix("problem") && folders.contains("make \(file) a folder"), "\(folders)")
        #expect(folders.contains("$\(variable)"), "\(folders)")
    }

    /// Edits that a running command has, and sends itself, do not wait for anybody.
    @Test func editsOfARunningCommandDoNotWait() async throws {
        try user.hand("create", "list")
        let client = try user.server.client("ada", journal: "state/hand/clients/x/0.sqlite")
        let list = try await client.open("list")
        for round in 1...2 {
            try await list.edit { state in
                Delta.inserting([Item(id: ItemID(rawValue: UInt64(round)), content: .note("n"))], at: 0, .after)
            }
            _ = try await list.settled()
            let lines = try doctor(environment: ["LC_ALL": "C.UTF-8"])
            #expect(lines.allSatisfy { $0.hasPrefix("ok ") }, "\(lines)")
        }
        await client.close()
        #expect(try about("kept lists", doctor()).contains("no edits wait"))
    }

    /// A disk that takes no more bytes is found, whichever folder is on it. A healthy one is left as it was.
    @Test(arguments: ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR", "HAND_DATA"]) func aFullDiskIsFound(
        variable: String
    ) throws {
        try user.hand("create", "list")
        let full = user.server.folder.path + "/full"
        try FileManager.default.createDirectory(atPath: full, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: full + "/hand.sqlite"))
        func doctorOnFullDisk() throws -> Binary.Outcome {
            try Binary.run(
                ["-c", "ulimit -f 64; trap '' XFSZ; exec \"$0\" doctor", Binary.path],
                environment: user.environment.merging([variable: full]) { $1 }, program: "/bin/bash")
        }
        let outcome = try doctorOnFullDisk()
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(outcome.status == 1)
        #expect(lines.contains { $0.hasPrefix("problem") && $0.contains("cannot write \(full)") }, "\(lines)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: full) == ["hand.sqlite"])
    }

    /// Each reason why a server is not reached has its own advice.
    @Test func everyFailureHasAdvice() throws {
        let certificates = try Certificates(user.server.folder)
        func advice(_ url: String, _ environment: [String: String] = [:], expecting status: Int32 = 6) throws -> String
        {
            try about("server", doctor("--url", url, "--timeout", "2", environment: environment, expecting: status))
        }
        let trust = ["HAND_CA": certificates.authority]
        func serve(
            _ name: String, for names: String, days: Int = 2, _ more: [String] = []
        ) throws -> (server: RunningServer, url: String) {
            let own = try certificates.make(name, for: names, days: days)
            let options = ["--listen", "127.0.0.1:0", "--tls-cert", own.certificate, "--tls-key", own.key] + more
            let server = try RunningServer(try TemporaryFolder(), options)
            let url = server.greeting.firstMatch(of: /hands:\/\/127\.0\.0\.1:[0-9]+/)?.0
            return (server, String(try #require(url)))
        }
        let (good, url) = try serve("good", for: "IP:127.0.0.1")
        defer { good.kill() }
        #expect(try advice(url).contains("HAND_CA=FILE"))
        let nowhere = ["HAND_CA": "/nowhere/ca.pem"]
        #expect(try advice(url, nowhere, expecting: 1).contains("correct the name of the file"))
        var lost = user
        lost.environment.merge(nowhere) { $1 }
        #expect(try lost.hand("lists", "--url", url, expecting: 3).contains("/nowhere/ca.pem cannot be read"))
        let (own, other) = (
            try certificates.make("own", for: "DNS:own"), try certificates.make("other", for: "DNS:other")
        )
        let halves = trust.merging(["HAND_CERT": own.certificate, "HAND_CERT_KEY": other.key]) { $1 }
        #expect(try advice(url, halves, expecting: 1).contains("name the certificate's own key"))
        let wanted = ["--tls-client-ca", certificates.authority]
        let (picky, pickyURL) = try serve("picky", for: "IP:127.0.0.1", wanted)
        defer { picky.kill() }
        let ended = try certificates.make("ended", for: "DNS:ended", days: -1)
        let expired = trust.merging(["HAND_CERT": ended.certificate, "HAND_CERT_KEY": ended.key]) { $1 }
        #expect(try advice(pickyURL, expired).contains("name a certificate that the server's operator gave you"))
        let plain = url.replacing("hands:", with: "hand:")
        #expect(try advice(plain).contains("→ use an address that begins with hands://"))
        let token = ["HAND_TOKEN": "wrong", "HAND_URL": url]
        let unknown = try advice(url, trust.merging(token) { $1 }, expecting: 1)
        #expect(unknown.contains("ask the server's operator for a new link or token"), "\(unknown)")
        #expect(unknown.contains("the server answers, but does not let you in"), "\(unknown)")
        let (old, oldURL) = try serve("old", for: "IP:127.0.0.1", days: -1)
        defer { old.kill() }
        #expect(try advice(oldURL, trust).contains("renew the certificate"))
        let (foreign, foreignURL) = try serve("foreign", for: "DNS:other.example")
        defer { foreign.kill() }
        #expect(try advice(foreignURL, trust).contains("use a name that is in the server's certificate"))
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        var silence = Faults()
        silence.isPartitioned = true
        let silent = try FaultyProxy(
            to: try SocketAddress(ip: "127.0.0.1", port: port), seed: 1, faults: silence)
        defer { silent.close() }
        #expect(try advice("hand://127.0.0.1:\(silent.address.port)").contains("another program may listen there"))
    }
}
