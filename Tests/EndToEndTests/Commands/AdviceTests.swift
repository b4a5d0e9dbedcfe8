import Foundation
import HandTestSupport
import Testing

/// What is refused is refused with words that say what to do instead.
@Suite(.serialized) struct AdviceTests {
    /// Rules that nobody asked for fit every server.
    @Test(arguments: [1, 8_000, 16_383, 16_384, 100_000]) func aListIsMadeWhateverTheServersLimit(_ limit: Int) throws {
        let user = try CommandUser("ada", ["--max-item-size", "\(limit)"])
        let made = try user.hand("create", "list", "--json")
        #expect(made.contains("\"maximumSize\":\(min(limit, 16_384)),"), "\(made)")
        #expect(try user.hand("lists", "--json").contains("\"maximumSize\":\(min(limit, 16_384)),"))
        let text = String(repeating: "x", count: min(limit, 16_384))
        try user.hand("add", text)
        try user.hand("add", text + "x", expecting: 4)
        let said = try user.hand("create", "other", "--max-size", "\(limit + 1)", expecting: limit == 16_383 ? 0 : 2)
        #expect(limit == 16_383 || said.contains("at most \(limit) bytes"), "\(said)")
    }

    @Test func fullServersReject() throws {
        let user = try CommandUser("ada", ["--max-lists", "1"])
        try user.hand("create", "list")
        #expect(
            try user.hand("create", "two", expecting: 4)
                == "hand: there is no room for another list: this server keeps at most 1\n")
    }

    @Test func theListsAreNamed() throws {
        let user = try CommandUser()
        var other = user
        other.environment["HAND_URL"] = "hand+unix://\(user.server.socket)"
        #expect(try other.hand("ls", expecting: 2).hasSuffix(". There are no lists yet\n"))
        try user.hand("create", "cards")
        try user.hand("create", "groceries")
        for command in [["ls"], ["add", "x"], ["log"], ["watch"], ["sync", "--discard"], ["export"]] {
            let outcome = try other.run(command)
            #expect(outcome.status == 2, "\(command)")
            #expect(outcome.messages.hasSuffix("/LIST. There are: cards, groceries\n"), "\(command): \(outcome)")
        }
        other.environment["HAND_URL"] = "hand+unix:///not-there.sock"
        #expect(try other.hand("ls", expecting: 2).hasSuffix("/LIST\n"))
    }

    @Test func deletingInAScriptNeedsForce() throws {
        let user = try CommandUser()
        try user.hand("create", "list")
        let said = try user.hand("delete", "list", expecting: 1)
        #expect(said.hasSuffix("hand: nothing was deleted; in scripts: --force\n"), "\(said)")
        try user.hand("delete", "list", input: "list\n")
    }

    @Test func anImportThatIsThereAlreadySaysHowToRepeatIt() throws {
        let user = try CommandUser()
        try user.hand("create", "list")
        try user.hand("add", "a", "b")
        let file = user.server.folder.path + "/list.jsonl"
        try user.hand("export", file)
        let said = try user.hand("import", file, expecting: 4)
        #expect(said.hasPrefix("hand: 0 of 2 items were imported, then: "), "\(said)")
        #expect(
            said.hasSuffix(
                "is in the list already. --new-ids imports it again. If an earlier import of it was stopped, "
                    + "--continue 0-0 goes on with that one.\n"), "\(said)")
        #expect(try user.messages("import", file, "--continue", "0-0") == "imported 0 items\n")
        try user.hand("import", file, "--new-ids")
        #expect(try user.lines().count == 4)
    }

    @Test func aBackupIsNotOverwritten() throws {
        let user = try CommandUser()
        let file = user.server.folder.path + "/backup"
        try user.hand("backup", "--data", user.server.folder.path + "/data", file)
        #expect(
            try user.hand("backup", "--data", user.server.folder.path + "/data", file, expecting: 1)
                == "hand: \(file) exists already; name another file\n")
    }

    @Test func certificatesThatDoNotFitAreNamed() throws {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(folder)
        let own = try certificates.make("own", for: "IP:127.0.0.1")
        let other = try certificates.make("other", for: "IP:127.0.0.1")
        let (empty, absent) = (folder.path + "/empty.pem", folder.path + "/absent.pem")
        try Data().write(to: URL(fileURLWithPath: empty))
        let locked = try certificates.encrypted(own.key)
        let cases = [
            (own.certificate, other.key, "the key \(other.key) does not belong to the certificate \(own.certificate)"),
            (own.certificate, own.certificate, "\(own.certificate) holds no private key without a password, in PEM"),
            (own.certificate, empty, "\(empty) holds no private key without a password, in PEM"),
            (own.certificate, locked, "\(locked) holds no private key without a password, in PEM"),
            (own.certificate, absent, "the key \(absent) cannot be read: No such file or directory"),
            (own.key, own.key, "\(own.key) holds no certificate, in PEM"),
            (empty, own.key, "\(empty) holds no certificate, in PEM"),
            (absent, own.key, "the certificate \(absent) cannot be read: No such file or directory"),
        ]
        for (certificate, key, message) in cases {
            let serve = ["serve", "--data", folder.path, "--listen", "127.0.0.1:0"]
            let outcome = try Binary.run(serve + ["--tls-cert", certificate, "--tls-key", key])
            let status: Int32 = [certificate, key].contains(absent) ? 3 : 2
            #expect(outcome.status == status && outcome.messages == "hand: \(message)\n", "\(outcome)")
        }
        let authority = ["--tls-cert", own.certificate, "--tls-key", own.key, "--tls-client-ca", empty]
        let said = try Binary.run(["serve", "--data", folder.path] + authority).messages
        #expect(said == "hand: \(empty) holds no certificate, in PEM\n")
    }

    /// Values that nobody can mean are refused, not taken for others.
    @Test func wrongValuesAreNamed() throws {
        let user = try CommandUser()
        try user.hand("create", "list")
        for arguments in [["-n", "0"], ["-n", "-3"], ["--from", "-5"]] {
            let said = try user.run(["log"] + arguments)
            #expect(said.status == 2 && said.messages.contains("expected 1 or more"), "\(arguments): \(said)")
        }
        for command in ["log", "ls", "find", "undo", "redo"] {
            let said = try user.hand(command, "-n", "0", expecting: 2)
            let range = command.hasSuffix("do") ? "1 to 1000" : "1 or more"
            #expect(said.hasPrefix("hand: -n: expected \(range), found 0\n"), "\(command): \(said)")
        }
        let absent = try user.hand("import", "-", "--before", "9", input: "- [ ] a\n", expecting: 3)
        #expect(absent.contains("there is no item 9") && !absent.contains("--continue"), "\(absent)")
        // Some editors begin a file with a byte order mark.
        try user.hand("add", "-", input: "\u{FEFF}a\r\nb\r\n")
        #expect(try user.lines() == ["[ ] a", "[ ] b"])
        try user.hand("create", "--", "--name")
        let hint = try user.messages("create", "--", "--other")
        #expect(hint.contains("hand add TEXT --list=--other"), "\(hint)")
        #expect(try user.hand("ls", "-l", "..", expecting: 3).contains("Make it with") == false)
    }

    @Test func anUnknownAuthorityIsExplained() throws {
        let folder = try TemporaryFolder()
        let own = try Certificates(folder).make("server", for: "IP:127.0.0.1")
        let server = try RunningServer(
            folder, ["--listen", "127.0.0.1:0", "--tls-cert", own.certificate, "--tls-key", own.key])
        let address = try #require(server.greeting.firstMatch(of: #/hands://127\.0\.0\.1:\d+/#)?.0)
        let said = try Binary.run(
            ["lists", "--url", String(address)], environment: ["HOME": folder.path, "HAND_CA": ""])
        #expect(said.status == 6 && said.messages.contains("is not trusted"), "\(said)")
        #expect(said.messages.hasSuffix("If you were given the file of its authority: HAND_CA=FILE\n"), "\(said)")
    }
}
