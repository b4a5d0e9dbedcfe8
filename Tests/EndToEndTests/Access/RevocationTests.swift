import Foundation
import Glibc
import HandTestSupport
import Testing

/// The rights that a command reports as set take effect, whatever other commands run at the same time.
@Suite(.serialized) struct RevocationTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path + "/data" }
    private var file: String { data + "/access.json" }

    init() throws { folder = try TemporaryFolder() }

    @discardableResult
    private func token(_ arguments: String...) throws -> Binary.Outcome {
        try Binary.run(
            ["token"] + arguments, environment: ["HAND_DATA": data, "XDG_CONFIG_HOME": folder.path + "/config"])
    }

    private func secret(_ name: String) throws -> String {
        let made = try token("create", name, "--role", "write")
        #expect(made.status == 0, "\(made.messages)")
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func id(_ name: String) throws -> String {
        let lines = try token("list").output.split(separator: "\n")
        return String(try #require(lines.first { $0.contains("  \(name): ") }).prefix { $0 != " " })
    }

    private func run(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Binary.path)
        process.arguments = ["token"] + arguments + ["--data", data]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// A revoked token stays revoked, and a created one exists, whichever command is first.
    @Test func concurrentChangesOfTokensAllTakeEffect() throws {
        for round in 0..<6 {
            _ = try secret("old\(round)")
            let (revoked, granted) = (try id("old\(round)"), try id("old\(round)"))
            let processes = try [
                run(["create", "a\(round)"]), run(["revoke", revoked]), run(["create", "b\(round)"]),
                run(["grant", granted, "--role", "read"]), run(["guests", "--remote", "read"]),
            ]
            for process in processes { process.waitUntilExit() }
            #expect(processes[0].terminationStatus == 0 && processes[2].terminationStatus == 0)
            #expect(processes[1].terminationStatus == 0)
            let left = try token("list").output
            #expect(!left.contains("old\(round)"), "\(left)")
            #expect(left.contains("a\(round)") && left.contains("b\(round)"), "\(left)")
        }
    }

    private func facts(_ path: String) throws -> (owner: Int?, mode: Int?) {
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        return (facts[.ownerAccountID] as? Int, facts[.posixPermissions] as? Int)
    }

    /// A server with its own user must still be able to read the files that root's commands write.
    @Test(.enabled(if: geteuid() == 0)) func rootWritesForTheServersUser() throws {
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try #require(chown(data, 4_711, 4_711) == 0)
        _ = try secret("ada")
        #expect(try facts(file) == (4_711, 0o600))
        #expect(try facts(file + ".lock") == (4_711, 0o600))
        try #require(chmod(file, 0o640) == 0)
        _ = try token("guests", "--remote", "read")
        #expect(try facts(file) == (4_711, 0o640))
        try #require(chown(file, 815, 815) == 0)
        _ = try token("guests", "--remote", "none")
        #expect(try facts(file) == (815, 0o640))
    }

    /// The folder that a token command creates is as private as the one that the server creates.
    @Test func theFolderIsPrivate() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "umask 0; exec \(Binary.path) token guests --remote none --data \(data)"]
        try process.run()
        process.waitUntilExit()
        #expect(try facts(data).mode == 0o700)
        #expect(try facts(file).mode == 0o600)
    }

    /// A server that could not read the file because it had too many open files reads it as soon as it can.
    @Test(.timeLimit(.minutes(5))) func theFileIsReadAsSoonAsItCanBe() throws {
        let ada = try secret("ada")
        try token("guests", "--local", "none")
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--log-level", "info"], logPath: log)
        defer { server.kill() }
        func ls() throws -> Binary.Outcome {
            try Binary.run(
                ["ls", "-l", "x", "--url", "hand+unix://\(server.socket)"],
                environment: ["HAND_TOKEN": ada, "XDG_STATE_HOME": folder.path])
        }
        #expect(try ls().status == 3)
        try server.limitFiles(to: 1)
        let revoked = try token("revoke", try id("ada"))
        #expect(revoked.status == 0 && revoked.messages.contains("cannot tell whether"), "\(revoked.messages)")
        var said = ""
        func says(_ text: String) throws -> Bool {
            said = try String(contentsOfFile: log, encoding: .utf8)
            return said.contains(text)
        }
        #expect(try eventually { try says("access rules not reloaded") })
        try server.limitFiles(to: 1_000)
        #expect(try eventually { try says("access rules reloaded") })
        #expect(try ls().status == 5)
        #expect(said.split(separator: "\n").count { $0.contains("access rules not reloaded") } == 1, "\(said)")
    }

    /// A file that cannot be read is told each time, and each correction applies: also the second.
    @Test(.timeLimit(.minutes(5))) func aBrokenFileIsToldEachTime() throws {
        var secrets = [try secret("ada"), try secret("ben")]
        try token("guests", "--local", "none")
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--log-level", "info"], logPath: log)
        defer { server.kill() }
        func count(_ text: String) throws -> Int {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count { $0.contains(text) }
        }
        for round in 1...2 {
            let rules = try String(contentsOfFile: file, encoding: .utf8)
            try "{".write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try eventually { try count("access rules not reloaded") == round })
            try rules.write(toFile: file, atomically: true, encoding: .utf8)
            try token("revoke", try id(round == 1 ? "ada" : "ben"))
            let outcome = try Binary.run(
                ["ls", "-l", "x", "--url", "hand+unix://\(server.socket)"],
                environment: ["HAND_TOKEN": secrets.removeFirst(), "XDG_STATE_HOME": folder.path])
            #expect(outcome.status == 5, "\(outcome.messages)")
            #expect(try eventually { try count("access rules reloaded") == round })
        }
    }

    /// The command says whether the running server has applied the change.
    @Test func theCommandSaysWhatItKnows() throws {
        let first = try token("create", "ada", "--role", "write")
        #expect(first.messages.contains("no server is running"), "\(first.messages)")
        let server = try RunningServer(folder)
        defer { server.kill() }
        for arguments in [
            ["create", "ben"], ["guests", "--remote", "read"], ["grant", try id("ada"), "--role", "read"],
        ] {
            let said = try Binary.run(["token"] + arguments + ["--data", data])
            #expect(
                said.status == 0 && said.messages.contains("the running server has applied the change"),
                "\(said.messages)")
        }
        let shared = try Binary.run([
            "share", "groceries", "--data", data, "--url", "hand+unix://\(server.socket)",
        ])
        #expect(
            shared.status == 0 && shared.messages.contains("the running server has applied the change"),
            "\(shared.messages)")
        let ada = try id("ada")
        try "{".write(toFile: file, atomically: false, encoding: .utf8)
        let refused = try token("revoke", ada)
        #expect(refused.status == 1 && refused.messages.contains("is damaged"), "\(refused.messages)")
        server.kill()
        try FileManager.default.removeItem(atPath: file)
        #expect(try token("guests", "--remote", "none").status == 1)
        let last = try token("restore", "--empty")
        #expect(last.status == 0 && last.messages.contains("no server is running"), "\(last.messages)")
    }
}

/// Rights never widen because the file of the access rules is lost.
@Suite(.serialized) struct LostRulesTests {
    private let folder: TemporaryFolder
    private let secret: String

    private var data: String { folder.path + "/data" }
    private var file: String { data + "/access.json" }
    private var log: String { (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? "" }

    /// Sets rules by which nobody may do anything without a token.
    init() throws {
        folder = try TemporaryFolder()
        secret = try Binary.run(["token", "create", "ada", "--role", "admin", "--data", folder.path + "/data"]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try hand("token", "guests", "--local", "none")
    }

    @discardableResult
    private func hand(_ arguments: String..., expecting status: Int32 = 0) throws -> Binary.Outcome {
        let outcome = try Binary.run(
            arguments + ["--data", data], environment: ["XDG_CONFIG_HOME": folder.path + "/config"])
        #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
        return outcome
    }

    /// Returns the exit codes of asking the server for its lists, with the token and without.
    private func statuses(_ server: RunningServer) throws -> [Int32] {
        try [secret, nil].map { token in
            var environment = ["XDG_STATE_HOME": folder.path, "HAND_NAME": "ada"]
            environment["HAND_TOKEN"] = token
            return try Binary.run(["lists", "--url", "hand+unix://\(server.socket)"], environment: environment).status
        }
    }

    @Test(.timeLimit(.minutes(5))) func withoutRulesNobodyIsAdmitted() throws {
        let server = try RunningServer(folder, logPath: folder.path + "/log")
        defer { server.kill() }
        #expect(try statuses(server) == [0, 5])
        try FileManager.default.removeItem(atPath: file)
        #expect(eventually { log.contains("access rules are missing") })
        #expect(try statuses(server) == [5, 5])
        #expect(try hand("admin", "connections").status == 0)
        #expect(try hand("token", "list", expecting: 1).messages.contains("restore"))
        // A restart does not open the server.
        #expect(server.terminate() == 0)
        try server.start()
        #expect(eventually { log.contains("access rules are missing") })
        #expect(try statuses(server) == [5, 5])
        // The remembered rules are restored, but only if the file is lost.
        #expect(try hand("token", "restore").messages.contains("the running server has applied the change"))
        #expect(try statuses(server) == [0, 5])
        try hand("token", "restore", expecting: 1)
    }

    @Test func newRulesAdmitNobody() throws {
        let server = try RunningServer(folder, logPath: folder.path + "/log")
        defer { server.kill() }
        server.kill()
        try FileManager.default.removeItem(atPath: file)
        try hand("token", "create", "ben", "--role", "read", expecting: 1)
        try hand("token", "restore", "--empty")
        try hand("token", "create", "ben", "--role", "read")
        try server.start()
        #expect(try statuses(server) == [5, 5])
    }

    /// A backup contains the rules, a revoked token does not come back if there are newer rules, and lost rules stay
    /// lost.
    @Test func backupsContainTheRules() throws {
        let server = try RunningServer(folder, logPath: folder.path + "/log")
        defer { server.kill() }
        let (backup, second) = (folder.path + "/backup", folder.path + "/second")
        try hand("backup", backup)
        try hand("admin", "backup", second)
        #expect(server.terminate() == 0)
        for copy in [backup, second] {
            try FileManager.default.removeItem(atPath: data)
            #expect(try hand("recover", copy).messages.contains("those of the backup"))
            #expect(try hand("token", "list").output.contains("ada"))
            try server.start()
            #expect(try statuses(server) == [0, 5])
            #expect(server.terminate() == 0)
        }
        let id = String(try hand("token", "list").output.prefix { $0 != " " })
        try hand("token", "revoke", id)
        try hand("recover", "--replace", backup)
        try server.start()
        #expect(try statuses(server) == [5, 5])
        #expect(server.terminate() == 0)
        try FileManager.default.removeItem(atPath: file)
        #expect(try hand("recover", "--replace", backup).messages.contains("the server will let nobody in"))
        try server.start()
        #expect(try statuses(server) == [5, 5])
    }
}
