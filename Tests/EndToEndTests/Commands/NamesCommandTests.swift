import Foundation
import HandTestSupport
import Testing

/// Lists that are renamed, deleted and restored with commands.
@Suite(.serialized) struct NamesCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hand(_ server: RunningServer, _ arguments: String..., expecting status: Int32 = 0) throws -> String {
        try hand(server, arguments, expecting: status)
    }

    private func hand(
        _ server: RunningServer, _ arguments: [String], expecting status: Int32 = 0, program: String = Binary.path
    ) throws -> String {
        let environment = [
            "HAND_URL": "hand+unix://\(server.socket)", "HAND_NAME": "ada", "HAND_DATA": folder.path + "/data",
            "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path,
        ]
        let outcome = try Binary.run(arguments, environment: environment, program: program)
        #expect(outcome.status == status, "\(arguments): \(outcome.output)\(outcome.messages)")
        return outcome.output + outcome.messages
    }

    /// Names that people write go through every command, address, setting and export.
    @Test(arguments: ["Summer trip", "Wocheneinkauf für Oma", "-x 'y' \"z\" $(w)", "50% of #1, a:b?", "👩‍👩‍👧 ❤️"])
    func aListHasTheNameThatPeopleWrite(name: String) throws {
        let server = try RunningServer(folder)
        _ = try hand(server, "create", "--", name)
        _ = try hand(server, "add", "--list=\(name)", "milk")
        #expect(try hand(server, "ls", "--list=\(name)").contains("milk"))
        #expect(try hand(server, "lists") == "\(name)\t1 item\trevision 1\n")
        #expect(try hand(server, "lists", "--json").contains("\"count\":1"))
        #expect(try hand(server, "export", "--list=\(name)", "--format", "markdown") == "- [ ] milk\n")
        _ = try hand(server, "rename", "--", name, name + "!")
        let gone = try hand(server, "delete", "--force", "--", name + "!")
        // The command in the message is copied into a shell.
        let back = try #require(gone.split(separator: "with: ", maxSplits: 1).last)
        _ = try hand(server, ["-c", "hand() { \(Binary.path) \"$@\"; }; \(back)"], program: "/bin/sh")
        #expect(try hand(server, "log", "--list=\(name)!").contains("milk"))
    }

    @Test func aListIsRenamedDeletedAndRestored() throws {
        let server = try RunningServer(folder)
        _ = try hand(server, "create", "groceries")
        _ = try hand(server, "add", "-l", "groceries", "milk", "bread")
        #expect(try hand(server, "rename", "groceries", "shopping") == "'groceries' is now called 'shopping'\n")
        // Nobody wants to make the list that a command is to rename or to delete.
        for command in [
            ["rename", "nope", "other"], ["rename", "nope", "nope"], ["delete", "nope"], ["delete", "nope", "--force"],
        ] {
            let refusal = try hand(server, command, expecting: 3)
            #expect(refusal == "hand: there is no list 'nope'; 'hand lists' shows all\n", "\(command)")
        }
        _ = try hand(server, "rename", "groceries", "other", expecting: 3)
        _ = try hand(server, "create", "groceries")
        for name in ["groceries", "shopping"] { _ = try hand(server, "rename", "shopping", name, expecting: 7) }
        _ = try hand(server, "rename", "shopping", "a/b", expecting: 2)
        #expect(
            try hand(server, "delete", "--force", "shopping").contains("bring it back with: hand undelete shopping"))
        #expect(try hand(server, "lists") == "groceries\t0 items\trevision 0\n")
        for command in [["ls", "-l", "shopping"], ["add", "-l", "shopping", "eggs"], ["rename", "shopping", "new"]] {
            let refusal = try hand(server, command, expecting: 3)
            #expect(
                refusal.hasPrefix("hand: 'shopping' is deleted (by ada, 2")
                    && refusal.hasSuffix("). Bring it back with: hand undelete shopping\n"), "\(refusal)")
        }
        #expect(
            try hand(server, "undelete", "shoping", expecting: 3)
                == "hand: there is no deleted list 'shoping'. Did you mean 'shopping'?\n")
        #expect(try hand(server, "undelete", "shopping", "--id", "7", expecting: 3).contains("with the number 7"))
        let deleted = try hand(server, "lists", "--deleted")
        #expect(
            deleted.hasPrefix("1\tshopping\t2 items\trevision 1\tdeleted 2") && deleted.contains("by ada, kept until 2")
        )
        #expect(try hand(server, "lists", "--deleted", "--json").contains(#""name":"shopping","count":2,"revision":1"#))
        _ = try hand(server, "delete", "--force", "groceries")
        #expect(
            try hand(server, "undelete", "shopping", "--name", "groceries") == "'groceries' is back, with 2 items\n")
        #expect(try hand(server, "undelete", "groceries", expecting: 7).contains("--name OTHER"))
        _ = try hand(server, "undelete", "shopping", expecting: 3)
        _ = try hand(server, "undelete", "groceries", "--id", "2", "--name", "empty")
        #expect(try hand(server, "ls", "-l", "groceries", "--json").contains("bread"))
        server.kill()
        try server.start()
        #expect(try hand(server, "lists") == "empty\t0 items\trevision 0\ngroceries\t2 items\trevision 1\n")
        #expect(server.terminate() == 0)
        #expect(try hand(server, "verify").contains("everything is sound"))
    }

    /// Edits that wait offline for a list are neither lost nor sent to another list that got its name.
    @Test func editsWaitForTheirList() throws {
        let server = try RunningServer(folder)
        _ = try hand(server, "create", "list")
        _ = try hand(server, "add", "-l", "list", "--queue", "here")
        #expect(server.terminate() == 0)
        _ = try hand(server, "add", "-l", "list", "--queue", "offline")
        try server.start()
        _ = try hand(server, "delete", "--force", "list")
        _ = try hand(server, "create", "list")
        // The advised command acts on the same server.
        let url = "hand+unix://\(server.socket)"
        let refusal = try hand(server, "sync", "-l", "list", "--url", url, expecting: 3)
        #expect(refusal.contains("now another list"))
        #expect(refusal.contains("To discard them: hand sync -l list --url \(url) --discard"))
        #expect(try !hand(server, "lists").contains("1 item"))
        _ = try hand(server, "rename", "list", "new")
        _ = try hand(server, "undelete", "list")
        _ = try hand(server, "sync", "-l", "list")
        #expect(try hand(server, "ls", "-l", "list").contains("offline"))
        #expect(server.terminate() == 0)
    }

    /// The list has another name, and another list has its name.
    @Test func waitingEditsFollowTheirList() throws {
        let user = try CommandUser("ann")
        try user.hand("create", "list")
        try user.hand("add", "--queue", "here")
        user.server.kill()
        try user.hand("add", "--queue", "offline", "--timeout", "1")
        try user.server.start()
        try user.hand("rename", "list", "old")
        try user.hand("create", "list")
        // What is new is for the list that has the name now.
        try user.hand("add", "--queue", "new")
        #expect(try user.lines() == ["[ ] new"])
        try user.hand("sync")
        #expect(try user.lines("-l", "old") == ["[ ] here", "[ ] offline"])
        #expect(try user.lines() == ["[ ] new"])
    }

    /// A watcher goes on when a list that was deleted is there again.
    @Test func aWatcherFindsAListAgain() throws {
        let user = try CommandUser("ann")
        try user.hand("create", "list")
        try user.hand("add", "here")
        let watch = Process()
        (watch.executableURL, watch.arguments) = (URL(fileURLWithPath: Binary.path), ["watch"])
        watch.environment = outerEnvironment.merging(user.environment) { $1 }
        let output = folder.path + "/watched"
        #expect(FileManager.default.createFile(atPath: output, contents: nil))
        (watch.standardOutput, watch.standardError) = (FileHandle(forWritingAtPath: output), FileHandle.nullDevice)
        try watch.run()
        defer { watch.terminate() }
        func printed() -> String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
        #expect(eventually { printed().contains("here") })
        for _ in 0..<2 {
            try user.hand("delete", "--force", "list")
            try user.hand("undelete", "list")
        }
        try user.hand("add", "more")
        #expect(eventually { printed().contains("+ 2  [ ] more") })
        #expect(printed().split(separator: "\n").count == 2)
    }

    @Test func rolesStayWithARenamedList() throws {
        let made = try Binary.run(
            ["token", "create", "ben", "--role", "write", "--list", "old"],
            environment: ["HAND_DATA": folder.path + "/data"])
        let server = try RunningServer(folder)
        func ben(_ arguments: String...) throws -> Int32 {
            try Binary.run(
                arguments,
                environment: [
                    "HAND_URL": "hand+unix://\(server.socket)", "HAND_TOKEN": made.output.filter { $0 != "\n" },
                    "XDG_STATE_HOME": folder.path + "/ben", "XDG_CONFIG_HOME": folder.path,
                ]
            ).status
        }
        _ = try hand(server, "create", "old")
        #expect(try ben("add", "-l", "old", "x") == 0)
        _ = try hand(server, "rename", "old", "new")
        _ = try hand(server, "create", "old")
        #expect(try ben("add", "-l", "new", "y") == 0)
        #expect(try ben("ls", "-l", "old") == 3)
        #expect(server.terminate() == 0)
    }

    @Test func withoutRetentionDeletedListsAreNotKept() throws {
        let server = try RunningServer(
            folder, ["--keep-deleted", "0", "--log-level", "info"], logPath: folder.path + "/log")
        _ = try hand(server, "create", "list")
        #expect(try hand(server, "delete", "--force", "list") == "deleted 'list'\n")
        _ = try hand(server, "undelete", "list", expecting: 3)
        #expect(server.terminate() == 0)
        let log = try String(contentsOfFile: folder.path + "/log", encoding: .utf8)
        #expect(log.contains("info a deleted list was removed for good list=list\n"), "\(log)")
    }
}
