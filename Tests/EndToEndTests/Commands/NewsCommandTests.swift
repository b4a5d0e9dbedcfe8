import Foundation
import HandTestSupport
import Testing

/// What is new since somebody looked, and what happened to one item, by commands.
@Suite(.serialized) struct NewsCommandTests {
    let ada: CommandUser
    let bob: CommandUser

    init() throws {
        ada = try CommandUser("ada")
        bob = ada.named("Bob")
        try ada.hand("create", "list")
        try bob.hand("add", "milk", "bread", "eggs")
    }

    /// Runs a command of Ada's on a terminal.
    private func look(_ command: String) throws {
        let outcome = try Binary.run(
            ["-qec", "\(Binary.path) \(command)", "/dev/null"], environment: ada.environment,
            program: "/usr/bin/script")
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func newIsWhatOthersDidSinceTheLastLook() throws {
        // Who has never looked at a list finds all of it new; the lists that nobody has looked at are none of the new.
        #expect(try ada.lines("--new").count == 3)
        #expect(try ada.messages("lists", "--new") == "nothing is new in the lists that you have looked at\n")
        try look("ls")
        #expect(try ada.lines("--new") == [] && ada.messages("ls", "--new") == "nothing is new in 'list'\n")
        try bob.hand("add", "cheese")
        try bob.hand("done", "2")
        try ada.hand("add", "mine")
        #expect(try ada.lines("--new") == ["[x] bread", "[ ] cheese"])
        #expect(try ada.lines("--new", "--done") == ["[x] bread"])
        #expect(try ada.hand("lists", "--new") == "list\t2 new, by Bob\n")
        let json = try ada.hand("lists", "--new", "--json")
        #expect(json.hasSuffix(#""new":2,"by":["Bob"],"since":1}"# + "\n"), "\(json)")
        #expect(try ada.hand("log", "--new").split(separator: "\n").count == 4)
        // Reading into a pipe is no look; neither are a part of the list and another person's look.
        try look("ls 1-2")
        try look("ls --open")
        try bob.hand("ls")
        #expect(try ada.lines("--new").count == 2)
        try look("log --new")
        #expect(try ada.lines("--new") == [] && ada.messages("log", "--new") == "nothing is new in 'list'\n")
        try bob.hand("rm", "1")
        // What it does not show is not seen.
        try look("ls --new")
        #expect(try ada.hand("lists", "--new") == "list\tchanged by Bob\n")
        try look("log -n 1")
        #expect(try ada.messages("lists", "--new").contains("nothing is new"))
    }

    /// What nobody keeps any more is not said to be nothing.
    @Test func whatIsForgottenMayBeNew() throws {
        let ada = try CommandUser("ada", ["--snapshot-commits", "10", "--keep-commits", "3"])
        try ada.hand("create", "list")
        try ada.hand("add", "first")
        let look = ["-qec", "\(Binary.path) ls", "/dev/null"]
        #expect(try Binary.run(look, environment: ada.environment, program: "/usr/bin/script").status == 0)
        for number in 1...24 { try ada.named("Bob").hand("add", "\(number)", "-q") }
        #expect(try eventually { try !ada.hand("log").contains("revision 2 ") })
        for command in ["ls", "lists"] {
            #expect(
                try ada.messages(command, "--new") == "'list': older changes are no longer kept, so more may be new\n")
        }
    }

    /// Another list that has got the name is not the one that was looked at.
    @Test func aListThatIsRenamedKeepsItsNews() throws {
        try look("ls")
        try bob.hand("add", "cheese")
        try bob.hand("rename", "list", "renamed")
        #expect(try ada.hand("lists", "--new") == "renamed\t1 new, by Bob\n")
        #expect(try ada.lines("--new", "-l", "renamed") == ["[ ] cheese"])
        try bob.hand("create", "list")
        try bob.hand("add", "-l", "list", "other")
        try look("ls -l renamed")
        #expect(try ada.messages("lists", "--new").contains("nothing is new"))
    }

    /// A history of nothing is said to be one.
    @Test func aHistoryWithoutCommitsIsSaid() throws {
        #expect(try ada.messages("log", "--from", "9") == "'list' has no revision 9 yet\n")
        #expect(try ada.messages("log", "--from", "9", "--json") == "")
        try ada.hand("create", "empty")
        #expect(try ada.messages("log", "-l", "empty") == "nothing has changed in 'empty' yet\n")
    }

    /// One's own items are not new, also before the first look; a list is new that has the name of a deleted one.
    @Test func newIsWhatOthersDidInThisList() throws {
        try ada.hand("add", "mine")
        #expect(try ada.lines("--new") == ["[ ] milk", "[ ] bread", "[ ] eggs"])
        #expect(try !ada.hand("log", "--new").contains("mine"))
        try look("ls")
        try ada.hand("delete", "list", "--force")
        try ada.hand("create", "list")
        try bob.hand("add", "other")
        #expect(try ada.lines("--new") == ["[ ] other"] && ada.hand("log", "--new").contains("other"))
        #expect(try ada.messages("lists", "--new") == "nothing is new in the lists that you have looked at\n")
    }

    /// The server decides what somebody is called, and that name is one's own.
    @Test func onesOwnNameIsThatOfTheToken() throws {
        let data = ada.server.folder.path + "/data"
        let secret = try ada.hand("token", "create", "zoe", "--role", "write", "--data", data)
        var zoe = ada
        zoe.environment["HAND_TOKEN"] = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        try look("ls")
        try zoe.hand("add", "for @zoe", "for @ada")
        #expect(try zoe.lines("--mine") == ["[ ] for @zoe"])
        #expect(try zoe.hand("find", "for", "--mine").contains("@zoe"))
        #expect(try !zoe.hand("log", "--new").contains("@zoe"))
        // Nobody vouches for a guest, whose name has a mark, and who is meant all the same.
        #expect(try ada.lines("--mine") == ["[ ] for @ada"])
        try ada.hand("add", "as a guest")
        #expect(try !ada.hand("log", "--new").contains("as a guest"))
        #expect(try zoe.hand("redo", expecting: 3) == "hand: 'zoe' has nothing to redo\n")
    }

    /// Only the newest commits were printed, and others had come before them.
    @Test func aPartOfTheHistoryIsNoLook() throws {
        try look("ls")
        try bob.hand("add", "x")
        try bob.hand("add", "y")
        try look("log -n 1")
        #expect(try ada.lines("--new") == ["[ ] x", "[ ] y"])
    }

    @Test func whatIsNewNeedsTheServer() throws {
        #expect(try ada.hand("ls", "--new", "--offline", expecting: 2).contains("only the server knows what is new"))
        #expect(try ada.hand("lists", "--new", "--deleted", expecting: 2).contains("--deleted or --new"))
        #expect(try ada.hand("log", "--new", "-n", "3", expecting: 2).contains("--new: expected neither"))
    }

    @Test func oneItemHasAHistory() throws {
        try bob.hand("add", "--top", "cheese")
        try ada.hand("done", "2")
        try bob.hand("mv", "2", "--end")
        try ada.hand("edit", "4", "oat milk")
        func steps(_ arguments: String...) throws -> [String] {
            let outcome = try ada.run(["log"] + arguments)
            #expect(outcome.status == 0, "\(outcome.messages)")
            return outcome.output.split(separator: "\n").map {
                String($0).replacing(#/ {2}\d{4}-\d\d-\d\d [0-9:]{8}/#, with: "")
            }
        }
        #expect(
            try steps("4") == [
                "revision 1  Bob", "  + 1  [ ] milk", "revision 3  ada", "  ~ 2  [x] milk", "revision 4  Bob",
                "  > 4  [x] milk", "revision 5  ada", "  ~ 4  [x] {+oat +}milk",
            ])
        #expect(try steps("4", "--from", "4", "-n", "1") == ["revision 5  ada", "  ~ 4  [x] {+oat +}milk"])
        #expect(try steps("1") == ["revision 2  Bob", "  + 1  [ ] cheese"])
        let json = try ada.hand("log", "4", "--json").split(separator: "\n")
        #expect(json.count == 4 && json[2].contains(#""change":"moved""#) && json[2].contains(#""from":2,"to":4"#))
        #expect(json[0].contains(#""change":"added""#) && !json[0].contains("before"))
        try ada.hand("log", "9", expecting: 3)
        let shown = try ada.hand("show", "4").split(separator: "\n").dropFirst()
        #expect(
            shown.map { $0.prefix { $0 != " " } } == ["[x]", "added", "edited"] && shown.last?.hasSuffix("ada") == true)
        #expect(try ada.hand("show", "4", "--json").contains(#","number":4,"revision":5,"kind":"task","#))
        #expect(try ada.hand("show", "4", "--json").contains(#""last":{"what":"edited","person":"ada","revision":5"#))
        #expect(try ada.hand("show", "4", "--at", "3").split(separator: "\n").count == 2)
    }
}
