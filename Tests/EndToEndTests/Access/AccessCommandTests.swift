import Foundation
import HandStore
import HandTestSupport
import Testing

/// Tokens, as an administrator creates them and people use them.
@Suite(.serialized) struct AccessCommandTests {
    private let folder: TemporaryFolder
    private let server: RunningServer

    /// The token of the administrator. Without a token, nobody may do anything on the server.
    private let root: String

    init() throws {
        folder = try TemporaryFolder()
        root = try Self.create(["root", "--role", "admin"], folder).secret
        _ = try Self.hand(["token", "guests", "--local", "none"], folder)
        server = try RunningServer(folder, ["--audit", folder.path + "/audit"], logPath: folder.path + "/log")
        let made = try Self.hand(["create", "--url", Self.url(server, ""), "groceries"], folder, token: root)
        #expect(made.status == 0, "\(made.messages)")
    }

    private static func url(_ server: RunningServer, _ list: String = "/groceries") -> String {
        "hand+unix://\(server.socket)\(list)"
    }

    private static func hand(
        _ arguments: [String], _ folder: TemporaryFolder, token: String? = nil
    ) throws -> Binary.Outcome {
        var environment = [
            "HAND_DATA": folder.path + "/data", "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path,
        ]
        environment["HAND_TOKEN"] = token
        return try Binary.run(arguments, environment: environment)
    }

    private struct Token: Decodable {
        let id: String
        let secret: String
    }

    private static func create(_ arguments: [String], _ folder: TemporaryFolder) throws -> Token {
        let made = try hand(["token", "create", "--json"] + arguments, folder)
        #expect(made.status == 0, "\(made.messages)")
        return try JSONDecoder().decode(Token.self, from: Data(made.output.utf8))
    }

    private func hand(_ arguments: [String], token: String? = nil) throws -> Binary.Outcome {
        try Self.hand(arguments + ["--url", Self.url(server)], folder, token: token)
    }

    @Test func rolesApply() throws {
        defer { server.kill() }
        #expect(try hand(["ls"]).status == 5, "a client without a token is not admitted")
        #expect(try hand(["ls"], token: "hand-wrong").status == 5)
        let reader = try Self.create(["Ben", "--role", "read"], folder)
        #expect(try hand(["ls"], token: reader.secret).status == 0, "a new token works at once")
        let refused = try hand(["add", "milk"], token: reader.secret)
        #expect(
            refused.status == 5 && refused.messages.contains("does not allow it"),
            "\(refused.status) \(refused.messages)")
        let adder = try Self.create(["Ada", "--role", "append", "--list", "groceries"], folder)
        #expect(try hand(["add", "milk"], token: adder.secret).status == 0, "a new token works at once")
        #expect(try hand(["done", "1"], token: adder.secret).status == 5)
        #expect(try hand(["log", "--json"], token: root).output.contains("Ada"), "the name is the token's")
        let elsewhere = try Self.hand(["create", "--url", Self.url(server, ""), "more"], folder, token: adder.secret)
        #expect(elsewhere.status == 5, "\(elsewhere.messages)")
        #expect(try hand(["ls"], token: root).output.contains("milk"))
    }

    /// Whatever name a guest sends, it cannot be that of a token's holder.
    @Test func aGuestCannotHaveAHoldersName() throws {
        defer { server.kill() }
        let ada = try Self.create(["ada", "--role", "write"], folder)
        let guests = try Self.hand(["token", "guests", "--local", "write", "--json"], folder)
        #expect(guests.output == "{\"guests\":{\"local\":\"write\",\"remote\":\"none\"}}\n")
        #expect(try hand(["add", "milk", "--as", "ada"]).status == 0)
        #expect(try hand(["add", "bread", "--as", "eve"], token: ada.secret).status == 0)
        let log = try hand(["log"], token: root).output.split(separator: "\n").filter { $0.hasPrefix("revision") }
        #expect(log.count == 2 && log[0].hasSuffix("  (guest) ada") && log[1].hasSuffix("  ada"), "\(log)")
        for name in ["(guest) ada", "(Guest)"] {
            let refused = try Self.hand(["token", "create", name], folder)
            #expect(refused.status == 2 && refused.messages.contains("without a token"), "\(refused.messages)")
        }
        for command in [["token", "create"], ["share", "groceries", "--as"]] {
            for name in ["a\nb", "a\u{202E}b"] {
                let refused = try Self.hand(command + [name], folder)
                #expect(refused.status == 2 && refused.messages.contains("a name is one line"), "\(refused.messages)")
            }
        }
    }

    @Test func aShareIsALinkAndCanBeRevoked() throws {
        defer { server.kill() }
        let shared = try Self.hand(
            ["share", "groceries", "--as", "Bob", "--role", "write", "--expires", "1d", "--url", Self.url(server, "")],
            folder)
        #expect(shared.status == 0, "\(shared.messages)")
        let link = shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(link.contains("/groceries#hand-"))
        #expect(try eventually { try Self.hand(["add", "eggs", "--url", link], folder).status == 0 })
        let (watch, isConnected) = try watching(link)
        #expect(isConnected)
        let tokens = try Self.hand(["token", "list"], folder).output
        let id = try #require(tokens.firstMatch(of: #/([0-9a-z]{6})  Bob: write on 'groceries', until /#)?.1)
        let revoked = try Self.hand(["token", "revoke", String(id), "--json"], folder)
        #expect(revoked.status == 0 && revoked.output == "{\"id\":\"\(id)\",\"revoked\":true}\n")
        watch.waitUntilExit()
        #expect(watch.terminationStatus != 0, "a connected client is disconnected")
        #expect(try Self.hand(["ls", "--url", link], folder).status == 5)
        #expect(try Self.hand(["token", "revoke", String(id)], folder).status == 3)
    }

    /// Without any setting, a link has the address at which the running server listens.
    @Test func aShareHasTheRunningServersAddress() throws {
        defer { server.kill() }
        let link = try Self.hand(["share", "groceries"], folder).output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(link.hasPrefix("\(Self.url(server, ""))/groceries#"), "\(link)")
        #expect(try Self.hand(["ls", "--url", link], folder).status == 0)
        // Without it, the address is a guess, and said to be one.
        server.kill()
        let guess = try Self.hand(["share", "groceries"], folder)
        #expect(guess.output.hasPrefix("hand://127.0.0.1:7777/groceries#"), "\(guess)")
        #expect(guess.messages.contains("no running server says its address: the link has the usual one"))
    }

    /// A link is for the list for which it was made, whatever its name becomes.
    @Test func aShareIsForItsListAlone() throws {
        defer { server.kill() }
        let shared = try Self.hand(
            ["share", "groceries", "--as", "Bob", "--role", "write", "--url", Self.url(server, "")], folder)
        let link = shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try Self.hand(["add", "eggs", "--url", link], folder).status == 0)
        #expect(try hand(["delete", "--force", "groceries"], token: root).status == 0)
        for isRestarted in [false, true] {
            if isRestarted {
                server.kill()
                try server.start()
            } else {
                #expect(try hand(["create", "groceries"], token: root).status == 0)
                #expect(try hand(["add", "secret"], token: root).status == 0)
            }
            for arguments in [["ls"], ["add", "no"], ["log"], ["watch"]] {
                let outcome = try Self.hand(arguments + ["--url", link], folder)
                #expect(outcome.status == 3 || outcome.status == 5, "\(arguments): \(outcome.messages)")
                #expect(!outcome.output.contains("secret"))
            }
            let lists = try Self.hand(["lists", "--url", link], folder)
            #expect(!lists.output.contains("groceries"), "\(lists.output)")
        }
        #expect(try hand(["ls"], token: root).output.contains("secret"))
        // Its list is restored, and with it the link's rights.
        #expect(try hand(["undelete", "groceries", "--name", "old"], token: root).status == 0)
        let old = link.replacing("/groceries#", with: "/old#")
        #expect(try Self.hand(["ls", "--url", old], folder).output.contains("eggs"))
        #expect(try Self.hand(["ls", "--url", link], folder).status != 0)
    }

    /// Starts a process that watches the list. Returns it, and whether it has shown the list and is therefore
    /// connected.
    private func watching(_ link: String) throws -> (Process, isConnected: Bool) {
        let watch = Process()
        watch.executableURL = URL(fileURLWithPath: Binary.path)
        watch.arguments = ["watch", "--url", link]
        watch.environment = outerEnvironment.merging(
            ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]) { $1 }
        let output = Pipe()
        watch.standardOutput = output
        watch.standardError = FileHandle.nullDevice
        try watch.run()
        return (watch, try output.fileHandleForReading.read(upToCount: 1)?.isEmpty == false)
    }

    /// A client whose token expires is disconnected, even if the file has changed and cannot be read.
    @Test(arguments: [false, true]) func anExpiringTokenDisconnects(fileIsDamaged: Bool) throws {
        defer { server.kill() }
        _ = try hand(["add", "milk"], token: root)
        // On a slow machine, a token may expire before anybody has connected with it; then a longer one is tried.
        for seconds in [2, 4, 8, 16, 32] {
            let ben = try Self.create(["Ben", "--role", "read", "--expires", "\(seconds)s"], folder)
            let (watch, isConnected) = try watching(Self.url(server) + "#" + ben.secret)
            let file = folder.path + "/data/access.json"
            let sound = try String(contentsOfFile: file, encoding: .utf8)
            for round in 0..<(seconds + 3) * 20 where watch.isRunning {
                if fileIsDamaged { try "{\(round)".write(toFile: file, atomically: true, encoding: .utf8) }
                Thread.sleep(forTimeInterval: 0.05)
            }
            try sound.write(toFile: file, atomically: true, encoding: .utf8)
            let isOut = !watch.isRunning
            watch.terminate()
            watch.waitUntilExit()
            #expect(isOut && watch.terminationStatus != 0)
            if isConnected { return }
        }
        Issue.record("nobody was admitted")
    }

    /// A new role applies at once to connected clients, on the lists that are named.
    @Test func aTokenCanGetAnotherRole() throws {
        defer { server.kill() }
        _ = try Self.hand(["create", "--url", Self.url(server, ""), "work"], folder, token: root)
        let ben = try Self.create(["Ben", "--role", "read", "--list", "groceries"], folder)
        #expect(try hand(["ls"], token: ben.secret).status == 0)
        #expect(try hand(["add", "milk"], token: ben.secret).status == 5)
        #expect(try Self.hand(["ls", "--url", Self.url(server, "/work")], folder, token: ben.secret).status == 3)
        let changed = try Self.hand(
            ["token", "grant", ben.id, "--role", "write", "--list", "work", "--list", "groceries"], folder)
        #expect(changed.output == "\(ben.id)  Ben: write on 'groceries', write on 'work'\n", "\(changed.output)")
        #expect(try eventually { try hand(["add", "milk"], token: ben.secret).status == 0 })
        #expect(try Self.hand(["add", "x", "--url", Self.url(server, "/work")], folder, token: ben.secret).status == 0)
        #expect(try Self.hand(["token", "grant", ben.id, "--role", "none", "--list", "work"], folder).status == 0)
        #expect(
            try eventually {
                try Self.hand(["ls", "--url", Self.url(server, "/work")], folder, token: ben.secret).status == 3
            })
        #expect(try Self.hand(["token", "grant", "nobody", "--role", "read"], folder).status == 3)
    }

    /// Roles that wait for a list are for a new one: no other list gets them with the name.
    @Test func anAwaitedNameIsOnlyForANewList() throws {
        defer { server.kill() }
        func hand(_ arguments: String..., token: String) throws -> Binary.Outcome {
            try Self.hand(arguments + ["--url", Self.url(server, "")], folder, token: token)
        }
        for name in ["secret", "old"] { #expect(try hand("create", name, token: root).status == 0) }
        #expect(try hand("delete", "old", "--force", token: root).status == 0)
        let ben = try Self.create(["Ben", "--role", "admin", "--list", "future"], folder)
        for command in [["rename", "secret", "future"], ["undelete", "old", "--name", "future"]] {
            let refused = try Self.hand(command + ["--url", Self.url(server, "")], folder, token: root)
            #expect(refused.status == 7 && refused.messages.contains("roles were granted for a new list 'future'"))
        }
        #expect(try hand("lists", token: ben.secret).output.isEmpty)
        #expect(try hand("create", "future", token: root).status == 0)
        #expect(try hand("lists", token: ben.secret).output.hasPrefix("future\t"))
        #expect(try hand("rename", "future", "past", token: root).status == 0)
        #expect(try hand("rename", "secret", "future", token: root).status == 0)
        #expect(try hand("lists", token: ben.secret).output.hasPrefix("past\t"))
    }

    /// A person who does not want to store a secret anywhere is asked for it. It is not shown while typing.
    @Test func theTokenIsAskedFor() throws {
        defer { server.kill() }
        let tmux = try Tmux(
            environment: ["HAND_TOKEN": "?", "HAND_URL": Self.url(server), "XDG_STATE_HOME": folder.path], "sh")
        try tmux.type("\(Binary.path) add milk; echo ended with $?", in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.contains { $0.hasSuffix("token:") } }
        try tmux.type(root, in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        let screen = try tmux.wait(for: tmux.first) { $0.contains { $0.hasSuffix("ended with 0") } }
        #expect(!screen.joined().contains(root))
        #expect(try hand(["ls"], token: root).output.contains("milk"))
    }

    /// Of commands that run at once, none loses another's changes.
    @Test func manyTokensAtOnce() throws {
        defer { server.kill() }
        let processes = try (0..<12).map { number in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Binary.path)
            process.arguments = ["token", "create", "user\(number)", "--data", folder.path + "/data"]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process
        }
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        let tokens = try Self.hand(["token", "list"], folder).output
        #expect((0..<12).allSatisfy { tokens.contains("  user\($0): ") }, "\(tokens)")
    }

    /// Neither files nor messages contain a secret.
    @Test func secretsAreNotStoredOrPrinted() throws {
        defer { server.kill() }
        let token = try Self.create(["Eve"], folder)
        let kept = try String(contentsOfFile: folder.path + "/data/access.json", encoding: .utf8)
        #expect(!kept.contains(token.secret) && !kept.contains(root))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/data/access.json")[
            .posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try !Self.hand(["token", "list", "--json"], folder).output.contains(token.secret))
        let wrong = try Self.hand(["ls", "--url", "hand://#\(token.secret)"], folder)
        #expect(wrong.status == 2 && !wrong.messages.contains(token.secret), "\(wrong.messages)")
    }

    /// The audit log records who connected, who was turned away, and what was denied to whom.
    @Test func theAuditLog() throws {
        defer { server.kill() }
        let token = try Self.create(["Ben", "--role", "read"], folder)
        _ = try hand(["ls", "--as", "Ben\n\u{1B}[2J"])
        #expect(try hand(["ls"], token: token.secret).status == 0, "a new token works at once")
        _ = try hand(["add", "milk"], token: token.secret)
        _ = try hand(["ls"], token: "hand-guessed")
        struct Entry: Decodable {
            let event, peer: String
            let person, token, list, detail: String?
        }
        func audit() throws -> String { try String(contentsOfFile: folder.path + "/audit", encoding: .utf8) }
        #expect(try eventually { try audit().contains("turnedAway") })
        let text = try audit()
        let entries = try text.split(separator: "\n").map { try JSONDecoder().decode(Entry.self, from: Data($0.utf8)) }
        #expect(entries.contains { $0.event == "created" && $0.person == "root" && $0.list == "groceries" })
        #expect(entries.contains { $0.event == "letIn" && $0.token == token.id })
        #expect(entries.contains { $0.event == "denied" && $0.token == token.id && $0.detail == "submit" })
        #expect(entries.contains { $0.event == "turnedAway" && $0.person == nil })
        #expect(!text.contains(token.secret) && !text.contains("hand-guessed") && !text.contains("\u{1B}"))
    }

    /// An unreadable file admits nobody: at the start the server ends; later the former rules stay in force.
    @Test func aDamagedFileAdmitsNobody() throws {
        defer { server.kill() }
        try "{".write(toFile: folder.path + "/data/access.json", atomically: true, encoding: .utf8)
        let log = folder.path + "/log"
        #expect(
            try eventually { try String(contentsOfFile: log, encoding: .utf8).contains("access rules not reloaded") })
        #expect(try hand(["ls"]).status == 5)
        #expect(try hand(["ls"], token: root).status == 0)
        let other = try Binary.run([
            "serve", "--listen", folder.path + "/o.sock", "--data", folder.path + "/data", "--durability", "memory",
        ])
        #expect(other.status == 1 && other.messages.contains("access.json"), "\(other.messages)")
        #expect(try Self.hand(["token", "list"], folder).messages.contains("move it away"))
    }

    /// A new file would replace what the store remembers of a lost one.
    @Test func aLostFileIsNotReplaced() throws {
        defer { server.kill() }
        _ = try Self.create(["Ada"], folder)
        let (file, log) = (folder.path + "/data/access.json", folder.path + "/log")
        #expect(
            try eventually { try SQLiteStore.accessRules(in: folder.path + "/data").map { $0.count > 600 } ?? false })
        try FileManager.default.removeItem(atPath: file)
        #expect(
            try eventually { try String(contentsOfFile: log, encoding: .utf8).contains("the access rules are missing") }
        )
        for change in [["create", "Carl"], ["guests", "--local", "none"]] {
            let refused = try Self.hand(["token"] + change, folder)
            #expect(refused.status == 1 && refused.messages.contains("token restore"), "\(refused.messages)")
        }
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try Self.hand(["token", "restore"], folder).status == 0)
        #expect(try Self.hand(["token", "list"], folder).output.contains("Ada"))
        try FileManager.default.removeItem(atPath: file)
        #expect(try Self.hand(["token", "restore", "--empty"], folder).status == 0)
        #expect(try !Self.hand(["token", "list"], folder).output.contains("Ada"))
        #expect(try eventually { try hand(["ls"]).status == 5 }, "nobody is let in")
    }

    /// An advised command takes the options that it has, and no others of the command that advises it.
    @Test func advisedCommandsHaveTheirOptions() throws {
        server.kill()
        try FileManager.default.removeItem(atPath: folder.path + "/data/access.json")
        let data = ["--data", folder.path + "/data"]
        let refused = try Self.hand(["share", "groceries", "--url", "hand://x"] + data, folder)
        #expect(refused.messages.contains("hand token restore --data \(folder.path)/data"), "\(refused)")
    }
}
