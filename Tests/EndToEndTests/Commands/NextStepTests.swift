import Foundation
import HandFormats
import HandTestSupport
import Testing

/// What commands say where a person needs a next step.
@Suite(.serialized) struct NextStepTests {
    let user: CommandUser
    var data: String { user.server.folder.path + "/data" }

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
        try user.hand("add", "milk")
    }

    @Test func whoeverAsksWhoIsThereIsNotThere() async throws {
        #expect(try user.run(["who"]).output == "")
        #expect(try user.messages("who") == "nobody has 'list' open\n")
        let guest = try user.server.client("ben")
        _ = try await guest.open("list").live()
        #expect(try user.hand("who") == "ben\n")
        #expect(try user.hand("who", "--json").contains("\"person\":\"ben\""))
        await guest.close()
        // One's own screens are not there, either.
        let screen = try user.server.client("ada")
        _ = try await screen.open("list").live()
        #expect(try user.run(["who", "--json"]).output == "")
        #expect(try user.messages("who") == "nobody else has 'list' open\n")
        #expect(try user.hand("who", "--all") == "ada\n")
        await screen.close()
    }

    @Test func aLinkToAListThatDoesNotExist() throws {
        let warning = "there is no list 'nolist' yet"
        for command in [["share", "nolist"], ["token", "create", "bob", "-l", "nolist"]] {
            #expect(try user.run(command + ["--data", data]).messages.contains(warning))
        }
        for command in [["share", "list"], ["token", "create", "bob", "-l", "list"], ["token", "create", "cat"]] {
            #expect(try !user.run(command + ["--data", data]).messages.contains("there is no list"))
        }
    }

    /// What is refused is no edit: undo is about the one before it.
    @Test func undoGoesPastWhatWasRefused() throws {
        try user.hand("create", "small", "--max-items", "1")
        try user.hand("add", "-l", "small", "one")
        try user.hand("add", "-l", "small", "two", expecting: 4)
        try user.hand("add", "-l", "small", "three", expecting: 4)
        #expect(try user.messages("undo", "-l", "small").contains("took back revision 1"))
        #expect(try user.messages("redo", "-l", "small").contains("revision"))
        #expect(try user.lines("-l", "small") == ["[ ] one"])
    }

    /// What a command advises works as it stands there.
    @Test func advisedCommandsWork() throws {
        for name in ["twice", "-x"] {
            try user.hand("create", "--", name)
            try user.hand("delete", "--force", "--", name)
            try user.hand("create", "--", name)
            let advice = try user.hand("undelete", "--", name, expecting: 7)
            let command = try #require(advice.split(separator: "name: hand ").last).replacing(
                "OTHER", with: "again \(name)")
            let shell = "'\(Binary.path)' " + command.replacing("again \(name)", with: "'again \(name)'")
            let outcome = try Binary.run(["-c", shell], environment: user.environment, program: "/bin/sh")
            #expect(outcome.status == 0, "\(shell): \(outcome.messages)")
        }
        // A text of several lines, which somebody has changed.
        try user.hand("add", "first\nsecond\tit's")
        let advice = try user.hand("edit", "2", "mine", "--was", "former", expecting: 7)
        let was = try #require(advice.split(separator: "--was ").last).trimmingCharacters(in: ["\n", "."])
        let shell = "'\(Binary.path)' edit 2 mine --was \(was)"
        let outcome = try Binary.run(["-c", shell], environment: user.environment, program: "/bin/bash")
        #expect(outcome.status == 0, "\(shell): \(outcome.messages)")
        #expect(try user.lines() == ["[ ] milk", "[ ] mine"])
    }

    /// An unset variable of a script is no address.
    @Test func anEmptyAddressIsNone() throws {
        var environment = user.environment
        let url = environment["HAND_URL"] ?? ""
        environment["HAND_URL"] = ""
        #expect(try Binary.run(["lists", "--url", url], environment: environment).status == 0)
        #expect(try !Binary.run(["lists"], environment: environment).messages.contains("not a URL"))
    }

    /// A lower role on one list has no effect beside a higher one on all.
    @Test func aRoleThatWouldNotCountIsRefused() throws {
        let made = try user.hand("token", "create", "eve", "--role", "write", "--data", data, "--json")
        let id = try #require(made.firstMatch(of: #/"id":"([^"]+)"/#)?.1)
        let refusal = try user.hand(
            "token", "grant", String(id), "--role", "read", "-l", "list", "--data", data, expecting: 2)
        #expect(refusal.contains("token \(id) has the role 'write' on all lists"))
        #expect(refusal.contains("hand token grant --role read \(id) --data"), "\(refusal)")
        try user.hand("token", "grant", String(id), "--role", "none", "--data", data)
        try user.hand("token", "grant", String(id), "--role", "read", "-l", "list", "--data", data)
    }

    /// A digest that begins with a zero has it wherever it is printed. About half of them do.
    @Test func digestsAreTheSameEverywhere() throws {
        for number in 0..<6 {
            try user.hand("create", "l\(number)")
            try user.hand("add", "-l", "l\(number)", "milk")
        }
        let report = try JSONValue.parse(try user.hand("verify", "--json", "--data", data))
        guard case .array(let lists)? = report["lists"] else { throw CocoaError(.coderReadCorrupt) }
        #expect(lists.count == 7)
        for list in lists {
            guard case .string(let name)? = list["name"] else { throw CocoaError(.coderReadCorrupt) }
            #expect(list["digest"] == (try JSONValue.parse(try user.hand("show", "-l", name, "--json"))["digest"]))
        }
    }

    @Test func topWithoutATerminal() throws {
        let said = try user.hand("top", "--data", data, expecting: 2)
        #expect(said == "hand: 'hand top' needs a terminal for input and output; in scripts use 'hand admin report'\n")
    }

    @Test func aRevisionThatIsNotThereYet() throws {
        let said = try user.hand("add", "x", "--if-revision", "999", expecting: 7)
        #expect(said.hasPrefix("hand: the list is at revision 1, not at the one that you expect."))
    }

    @Test func aCopyIsOffered() throws {
        try user.hand("ls")
        user.server.kill()
        let said = try user.hand("ls", "-l", "list", expecting: 6)
        #expect(said.contains("This machine has a copy: hand ls --offline -l list"))
        #expect(try user.hand("ls", "--offline", "-l", "list").contains("milk"))
        #expect(try !user.hand("ls", "-l", "other", expecting: 6).contains("copy"))
    }

    @Test func drainingSaysHowLong() async throws {
        let guest = try user.server.client("ben")
        _ = try await guest.open("list").live()
        let said = try user.messages("admin", "drain", "--within", "30s", "--data", data)
        #expect(said == "draining: 1 connection; the server stops within 30 s\n")
        await guest.close()
        #expect(user.server.waitForEnd() == 0)
    }

    /// Commands in messages are for a shell: what others chose is one word there.
    @Test func advisedCommandsAreQuoted() throws {
        let said = try user.hand("ls", "-l", "a$(touch x)", expecting: 3)
        #expect(said.hasSuffix("Make it with: hand create 'a$(touch x)'\n"), "\(said)")
        let missing = try user.hand("undelete", "a;b", expecting: 3)
        #expect(missing.contains("'hand lists --deleted"))
        let other = try user.hand("delete", "--force", "$(id)", expecting: 3)
        #expect(!other.contains("create $(id)"), "\(other)")
    }
}
