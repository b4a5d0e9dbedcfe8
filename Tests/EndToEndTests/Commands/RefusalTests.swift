import Foundation
import HandTestSupport
import Testing

/// The refusals of the command line, and their wording.
@Suite(.serialized) struct RefusalTests {
    let user: CommandUser

    init() throws { user = try CommandUser() }

    @Test func anUnknownCommandIsRefused() throws {
        #expect(
            try user.hand("lsx", expecting: 2)
                == "hand: there is no command 'hand lsx'. Did you mean 'ls'? 'hand --help' shows all.\n")
        #expect(
            try user.hand("help", "lsx", expecting: 2)
                == "hand: there is no command 'hand lsx'. Did you mean 'ls'? 'hand --help' shows all.\n")
        #expect(
            try user.hand("token", "revoek", "x", expecting: 2)
                == "hand: there is no command 'hand token revoek'. Did you mean 'revoke'? 'hand token --help' shows all.\n"
        )
        #expect(
            try user.hand("frobnicate\u{1B}[31m", expecting: 2)
                == "hand: there is no command 'hand frobnicate\u{FFFD}[31m'. 'hand --help' shows all.\n")
        #expect(try user.hand("help", "ls").hasPrefix("OVERVIEW: Print the items"))
        #expect(try user.hand("help").contains("A list that several people edit"))
    }

    @Test func aMissingListIsReported() throws {
        try user.hand("create", "groceries")
        #expect(
            try user.hand("ls", "-l", "grocerys", expecting: 3)
                == "hand: there is no list 'grocerys'. Did you mean 'groceries'?\n")
        #expect(
            try user.hand("add", "-l", "work", "milk", expecting: 3)
                == "hand: there is no list 'work'. Make it with: hand create work\n")
    }

    /// `delete` does not ask about a missing list; otherwise it says what would be deleted.
    @Test func deletingAsksOnlyAboutExistingLists() throws {
        let refusal = try user.hand("delete", "groceries", expecting: 3)
        #expect(refusal == "hand: there is no list 'groceries'; 'hand lists' shows all\n")
        try user.hand("create", "groceries")
        #expect(
            try user.hand("delete", "grocerie", "--force", expecting: 3)
                == "hand: there is no list 'grocerie'. Did you mean 'groceries'?\n")
        try user.hand("add", "-l", "groceries", "milk")
        let question = try user.hand("delete", "groceries", input: "no\n", expecting: 1)
        #expect(question.contains("'groceries' (1 item)") && question.contains("nothing was deleted"))
        try user.hand("delete", "groceries", input: "groceries\n")
        #expect(try user.hand("lists") == "")
    }

    @Test func aUnitChecksTheServersOptions() throws {
        let refusal = try user.hand("unit", "--", "--bogus", expecting: 2)
        #expect(refusal.contains("hand serve: Unknown option '--bogus'") && !refusal.contains("CommandError"))
        #expect(try user.hand("unit", "--", "--help").contains("Run a server."))
        #expect(try user.hand("unit", "--", "--max-items", "5").contains("--max-items 5"))
    }

    /// Input that is not text is refused: replacing bytes would put something else into the list.
    @Test func inputMustBeUTF8() throws {
        try user.hand("create", "list")
        func shell(_ command: String) throws -> (status: Int32, text: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", command + " 2>&1", Binary.path]
            process.environment = outerEnvironment.merging(user.environment) { $1 }
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        }
        let argument = try shell(#""$0" add fine "$(printf 'a\377b')""#)
        #expect(argument == (2, "hand: argument 3 is not UTF-8: 'a\u{FFFD}b'\n"))
        #expect(try shell(#"printf 'a\377b\n' | "$0" add -"#) == (1, "hand: standard input is not UTF-8\n"))
        #expect(try user.lines() == [])
    }

    /// If nobody listens, the message says so and what to do; other reasons are reported as they are.
    @Test func anUnreachableServerIsReported() throws {
        func words(_ url: String) throws -> String { try user.hand("ls", "--url", url, expecting: 6) }
        let path = user.server.folder.path + "/no.sock"
        #expect(
            try words("hand+unix://\(path)/list")
                == "hand: no server answers at \(path). Start one: hand serve --listen \(path)\n")
        // Nobody listens at port 1.
        #expect(
            try words("hand://127.0.0.1:1/list")
                == "hand: no server answers at 127.0.0.1:1. Start one: hand serve --listen 127.0.0.1:1\n")
        #expect(
            try words("hand://127.0.0.2:1/list") == "hand: no server answers at 127.0.0.2:1: connection refused\n")
        try user.hand("add", "x", "--queue", "--url", "hand://127.0.0.1:1/list")
        #expect(
            try user.hand("sync", "--url", "hand://127.0.0.1:1/list", expecting: 6).hasSuffix("--listen 127.0.0.1:1\n"))
    }

    @Test func unreadableFilesAreReported() throws {
        try user.hand("create", "list")
        #expect(try user.hand("import", "nofile.md", expecting: 3) == "hand: cannot read nofile.md: no such file\n")
        let folder = user.server.folder.path
        #expect(try user.hand("import", folder, expecting: 1) == "hand: cannot read \(folder): is a directory\n")
        // A missing file has the same code, whatever reads it.
        let copy = folder + "/copy"
        for command in [
            ["load", "nofile"], ["load", "--compare", "nofile"], ["verify", "nofile"], ["recover", "nofile"],
            ["verify", "--data", folder + "/none"], ["backup", copy, "--data", folder + "/none"],
            ["serve", "--config", "nofile"], ["watch", "--exec", "./nofile"],
            ["context", "add", "x", "hand://x", "--ca", "nofile"],
        ] {
            let outcome = try user.run(command)
            #expect(outcome.status == 3, "\(command): \(outcome)")
        }
    }

    /// Where one may not look, there may be a store.
    @Test func whatCannotBeLookedAtIsNotMissing() throws {
        let folder = user.server.folder.path
        // No user, not even root, can look at such a name.
        let path = folder + "/" + String(repeating: "x", count: 300)
        for command in [
            ["verify", path], ["verify", "--data", path], ["backup", folder + "/copy", "--data", path],
            ["recover", path, "--data", folder + "/new"],
        ] {
            let outcome = try user.run(command)
            #expect(outcome.status == 1 && outcome.messages.contains("File name too long"), "\(command): \(outcome)")
        }
    }

    /// Nothing prints an address with a password, also not in a unit or as a setting.
    @Test func passwordsAreNotPrinted() throws {
        let store = "postgres://hand:hidden@db/hand"
        var user = user
        for command in [["unit", "--", "--store", store], ["serve", "--print-config", "--store", store]] {
            let outcome = try user.run(command)
            #expect(outcome.status == 2 && !"\(outcome)".contains("hidden"), "\(command): \(outcome)")
        }
        user.environment["HAND_STORE"] = store
        let outcome = try user.run(["serve", "--print-config"])
        #expect(outcome.status == 2 && !"\(outcome)".contains("hidden"), "\(outcome)")
        #expect(outcome.messages.contains("PGPASSWORD") && outcome.messages.contains("is set in the environment"))
    }

    @Test func aBackupIsAFile() throws {
        for command in [["backup"], ["verify"], ["recover"], ["admin", "backup"]] {
            let said = try user.run(command + ["-"])
            #expect(said.status == 2 && said.messages.contains("a backup is a file: name it"), "\(said)")
        }
    }

    @Test func unknownSettingsAreRefused() throws {
        let file = user.server.folder.path + "/config/hand/config.toml"
        try FileManager.default.createDirectory(
            atPath: user.server.folder.path + "/config/hand", withIntermediateDirectories: true)
        for (settings, problem) in [
            (
                "nmae = 'ada'",
                "unknown setting 'nmae'. Did you mean 'name'? "
                    + "The settings are url, name, ca, cert, cert-key, token, notify and [keys]."
            ),
            ("name = 3", "name: expected a string in quotes, found a whole number"),
            ("keys = 'd'", "keys: expected a table, [keys], with the keys of actions, found a string"),
            ("[keys]\ndelete = 'd'", "keys: delete: expected a list of keys, such as [\"d\"], found a string"),
            (
                "[keys]\ndelete = ['d', 1]",
                "keys: delete: expected a list of keys, such as [\"d\"], found a list with a whole number"
            ),
        ] {
            try settings.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try user.hand("keys", expecting: 2) == "hand: \(file): \(problem)\n")
        }
    }

    /// A name is shown beside others' words.
    @Test(arguments: ["a\nb", "\u{1B}[31mred", "bob\u{202E}", "a\u{200B}b"]) func aNameIsOneVisibleLine(name: String)
        throws
    {
        try user.hand("create", "list")
        #expect(
            try user.hand("add", "x", "--as", name, expecting: 2)
                == "hand: your name is one line, without control characters and invisible characters. "
                + "--as sets another name\n")
        #expect(try user.hand("add", "x", "--as", "Zoë 👩‍👧 李", expecting: 0) == "")
    }

    /// Nothing is drawn on a terminal that cannot move its cursor.
    @Test func aTerminalWithoutCursorIsRefused() throws {
        try user.hand("create", "list")
        let tmux = try Tmux(columns: 200, environment: user.environment, "sh")
        try tmux.type("TERM=dumb \(Binary.path) open; echo ended with $?", in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        let screen = try tmux.wait(for: tmux.first) { $0.contains { $0.hasSuffix("ended with 2") } }
        #expect(screen.contains { $0.hasPrefix("hand: a terminal of kind 'dumb' cannot show a whole screen") })
    }
}
