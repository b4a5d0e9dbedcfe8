import Foundation
import HandCore
import HandTestSupport
import HandWire
import Synchronization
import Testing

/// Keeping a list in order by commands: sorting, unticking, moving and copying items to other lists.
@Suite(.serialized) struct OrderCommandTests {
    let user: CommandUser

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
        try user.hand("create", "work")
    }

    @Test func aListIsSortedInOneCommit() throws {
        try user.hand("add", "pears 10", "Äpfel", "pears 9", "due:2026-12-02 tax", "apples", "x due:2026-12-01")
        try user.hand("add", "--under", "3", "yellow", "green")
        try user.hand("done", "1", "7")
        #expect(try user.messages("sort").hasSuffix("\nrevision 4\n"))
        let byText = [
            "[ ] Äpfel", "[x] apples", "[ ] due:2026-12-02 tax", "[ ] pears 9", "  [ ] green", "  [ ] yellow",
            "[x] pears 10", "[ ] x due:2026-12-01",
        ]
        #expect(try user.lines() == byText)
        #expect(try user.messages("sort") == "nothing to do\n")
        try user.hand("sort", "--by", "done")
        #expect(try user.lines().suffix(2) == ["[x] apples", "[x] pears 10"])
        try user.hand("sort", "--by", "due")
        #expect(try user.lines().prefix(2) == ["[ ] x due:2026-12-01", "[ ] due:2026-12-02 tax"])
        try user.hand("undo", "-n", "2")
        #expect(try user.lines() == byText)
        try user.hand("sort", "4", "--reverse")
        #expect(try user.lines()[4...5] == ["  [ ] yellow", "  [ ] green"])
        try user.hand("sort", "1-2", "--reverse")
        #expect(try user.lines().prefix(2) == ["[x] apples", "[ ] Äpfel"])
        #expect(try user.hand("sort", "1", "3", expecting: 2).contains("must follow each other"))
        try user.hand("sort", "99", expecting: 3)
        try user.hand("sort", "--by", "size", expecting: 2)
    }

    @Test func theNewestComeFirst() throws {
        for text in ["a", "b", "c"] { try user.hand("add", text) }
        try user.hand("rm", "1")
        try user.hand("undo")
        try user.hand("sort", "--by", "newest")
        #expect(try user.lines() == ["[ ] a", "[ ] c", "[ ] b"])
        try user.hand("sort", "--by", "newest", "--reverse")
        #expect(try user.lines() == ["[ ] b", "[ ] c", "[ ] a"])
    }

    @Test func everythingIsUnticked() throws {
        try user.hand("add", "a", "b", "c")
        try user.hand("add", "--note", "note")
        #expect(try user.messages("undone", "--all") == "nothing to do\n")
        try user.hand("done", "1", "3")
        #expect(try user.messages("undone", "--all").hasSuffix("revision 4\n"))
        #expect(try user.lines() == ["[ ] a", "[ ] b", "[ ] c", "note"])
        try user.hand("undo")
        #expect(try user.lines() == ["[x] a", "[ ] b", "[x] c", "note"])
        try user.hand("undone", expecting: 2)
        try user.hand("undone", "1", "--all", expecting: 2)
    }

    /// An item takes its sub-items along, so that it cannot go among them.
    @Test func anItemDoesNotMoveAmongItsSubitems() throws {
        try user.hand("add", "trip", "car")
        for text in ["pegs", "tent"] { try user.hand("add", "--under", "1", text) }
        let before = try user.lines()
        for place in ["2", "3"] {
            let told = try user.hand("mv", "1", "--before", place, expecting: 4)
            #expect(told.contains("item 1 takes its sub-items along"), "\(told)")
        }
        // After its last one, it would get the level of its sub-items.
        for place in ["2", "3"] { try user.hand("mv", "1", "--after", place, expecting: 4) }
        for place in ["--before", "--after"] { #expect(try user.messages("mv", "1", place, "1") == "nothing to do\n") }
        #expect(try user.lines() == before)
        try user.hand("mv", "1", "--before", "3", "--alone")
        #expect(try user.lines() != before)
    }

    private func ids(_ list: String) throws -> Set<Substring> {
        Set(try user.hand("ls", "-l", list, "--json").matches(of: #/"id":"([0-9a-z]+)"/#).map(\.1))
    }

    @Test func itemsMoveToAnotherList() throws {
        try user.hand("add", "-l", "work", "first", "last")
        try user.hand("add", "-l", "work", "--under", "1", "below")
        try user.hand("add", "trip", "car")
        try user.hand("add", "--under", "1", "tent")
        try user.hand("add", "--under", "2", "pegs")
        let (here, there) = (try ids("list"), try ids("work"))
        let told = try user.messages("mv", "1", "--to", "work")
        #expect(
            told == """
                into 'work':
                + 4  [ ] trip
                + 5  [ ] tent
                + 6  [ ] pegs
                from 'list':
                - 1  [ ] trip
                - 2  [ ] tent
                - 3  [ ] pegs
                revision 4

                """, "\(told)")
        #expect(try user.lines() == ["[ ] car"])
        #expect(try user.lines("-l", "work").suffix(3) == ["[ ] trip", "  [ ] tent", "    [ ] pegs"])
        #expect(try ids("work") == there.union(here).subtracting(ids("list")), "what is moved keeps its id")
        // A sub-item that is moved alone comes to the level of the place.
        try user.hand("mv", "-l", "work", "5", "--to", "list", "--top")
        #expect(try user.lines() == ["[ ] tent", "  [ ] pegs", "[ ] car"])
        try user.hand("cp", "1", "--alone", "--to", "work", "--after", "1")
        #expect(try user.lines("-l", "work") == ["[ ] first", "  [ ] below", "[ ] tent", "[ ] last", "[ ] trip"])
        try user.hand("cp", "3", "1", "--to", "work", "--before", "2")
        #expect(
            try user.lines("-l", "work").prefix(5) == [
                "[ ] first", "  [ ] car", "  [ ] tent", "    [ ] pegs", "  [ ] below",
            ])
        #expect(try user.lines() == ["[ ] tent", "  [ ] pegs", "[ ] car"])
        let json = try user.hand("mv", "3", "--to", "work", "--json")
        #expect(
            json.firstMatch(
                of:
                    #/^\{"revision":6,"to":\{"list":"work","revision":\d+,"changes":\[\{"change":"added","item":"\w+",.*"text":"car".*\]\},"changes":\[\{"change":"deleted",.*"text":"car".*\]\}\n$/#
            ) != nil, "\(json)")
        // A copy says which list has the revision.
        let copied = try user.hand("cp", "1", "--alone", "--to", "work", "--json")
        #expect(copied.hasPrefix(#"{"revision":8,"list":"work","changes":[{"change":"added","#), "\(copied)")
        #expect(try user.messages("cp", "1", "--alone", "--to", "work").hasPrefix("into 'work':\n+ "))
        #expect(try user.hand("cp", "1", "--json").contains(#","list":"list","#))
    }

    /// A move that was stopped between its two edits is repeated: what the other list has already, it does not get twice.
    @Test func aMoveIsRepeated() throws {
        try user.hand("add", "trip", "car")
        try user.hand("add", "--under", "1", "tent")
        let file = try TemporaryFolder()
        try user.hand("export", file.path + "/items.jsonl", "-q")
        try user.hand("import", file.path + "/items.jsonl", "-l", "work", "-q")
        // An item that was changed since is another one.
        try user.hand("edit", "-l", "work", "3", "bus")
        try user.hand("mv", "1", "3", "--to", "work")
        #expect(try user.lines() == [])
        #expect(try user.lines("-l", "work") == ["[ ] trip", "  [ ] tent", "[ ] bus", "[ ] car"])
        #expect(try ids("work").count == 4)
        try user.hand("undo")
        let json = try user.hand("mv", "1", "--to", "work", "--json")
        #expect(json.contains(#""to":{"list":"work","revision":null,"changes":[]}"#), "\(json)")
        #expect(try user.lines("-l", "work").count == 4)
    }

    /// A branch of which the other list has a part comes whole, to the place that was asked for.
    @Test func aBranchMovesWhole() throws {
        try user.hand("add", "trip", "car")
        try user.hand("add", "--under", "1", "tent", "stove")
        try user.hand("mv", "1", "4", "--to", "work")
        try user.hand("undo")
        try user.hand("rm", "-l", "work", "1", "4")
        #expect(try user.lines("-l", "work") == ["[ ] tent", "[ ] stove"])
        try user.hand("mv", "1", "4", "--to", "work", "--top")
        #expect(
            try user.lines("-l", "work")
                == ["[ ] trip", "  [ ] tent", "  [ ] stove", "[ ] car", "[ ] tent", "[ ] stove"])
        #expect(try ids("work").count == 6)
        #expect(try user.lines() == [])
    }

    @Test func itemsAreCopiedWithinAList() throws {
        try user.hand("add", "trip", "car")
        try user.hand("add", "--under", "1", "tent")
        try user.hand("cp", "1")
        #expect(try user.lines() == ["[ ] trip", "  [ ] tent", "[ ] car", "[ ] trip", "  [ ] tent"])
        try user.hand("cp", "3", "--after", "1")
        #expect(try user.lines().prefix(3) == ["[ ] trip", "  [ ] tent", "[ ] car"])
        #expect(try ids("list").count == 6)
    }

    /// Whatever the other list refuses, the items stay, and the message says which list refused them.
    @Test func whatTheOtherListRefusesStays() throws {
        try user.hand("add", "a", "b")
        try user.hand("create", "small", "--max-items", "1")
        for (list, status) in [("small", Int32(4)), ("none", 3)] {
            let refused = try user.hand("mv", "1-2", "--to", list, expecting: status)
            #expect(refused.contains("'\(list)' did not take the items, which stay in 'list': "), "\(refused)")
        }
        // A list without levels would not keep what belongs to what.
        try user.hand("create", "flat", "--max-level", "0")
        try user.hand("add", "--under", "2", "c")
        for command in ["mv", "cp"] {
            let refused = try user.hand(command, "2", "--to", "flat", expecting: 4)
            #expect(refused.contains("the items of this list have no levels"), "\(refused)")
        }
        #expect(try user.lines("-l", "flat") == [])
        try user.hand("rm", "3")
        #expect(try user.hand("mv", "1", "--to", "list", expecting: 2).contains("leave out --to"))
        #expect(try user.hand("mv", "1", "--to", "work", "--queue", expecting: 2).contains("--queue"))
        try user.hand("mv", "1", "--to", "work", "--if-revision", "7", expecting: 7)
        try user.hand("mv", "9", "--to", "work", expecting: 3)
        #expect(try user.lines() == ["[ ] a", "[ ] b"])
        #expect(try user.lines("-l", "work") == [] && user.lines("-l", "small") == [])
    }

    /// A server that commits the copies and refuses the deletion, or that does not answer at all: the message says where
    /// the items are, and what to do.
    @Test(arguments: [true, false]) func aRefusedDeletionIsTold(answers: Bool) throws {
        let folder = try TemporaryFolder()
        let names = Mutex<[RequestNumber: String]>([:])
        let server = try ScriptedServer(at: folder.path + "/hand.sock") { message in
            let item = Item(id: ItemID(rawValue: 1 << 40), content: .task("milk", done: false))
            switch message {
            case .subscribe(let asked):
                names.withLock { $0[asked.request] = asked.name }
                return [
                    .subscribed(
                        .init(
                            request: asked.request, list: asked.name == "work" ? 2 : 1, logID: 5, rules: Rules(),
                            lastSequence: 0, start: .newest(1)))
                ]
            case .excerpt(let asked):
                let entries = asked.name == "work" ? [] : [Excerpt.Entry(position: 0, item: item)]
                return [
                    .excerpt(
                        request: asked.request,
                        Excerpt(logID: 5, revision: 1, count: entries.count, rules: Rules(), entries: entries))
                ]
            case .submit(let submission) where submission.list == 2:
                if !answers { return [] }
                return [
                    .commit(
                        list: 2,
                        Commit(
                            revision: 2, author: 1, sequence: submission.sequence, base: 1, time: 0, count: 1,
                            digest: 0,
                            delta: submission.delta))
                ]
            case .submit(let submission):
                return [.rejected(list: 1, sequence: submission.sequence, .notAllowed)]
            default: return []
            }
        }
        defer { server.close() }
        var environment: [String: String] = [:]
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] { environment[name] = folder.path }
        let url = ["--url", "hand+unix://\(folder.path)/hand.sock/list", "--timeout", "5"]
        let outcome = try Binary.run(["mv", "1", "--to", "work"] + url, environment: environment)
        guard answers else {
            let stay = "The items are in 'list' in any case. Move them again: "
            return #expect(outcome.status == 8 && outcome.messages.contains(stay), "\(outcome.messages)")
        }
        #expect(outcome.status == 5, "\(outcome.messages)")
        #expect(
            outcome.messages.contains("the items are in 'work', and still in 'list', which did not give them up: "),
            "\(outcome.messages)")
        #expect(outcome.messages.contains("hand undo -l work"), "\(outcome.messages)")
    }

    /// Whoever may not delete the originals is told before anything is copied.
    @Test func movingNeedsTheRightToDelete() throws {
        let folder = try TemporaryFolder()
        func hand(_ arguments: [String], token: String? = nil) throws -> Binary.Outcome {
            var environment = [
                "HAND_DATA": folder.path + "/data", "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path,
            ]
            environment["HAND_TOKEN"] = token
            return try Binary.run(arguments, environment: environment)
        }
        let server = try RunningServer(folder)
        let url = "hand+unix://\(server.socket)/list"
        for list in ["list", "work"] { _ = try hand(["create", list, "--url", url]) }
        _ = try hand(["add", "milk", "--url", url])
        let made = try hand([
            "token", "create", "Ada", "--role", "append", "--list", "list", "--list", "work", "--json",
        ])
        let token = try #require(made.output.firstMatch(of: #/"secret":"([^"]+)"/#).map { String($0.1) }, "\(made)")
        let refused = try hand(["mv", "1", "--to", "work", "--url", url], token: token)
        #expect(
            refused.status == 5 && refused.messages.contains("your role on 'list' is append"), "\(refused.messages)")
        #expect(try hand(["ls", "-l", "work", "--url", url]).output == "")
        #expect(try hand(["cp", "1", "--to", "work", "--url", url], token: token).status == 0)
        server.kill()
    }
}
