import Foundation
import HandFormats
import HandTestSupport
import Testing

/// Edits by commands, and their messages.
@Suite(.serialized) struct EditingCommandTests {
    let user: CommandUser

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
    }

    private func revision() throws -> Int? {
        let line = try user.hand("lists", "--json")
        return line.firstMatch(of: #/"revision":(\d+)/#).flatMap { Int($0.1) }
    }

    /// An edit that changes nothing makes no commit, says so, and is not an error.
    @Test func anEditWithoutEffectIsNotAnError() throws {
        try user.hand("add", "a", "b", "c")
        try user.hand("done", "1")
        for command in [
            ["done", "1"], ["undone", "2", "3"], ["mv", "1", "--after", "1"], ["mv", "1", "--top"],
            ["mv", "2", "3", "--end"], ["edit", "1", "a"], ["restore", "--at", "2"],
            ["done", "1", "--if-revision", "2"],
            ["done", "1", "--queue"],
        ] {
            let outcome = try user.run(command)
            #expect(outcome.status == 0 && outcome.messages == "nothing to do\n", "\(command): \(outcome.messages)")
        }
        #expect(try user.hand("done", "1", "--json") == "{\"revision\":null,\"changes\":[]}\n")
        #expect(try revision() == 2)
        try user.hand("done", "1", "--if-revision", "1", expecting: 7)
        try user.hand("mv", "1", "--after", "2")
        #expect(try user.lines() == ["[ ] b", "[x] a", "[ ] c"])
    }

    /// Levels are given, shown and kept; sub-items go with their item, wherever it was found.
    @Test func subitemsGoWithTheirItem() throws {
        try user.hand("add", "trip", "car")
        try user.hand("add", "--under", "1", "tent", "stove")
        try user.hand("add", "--under", "2", "pegs")
        try user.hand("add", "--level", "1", "fuel")
        #expect(try user.lines() == ["[ ] trip", "  [ ] tent", "    [ ] pegs", "  [ ] stove", "[ ] car", "  [ ] fuel"])
        #expect(try user.hand("ls", "--json").contains(#""text":"pegs","done":false,"level":2}"#))
        try user.hand("mv", "1", "--end")
        #expect(try user.lines() == ["[ ] car", "  [ ] fuel", "[ ] trip", "  [ ] tent", "    [ ] pegs", "  [ ] stove"])
        let id = String(try user.hand("ls", "3", "--json").split(separator: "\"")[3])
        try user.hand("mv", "@" + id.prefix(6), "--top")
        #expect(try user.lines().first == "[ ] trip" && user.lines().last == "  [ ] fuel")
        try user.hand("mv", "1", "--end", "--alone")
        // What stays belongs to what is left above it.
        #expect(try user.lines() == ["[ ] tent", "  [ ] pegs", "[ ] stove", "[ ] car", "  [ ] fuel", "[ ] trip"])
        try user.hand("add", "--under", "9", "x", expecting: 3)
        try user.hand("add", "--under", "1", "--level", "2", "x", expecting: 2)
        try user.hand("add", "--under", "1", "--top", "x", expecting: 2)
        try user.hand("add", "--level", "16", "x", expecting: 2)
        #expect(try user.lines("3").first == "[ ] stove")
        // Beside an item that is lifted, it has that item's new level.
        try user.hand("mv", "1", "--after", "2", "--alone")
        #expect(try user.lines("1-3") == ["[ ] pegs", "[ ] tent", "[ ] stove"])
    }

    /// Whatever is put beside an item has its level, and takes no sub-items over: after it is after its sub-items.
    @Test func besideAnItemIsAtItsLevel() throws {
        try user.hand(
            "import", "--format", "markdown", "-", input: "- [ ] P\n  - [ ] a\n    - [ ] b\n- [ ] Q\n  - [ ] c\n")
        try user.hand("add", "--after", "1", "x")
        #expect(try user.lines() == ["[ ] P", "  [ ] a", "    [ ] b", "[ ] x", "[ ] Q", "  [ ] c"])
        try user.hand("add", "--before", "3", "y")
        #expect(try user.lines("2-4") == ["  [ ] a", "    [ ] y", "    [ ] b"])
        try user.hand("mv", "6", "--after", "2")
        #expect(try user.lines() == ["[ ] P", "  [ ] a", "    [ ] y", "    [ ] b", "  [ ] Q", "    [ ] c", "[ ] x"])
        try user.hand("mv", "2", "7", "--top")
        #expect(try user.lines() == ["[ ] a", "  [ ] y", "  [ ] b", "[ ] x", "[ ] P", "  [ ] Q", "    [ ] c"])
        try user.hand("import", "--format", "markdown", "--after", "6", "-", input: "- [ ] i\n  - [ ] j\n")
        #expect(try user.lines("5-9") == ["[ ] P", "  [ ] Q", "    [ ] c", "  [ ] i", "    [ ] j"])
        try user.hand("mv", "7", "--end", "--alone")
        #expect(try user.lines("9") == ["[ ] c"])
    }

    /// An item with more sub-items than the first answer has is moved whole.
    @Test func manySubitemsGoWithTheirItem() throws {
        try user.hand("add", "parent")
        try user.hand("add", "--level", "1", "-", input: (1...1_200).map { "n\($0)\n" }.joined())
        try user.hand("add", "other")
        try user.hand("mv", "1", "--end")
        let lines = try user.lines()
        #expect(
            lines.count == 1_202 && lines[0] == "[ ] other" && lines[1] == "[ ] parent" && lines[1_201] == "  [ ] n1200"
        )
    }

    /// The item keeps its sub-items, and can be shown at most one level below the item above it.
    @Test func anItemGetsAnotherLevel() throws {
        try user.hand("add", "trip", "tent", "pegs", "car")
        try user.hand("edit", "3", "--level", "1")
        try user.hand("edit", "2", "big tent", "--level", "1")
        #expect(try user.lines() == ["[ ] trip", "  [ ] big tent", "    [ ] pegs", "[ ] car"])
        #expect(try user.hand("log").contains("~ 2  [ ] {+big +}tent (level [-0-]{+1+})"))
        try user.hand("undo")
        #expect(try user.lines() == ["[ ] trip", "[ ] tent", "  [ ] pegs", "[ ] car"])
        #expect(try user.hand("edit", "2", "--level", "2", expecting: 4).contains("item 2 can be at level 1 at most"))
        try user.hand("edit", "1", "--level", "1", expecting: 4)
        try user.hand("edit", "4", "--level", "16", expecting: 2)
        #expect(try user.hand("edit", "4", "--level", "0", "--json") == "{\"revision\":null,\"changes\":[]}\n")
    }

    @Test func aListMayHaveNoLevels() throws {
        try user.hand("create", "flat", "--max-level", "0")
        try user.hand("create", "odd", "--max-level", "16", expecting: 2)
        try user.hand("create", "deck", "--deck", "--max-level", "2", expecting: 2)
        try user.hand("add", "-l", "flat", "--level", "1", "x", expecting: 4)
    }

    /// In local time, also across the change to summer time; in UTC for programs.
    @Test func logTimesAreLocal() throws {
        try user.hand("add", "a")
        let utc = try #require(try user.hand("log", "--json").firstMatch(of: #/"at":"([^"]+)"/#)?.1)
        #expect(try user.hand("log", "--utc").contains("revision 1  \(utc)  ada"))
        var elsewhere = user
        // Five hours behind UTC, in the notation of POSIX.
        elsewhere.environment["TZ"] = "Etc/GMT+5"
        let shown = try #require(try elsewhere.hand("log").firstMatch(of: #/revision 1  (.*)  ada/#)?.1)
        let parser = ISO8601DateFormatter()
        let time = try #require(parser.date(from: "\(shown.replacing(" ", with: "T"))-05:00"))
        #expect(parser.string(from: time).dropLast() == utc.prefix { $0 != "." })
    }

    /// An edit that states the text that its author saw overwrites nobody: others' changes of other words stay, and a
    /// change of the same words is refused.
    @Test func anEditOfAnOldTextOverwritesNobody() throws {
        try user.hand("add", "cheese")
        try user.hand("edit", "1", "cheese [one]", "--was", "cheese")
        try user.hand("edit", "1", "cheese [two]", "--was", "cheese")
        // The same edit again, as after a lost answer.
        #expect(try user.messages("edit", "1", "cheese [one] [two]", "--was", "cheese") == "nothing to do\n")
        #expect(try user.lines() == ["[ ] cheese [one] [two]"])
        let refused = try user.hand("edit", "1", "bread", "--was", "butter [one] [two]", expecting: 7)
        #expect(
            refused.contains(
                "'butter [one] [two]' is now 'cheese [one] [two]', where you wrote 'bread'. Nothing was changed."),
            "\(refused)"
        )
        #expect(refused.contains("The text is 'cheese [one] [two]'; yours is 'bread'."), "\(refused)")
        #expect(try user.lines() == ["[ ] cheese [one] [two]"])
        try user.hand("edit", "1", "bread [one] [two]", "--was", "cheese [one] [two]")
        #expect(try user.hand("log", "-n", "1").contains("~ 1  [ ] [-cheese-]{+bread+} [one] [two]"))
        // The same with the revision that was seen: the item is the one that had that number then.
        try user.hand("add", "first", "--top")
        let revision = try #require(try user.hand("show", "--json").firstMatch(of: #/"revision":(\d+)/#)?.1)
        try user.hand("edit", "2", "dark bread [one] [two]", "--was", "bread [one] [two]")
        try user.hand("rm", "1")
        try user.hand("edit", "2", "bread [one] [2]", "--if-revision", "\(revision)")
        #expect(try user.lines() == ["[ ] dark bread [one] [2]"])
        let late = try user.hand("edit", "2", "bread [one] [zwei]", "--if-revision", "\(revision)", expecting: 7)
        #expect(late.contains("'two' is now '2', where you wrote 'zwei'. Nothing was changed."), "\(late)")
        #expect(
            try user.hand("edit", "1", "--link", "x", "--was", "ham", expecting: 2).contains(
                "--was needs a new text"))
        let both = try user.hand("edit", "1", "x", "--was", "ham", "--if-revision", "1", expecting: 2)
        #expect(both.contains("use --was or --if-revision, not both"), "\(both)")
    }

    /// A refused edit has a revision, but the list is still what it was.
    @Test func aRefusedEditIsNoChange() throws {
        try user.hand("create", "full", "--max-items", "1")
        try user.hand("add", "milk", "-l", "full")
        for _ in 0..<2 { try user.hand("add", "bread", "-l", "full", expecting: 4) }
        #expect(try user.hand("log", "-l", "full", "--json").split(separator: "\n").count == 3)
        try user.hand("done", "1", "--if-revision", "1", "-l", "full")
        try user.hand("undo", "--if-revision", "4", "-l", "full")
        try user.hand("add", "bread", "-l", "full", expecting: 4)
        try user.hand("undo", "-n", "1", "--if-revision", "5", "-l", "full")
        for revision in ["4", "8", "-1"] {
            try user.hand("add", "x", "--if-revision", revision, "-l", "full", expecting: 7)
        }
    }

    @Test func rangesNameItems() throws {
        try user.hand("add", "a", "b", "c", "d", "e", "f")
        #expect(try user.messages("rm", "2-3", "5") == "- 2  [ ] b\n- 3  [ ] c\n- 5  [ ] e\nrevision 2\n")
        try user.hand("done", "1-2")
        try user.hand("undone", "2-2")
        try user.hand("mv", "2-3", "--top")
        #expect(try user.lines() == ["[ ] d", "[ ] f", "[x] a"])
        #expect(try user.hand("rm", "3-2", expecting: 2).contains("'3-2' is not a range: write the lower number first"))
        #expect(try user.hand("rm", "1-2000000", expecting: 2).contains("names too many items"))
        #expect(try user.hand("rm", "2-4", expecting: 3).contains("there is no item 4; the list has 3"))
        #expect(try user.lines().count == 3)
    }

    /// Deleted items are reported, to people and to scripts.
    @Test func deletingReportsDeletedItems() throws {
        try user.hand("add", "milk", "red \u{1B}[31m")
        #expect(try user.messages("rm", "2") == "- 2  [ ] red \u{FFFD}[31m\nrevision 2\n")
        let told = try user.hand("rm", "1", "--json")
        let start = #"{"revision":3,"changes":[{"change":"deleted","item":""#
        #expect(told.hasPrefix(start) && told.contains(#""from":1,"before":{"kind":"task","text":"milk""#), "\(told)")
        try user.hand("add", "-", input: (1...30).map { "\($0)\n" }.joined())
        let many = try user.messages("rm", "1-30").split(separator: "\n")
        #expect(many.count == 22 && many[19] == "- 20  [ ] 20" && many[20] == "and 10 more")
    }

    /// Numbers shift under people, so commands say which items they have changed.
    @Test func editsSayWhatTheyChanged() throws {
        #expect(try user.messages("add", "milk", "eggs", "bread") == "revision 1\n")
        #expect(try user.messages("done", "1-2") == "~ 1  [x] milk\n~ 2  [x] eggs\nrevision 2\n")
        #expect(try user.messages("undone", "2", "3") == "~ 2  [ ] eggs\nrevision 3\n")
        #expect(try user.messages("edit", "2", "six eggs") == "~ 2  [ ] {+six +}eggs\nrevision 4\n")
        #expect(try user.messages("edit", "2", "--level", "1") == "~ 2  [ ] six eggs (level [-0-]{+1+})\nrevision 5\n")
        #expect(try user.messages("mv", "1", "--end") == "> 2  [x] milk\n> 3  [ ] six eggs\nrevision 6\n")
        #expect(try user.messages("mv", "1", "--end", "-q") == "")
        try user.hand("restore", "--at", "1", "-q")
        try user.hand("add", "-", input: (1...30).map { "\($0)\n" }.joined())
        let many = try user.messages("done", "4-33").split(separator: "\n")
        #expect(many.count == 22 && many[0] == "~ 4  [x] 1" && many[20] == "and 10 more")
    }

    private func changes(_ arguments: String...) throws -> [JSONValue] {
        let told = try JSONValue.parse(try user.run(arguments + ["--json"]).output.trimmingCharacters(in: .newlines))
        guard case .array(let changes)? = told["changes"] else { return [] }
        return changes
    }

    /// Scripts learn the ids and the numbers of what they add, and what else they change.
    @Test func editsTellTheirChangesToScripts() throws {
        try user.hand("add", "old")
        let added = try changes("add", "a", "b", "--top")
        #expect(added.map { $0["change"] } == ["added", "added"] && added.map { $0["to"] } == [1, 2])
        let listed = try user.hand("ls", "--json").split(separator: "\n").map { try JSONValue.parse(String($0)) }
        #expect(listed.map { $0["number"] } == [1, 2, 3])
        #expect(added.map { $0["item"] } == listed.prefix(2).map { $0["id"] })
        let moved = try changes("mv", "3", "--top")
        #expect(moved.map { [$0["change"], $0["from"], $0["to"], $0["item"]] } == [["moved", 3, 1, listed[2]["id"]]])
        #expect(try changes("diff", "1", "3").count == 2)
        #expect(try user.hand("diff", "3", "3", "--json") == "{\"from\":3,\"to\":3,\"changes\":[],\"delta\":[]}\n")
        // The card is the one that the server has dealt.
        try user.hand("create", "poker", "--deck")
        let dealt = try changes("deal", "1", "-l", "poker")
        let card = try JSONValue.parse(try user.hand("ls", "-l", "poker", "--json").trimmingCharacters(in: .newlines))[
            "card"]
        #expect(dealt.map { $0["after"]?["card"] } == [card] && card != "??")
    }

    /// What is kept for later is told, too.
    @Test func waitingEditsTellTheirChanges() throws {
        try user.hand("ls")
        user.server.kill()
        let kept = try user.run(["add", "a", "--queue", "--json"])
        #expect(
            kept.output.hasPrefix(#"{"revision":null,"waits":true,"changes":[{"change":"added","item":""#), "\(kept)")
    }

    /// An edit of a level or of an address insists on what was seen, too.
    @Test func levelsAndAddressesAreComparedWithTheRevision() throws {
        try user.hand("add", "a", "b")
        try user.hand("add", "--link", "http://x", "--", "c")
        try user.hand("edit", "2", "--level", "1")
        let level = try user.hand("edit", "2", "--level", "0", "--if-revision", "2", expecting: 7)
        #expect(level.contains("item 2 is at level 1 now, and was at level 0"), "\(level)")
        try user.hand("edit", "2", "--level", "0", "--if-revision", "3")
        try user.hand("edit", "3", "--link", "http://other")
        let address = try user.hand("edit", "3", "--link", "http://mine", "--if-revision", "4", expecting: 7)
        #expect(address.contains("The address is 'http://other'"), "\(address)")
        #expect(address.contains("without --if-revision"))
    }

    /// A field that an item lacks is named as in the help.
    @Test func missingFieldsAreNamed() throws {
        try user.hand("add", "a")
        try user.hand("add", "b", "--note")
        #expect(try user.hand("edit", "1", "--link", "x", expecting: 4).contains("only a link has an address"))
        #expect(try user.hand("done", "2", expecting: 4).contains("only a task has a box to tick"))
        #expect(
            try user.hand("edit", "1", "--link", "x", "--queue", expecting: 4).contains("only a link has an address"))
    }

    @Test func tickedTasksAreCleared() throws {
        try user.hand("add", "a", "b", "c")
        try user.hand("add", "note", "--note")
        #expect(try user.messages("clear") == "nothing to do\n")
        try user.hand("done", "1", "3")
        #expect(try user.messages("clear") == "- 1  [x] a\n- 3  [x] c\nrevision 4\n")
        #expect(try user.lines() == ["[ ] b", "note"])
    }

    /// A partial list shows the numbers of the whole list, so that they can be used.
    @Test func aPartialListKeepsItsNumbers() throws {
        try user.hand("add", "milk", "Käse", "bread", "MILK powder", "x", "y", "z", "u", "v", "w")
        try user.hand("done", "2", "4")
        func shown(_ arguments: String...) throws -> [String] {
            let outcome = try user.run(["ls"] + arguments)
            #expect(outcome.status == 0, "\(outcome.messages)")
            return outcome.output.split(separator: "\n").map {
                String($0).replacing(#/ [ @][0-9a-z]{4}  \[.\]/#, with: "")
            }
        }
        #expect(try shown("--grep", "milk") == ["1 milk", "4 MILK powder"])
        #expect(try shown("--done") == ["2 Käse", "4 MILK powder"])
        #expect(try shown("--open", "-n", "2") == ["1 milk", "3 bread"])
        #expect(try shown("--open", "--grep", "KÄSE") == [])
        #expect(try shown("9-10") == [" 9 v", "10 w"])
        #expect(try shown("3-5", "--done") == ["4 MILK powder"])
        let id = try #require(try user.run(["ls", "--json", "3"]).output.firstMatch(of: #/"id":"([0-9a-z]+)"/#)?.1)
        #expect(try shown(String(id)) == ["3 bread"])
        try user.hand("ls", "11", expecting: 3)
        try user.hand("ls", "--open", "--done", expecting: 2)
        try user.hand("ls", "-n", "0", expecting: 2)
    }

    /// Without a server, the local copy is shown, with its age.
    @Test func theLocalCopyIsShownWithItsAge() throws {
        try user.hand("add", "a")
        #expect(try user.hand("ls", "--offline", expecting: 3).contains("this machine has no copy of 'list'"))
        try user.hand("add", "b", "--queue")
        user.server.kill()
        try user.hand("ls", expecting: 6)
        let kept = try user.run(["ls", "--offline"])
        #expect(kept.output.contains("b\n") && kept.status == 0)
        #expect(kept.messages == "this machine's copy: revision 2 of the server\n")
        try user.hand("add", "c", "--queue", "--timeout", "1")
        let waiting = try user.run(["ls", "--offline"])
        #expect(waiting.output.contains("c\n"))
        #expect(
            waiting.messages == "this machine's copy: revision 2 of the server, with edits that wait to be sent\n")
    }

    /// What names a person and what is due is found by its words.
    @Test func tasksOfAPersonAndOfADay() throws {
        func day(_ days: Double) -> String {
            let style = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
            return Date().addingTimeInterval(days * 86_400).formatted(style)
        }
        try user.hand(
            "add", "a @ada", "b @bob", "c due:\(day(-2)) @Ada", "d due:\(day(0))", "e due:\(day(5))", "f due:\(day(9))",
            "g due:\(day(-1))")
        try user.hand("done", "7")
        try user.hand("add", "--note", "n due:\(day(0))")
        func letters(_ arguments: String...) throws -> String {
            try user.run(["ls"] + arguments).output.split(separator: "\n").map { line in
                String(line.split(separator: "] ")[1].prefix(1))
            }.joined()
        }
        #expect(try letters("--mine") == "ac" && letters("--mine", "--due", "today") == "c")
        #expect(try letters("--due", "overdue") == "c" && letters("--due", "today") == "cd")
        #expect(try letters("--due", "week") == "cde" && letters("--due", "week", "-n", "2") == "cd")
        #expect(try user.hand("ls", "--due", "never", expecting: 2).contains("overdue"))
        try user.hand("ls", "--due", "week", "--done", expecting: 2)
    }
}
