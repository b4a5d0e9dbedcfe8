import Foundation
import HandTestSupport
import Testing

/// Arguments that begin with a dash, and empty ones: a text is never taken for an option, and no command succeeds
/// without its work.
@Suite(.serialized) struct ArgumentTests {
    let user: CommandUser

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
    }

    /// The parser takes some of these for options with an `h`, which would print help.
    private static let texts = [
        "- wash the dishes", "-5", "-5 °C outside", "---", "-- home", "->", "-ähnlich", "--=x", "-\nh", "- [ ] box",
        "-qh is text",
    ]

    @Test(arguments: texts) func aTextMayBeginWithADash(_ text: String) throws {
        let shown = "[ ] " + text.replacing("\n", with: " ")
        try user.hand("add", "first", text, "last")
        #expect(try user.lines() == ["[ ] first", shown, "[ ] last"], "in the order given")
        try user.hand("add", text, "--top", "--", "--force")
        #expect(try user.lines().first == shown)
        #expect(try user.lines()[1] == "[ ] --force")
        try user.hand("edit", "5", text)
        #expect(try user.lines().last == shown)
        try user.hand("edit", "5", text + "!", "--was", text)
        let line = text.replacing("\n", with: " ")
        #expect(try user.lines("--grep", line + "!") == ["[ ] \(line)!"])
        #expect(try user.lines("--grep=\(line)", "-n", "1") == ["[ ] \(line)"])
        // A name is one line.
        try user.hand("add", "by a person", "--as", line, "-q")
        #expect(try user.hand("log", "-n", "1").contains("  \(line)\n"))
    }

    /// What has the form of an option and is none, is refused. Also letters of which one would print help.
    @Test(arguments: ["-x", "--bogus", "-wash", "-qh", "-h=5", "-lq", "--bogus=x y"])
    func whatLooksLikeAnOptionIsRefused(_ word: String) throws {
        if word == "-qh" { return #expect(try user.hand("add", "a", word).contains("USAGE: hand add")) }
        for command in [["add", "a", word], ["edit", "1", word], ["add", word, "- text"]] {
            let said = try user.hand(command[0], command[1], command[2], expecting: 2)
            let name = word.prefix { $0 != "=" || word.hasPrefix("-h") }
            #expect(said.contains("put it after --: hand \(command[0]) -- \(name)"), "\(command): \(said)")
        }
        #expect(try user.hand("ls") == "")
        try user.hand("add", "--", word)
        #expect(try user.lines() == ["[ ] \(word)"])
    }

    /// The values of options that begin like another option.
    @Test func aValueWithADashIsWrittenAfterAnEqualsSign() throws {
        try user.hand("add", "-milk and -x", "plain")
        #expect(try user.hand("ls", "--grep", "-milk", expecting: 2).contains("write --grep=-milk\n"))
        #expect(try user.lines("--grep=-milk") == ["[ ] -milk and -x"])
    }

    /// No command prints help and succeeds because of an argument that is not `-h` or `--help`, and all wrong arguments
    /// are reported in the same form, with the command's own help.
    @Test func everyCommandRefusesWhatItDoesNotKnow() throws {
        for command in try ManualTests.commands() where !command.isEmpty {
            for word in ["-xh", "--nothing", "-h=1", "--help=1"] {
                let outcome = try user.run(command + [word])
                let name = (["hand"] + command).joined(separator: " ")
                #expect(outcome.status == 2 && outcome.output == "", "\(name) \(word): \(outcome)")
                #expect(outcome.messages.hasPrefix("hand: "), "\(name) \(word): \(outcome.messages)")
                #expect(!outcome.messages.contains("USAGE"), "\(name) \(word): \(outcome.messages)")
                #expect(outcome.messages.contains("See '\(name) --help'"), "\(name) \(word): \(outcome.messages)")
            }
        }
    }

    /// A number that is too large for the protocol is refused before anything is sent.
    @Test func numbersThatAreTooLargeAreRefused() throws {
        try user.hand("add", "milk")
        let revision = String(Int.max)
        for (arguments, status) in [
            (["create", "other", "--max-size", "2147483648"], 2),
            (["undelete", "list", "--id", "9007199254740992"], 2),
            (["show", "1", "--at", revision], 2), (["export", "--at", revision], 2), (["rm", "4294967296"], 3),
            (["mv", "4294967296", "--top"], 3), (["cp", "4294967296", "--end"], 3), (["done", "4294967296"], 3),
        ] {
            let said = try user.run(arguments)
            #expect(said.status == status && said.output == "", "\(arguments): \(said)")
        }
        #expect(try user.lines() == ["[ ] milk"])
    }

    @Test func wrongArgumentsAreReportedInOneForm() throws {
        let cases: [([String], String)] = [
            (["add", "x", "--note", "--heading"], "choose one: --task, --note, --heading or --card"),
            (["mv", "1"], "where to? Use --top, --end, --before ITEM, --after ITEM or --to LIST."),
            (["deal", "x"], "the value 'x' is invalid for '<number>'"),
            (["deal", "-5"], "a deck has 52 cards: deal 1 to 52, not -5."),
            (["edit"], "missing expected argument '<item>'"),
            (
                ["add", "--taks", "x"],
                "unknown option '--taks'. Did you mean '--task'? If it is a text, put it after --: hand add -- --taks\n"
            ),
            (["ls", "--all"], "unknown option '--all'\n"), (["done", "1", "-f"], "unknown option '-f'\n"),
            (["serve", "--listen", "127.0.0.1:80x"], "--listen: '127.0.0.1:80x' is not an address: "),
            (["serve", "--web", "a.sock"], "--web: 'a.sock' is not an address: expected HOST:PORT or [IPv6]:PORT"),
        ]
        for (arguments, message) in cases {
            let said = try user.run(arguments)
            #expect(said.status == 2, "\(arguments)")
            #expect(said.messages.hasPrefix("hand: \(message)"), "\(arguments): \(said.messages)")
            #expect(said.messages.hasSuffix("See 'hand \(arguments[0]) --help'\n"), "\(arguments): \(said.messages)")
        }
    }

    /// An unset variable of a shell is refused where a text or a name is expected, as the screen refuses it.
    @Test func anEmptyTextIsRefused() throws {
        try user.hand("add", "a", "--link", "hand://x")
        for empty in ["", " ", "\t\n", "\u{A0}"] {
            for command in [
                ["add", empty], ["add", "b", empty], ["add", "--note", empty], ["add", "--heading", empty],
                ["add", "--card", empty], ["add", "b", "--link", empty], ["add", empty, "--link", "hand://x"],
                ["add", empty, "--queue"], ["edit", "1", empty], ["edit", "1", "--link", empty],
                ["edit", "1", empty, "--was", "a"], ["add", "b", "--as", empty], ["create", empty],
                ["rename", "list", empty], ["token", "create", empty], ["share", "list", "--as", empty],
                ["share", empty], ["context", "add", "x", "hand://h", "--as", empty],
                ["context", "add", empty, "hand://h"],
            ] {
                let outcome = try user.run(command)
                #expect(outcome.status == 2 && outcome.messages.hasPrefix("hand: "), "\(command): \(outcome)")
            }
            try user.hand("add", "-", input: empty, expecting: 2)
            try user.hand("edit", "1", "-", input: empty, expecting: 2)
        }
        try user.hand("-c", "", "ls", expecting: 2)
        try user.hand("ls", "-c", "", expecting: 2)
        #expect(try user.lines() == ["a <hand://x>"])
        try user.hand("add", "-", input: "b\r\n\n  \nc\n")
        #expect(try user.lines() == ["a <hand://x>", "[ ] b", "[ ] c"], "empty lines are no items")
        var unnamed = user
        unnamed.environment["HAND_NAME"] = ""
        unnamed.environment["USER"] = "eve"
        try unnamed.hand("add", "d")
        #expect(try user.hand("log", "-n", "1").contains("  eve\n"), "an empty name is none")
    }

    /// Only LF and CR LF end a line, as in a file that is imported.
    @Test func otherSeparatorsStayInATextFromStandardInput() throws {
        try user.hand("add", "-", input: "one\u{2028}line\r\ntwo\n")
        #expect(try user.hand("ls", "--json").contains("\"one\u{2028}line\""))
        try user.hand("edit", "2", "-", input: "a\r\nb\r\n")
        #expect(try user.hand("ls", "2", "--json").contains("\"a\\nb\""))
    }

    /// Standard input that cannot be read is not an empty one.
    @Test func unreadableInputIsReported() throws {
        for command in ["add -", "edit 1 -", "import - --format markdown"] {
            let words = ["-c", "\(Binary.path) \(command) < \(user.server.folder.path)"]
            let outcome = try Binary.run(words, environment: user.environment, program: "/bin/sh")
            #expect(outcome.status == 1, "\(command): \(outcome)")
            #expect(outcome.messages == "hand: cannot read standard input: is a directory\n", "\(command)")
        }
    }

    @Test func anEditThatDoesNotFitNamesTheItem() throws {
        try user.hand("add", "milk")
        try user.hand("add", "--note", "butter")
        try user.hand("add", "--card", "QS")
        #expect(
            try user.hand("add", "--card", "??", expecting: 4)
                == "hand: this list has no deck; one that has: hand create --deck NAME\n")
        #expect(
            try user.hand("edit", "1", "x", "--link", "hand://x", expecting: 4)
                == "hand: 'milk' is a task; only a link has an address\n")
        #expect(
            try user.hand("done", "1-2", expecting: 4) == "hand: 'butter' is a note; only a task has a box to tick\n")
        #expect(try user.hand("edit", "3", "KS", expecting: 4) == "hand: 'Q♠' is a card; its text cannot be changed\n")
    }
}
