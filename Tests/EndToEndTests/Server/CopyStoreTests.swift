import Foundation
import HandTestSupport
import PostgresServer
import Testing

/// An operator whose lists outgrow one server switches to several servers, and back.
@Suite(.enabled(if: PostgresServer.isThere)) struct CopyStoreTests {
    private let database: PostgresServer
    private let address: String

    init() throws {
        database = try PostgresServer()
        address = database.address()
    }

    /// Clients continue where they were, with their unsent edits and their tokens.
    @Test func toSeveralServersAndBack() throws {
        let one = try CommandUser("ada")
        let data = one.server.folder.path + "/data"
        for name in ["list", "gone"] { try one.hand("create", name) }
        for text in ["milk", "bread"] { try one.hand("add", text) }
        try one.hand("delete", "--force", "gone")
        let secret = try one.hand("token", "create", "eve", "--list", "list", "--role", "read", "--data", data)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try one.run(["store", "copy", data, address]).messages.contains("a server is running on \(data)"))
        one.server.kill()
        try one.hand("add", "waits", "--queue")
        let copied = try one.hand("store", "copy", data, address)
        #expect(copied.contains("copied 2 lists, 2 commits, everything is sound"), "\(copied)")
        #expect(try one.hand("store", "copy", data, address, expecting: 1).contains("is not empty"))

        let options = ["--store", address, "--log-level", "critical"]
        let shared = CommandUser("ada", at: try RunningServer(one.server.folder, options))
        try shared.hand("sync")
        #expect(try shared.lines() == ["[ ] milk", "[ ] bread", "[ ] waits"])
        var eve = shared
        eve.environment["HAND_NAME"] = nil
        eve.environment["HAND_TOKEN"] = secret
        #expect(try eve.lines() == shared.lines())
        try eve.hand("add", "mine", expecting: 5)
        #expect(try shared.hand("verify", "--store", address).contains("everything is sound"))
        let backup = one.server.folder.path + "/backup"
        #expect(try shared.hand("backup", backup, "--store", address).contains("2 lists, 3 commits"))
        // A server has said that it runs after a second.
        #expect(try eventually { try shared.hand("admin", "report", "--all", "--json", "--store", address) != "" })
        let refused = try shared.run(["store", "copy", address, one.server.folder.path + "/early"]).messages
        #expect(refused.contains("is running on this database. Stop it"), "\(refused)")
        #expect(shared.server.terminate() == 0)

        let back = one.server.folder.path + "/back"
        #expect(try one.hand("store", "copy", address, back).contains("copied 2 lists, 3 commits"))
        #expect(try one.run(["store", "copy", address, back]).messages.contains("there is a store in \(back) already"))
        #expect(try one.hand("verify", "--data", back).contains("everything is sound"))
        #expect(try one.hand("token", "list", "--data", back).contains("read on 'list'"))
        let last = CommandUser("ada", at: try RunningServer(one.server.folder, ["--data", back]))
        try last.hand("undelete", "gone")
        #expect(try last.lines() == ["[ ] milk", "[ ] bread", "[ ] waits"])
    }

    /// A database without a store is no empty one, and gets none by being looked at.
    @Test func nothingIsMadeInAWrongDatabase() throws {
        let folder = try TemporaryFolder()
        let commands = [
            ["verify"], ["backup", folder.path + "/backup"], ["token", "list"],
            ["token", "create", "eve", "--role", "read"],
        ]
        for command in commands {
            let outcome = try Binary.run(command + ["--store", address], environment: [:])
            #expect(outcome.status == 3 && outcome.messages.contains("there is no store in the database"), "\(outcome)")
        }
        let copied = try Binary.run(["store", "copy", address, folder.path + "/copy"], environment: [:])
        #expect(copied.status == 3 && copied.messages.contains("there is no store in the database"), "\(copied)")
        #expect(try database.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'hand'") == "0")
    }

    /// An edit that the database refuses is refused at once, and the next one is made.
    @Test func whatTheDatabaseRefusesIsRefused() throws {
        let user = CommandUser("ada", at: try RunningServer(try TemporaryFolder(), ["--store", address]))
        try user.hand("create", "list")
        try user.hand("add", "milk")
        let refusing = "CREATE FUNCTION hand.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$"
        try database.query(refusing)
        try database.query("CREATE TRIGGER no BEFORE INSERT ON hand.commits EXECUTE FUNCTION hand.no()")
        let refused = try user.run(["add", "bread"])
        #expect(refused.status == 4 && refused.messages.contains("Nothing was changed"), "\(refused)")
        try database.query("DROP TRIGGER no ON hand.commits")
        try user.hand("add", "eggs")
        #expect(try user.lines() == ["[ ] milk", "[ ] eggs"])
    }

    /// A folder with rules of its own is not taken for the rules of a server that has them in a database.
    @Test func aTokenIsMadeWhereItCounts() throws {
        let user = CommandUser("ada", at: try RunningServer(try TemporaryFolder(), ["--store", address]))
        try user.hand("token", "create", "eve", "--role", "read", "--store", address)
        let data = user.server.folder.path + "/data"
        let refused = try user.run(["token", "create", "dan", "--role", "write", "--data", data])
        #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
        #expect(refused.messages.contains("Name the --store or the --data"), "\(refused)")
        #expect(try !user.hand("token", "list", "--data", data).contains("dan"))
    }

    /// A backup of a database can be restored into another database, but not over an existing store.
    @Test func aBackupIsRestoredIntoAnEmptyDatabase() throws {
        let user = CommandUser("ada", at: try RunningServer(try TemporaryFolder(), ["--store", address]))
        try user.hand("create", "list")
        for text in ["milk", "bread"] { try user.hand("add", text) }
        let backup = user.server.folder.path + "/backup"
        try user.hand("backup", backup, "--store", address)
        let refused = try user.run(["recover", backup, "--store", address])
        #expect(refused.status == 1 && refused.messages.contains("is not empty: there are lists in it"))
        user.server.kill()
        try database.query("ALTER SCHEMA hand RENAME TO hand_before")
        #expect(try user.hand("recover", backup, "--store", address).contains("has 1 list, 2 commits again"))
        let again = CommandUser("ada", at: try RunningServer(user.server.folder, ["--store", address]))
        #expect(try again.lines() == ["[ ] milk", "[ ] bread"])
    }

    /// As a server that does not answer: a script may try again later.
    @Test(arguments: [["verify"], ["token", "list"], ["serve"], ["backup", "/dev/null/x"]])
    func aDatabaseThatDoesNotAnswerIsUnreachable(_ command: [String]) throws {
        let folder = try TemporaryFolder()
        let environment = ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        let outcome = try Binary.run(command + ["--store", "postgres://127.0.0.1:1/b"], environment: environment)
        #expect(outcome.status == 6 && outcome.messages.contains("cannot be reached"), "\(outcome)")
    }

    @Test(arguments: [
        (["store", "copy", "a", "b"], "neither is a database"),
        (["store", "copy", "postgres://a/b", "postgres://c/d"], "both are databases"),
        (["verify", "--store", "postgres://a/b", "--data", "c"], "not both"),
        (["recover", "a", "--replace", "--store", "postgres://127.0.0.1:1/b"], "a"),
        (["serve", "--store", "/tmp/lists"], "A folder goes into --data."),
    ])
    func impossibleCopiesAreRefused(arguments: [String], expected: String) throws {
        let outcome = try Binary.run(arguments)
        #expect(outcome.status != 0 && outcome.messages.contains(expected), "\(outcome.messages)")
    }
}
