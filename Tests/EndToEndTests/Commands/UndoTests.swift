import FaultyNetwork
import Foundation
import HandTestSupport
import Testing

/// Undo and redo on the command line, with the usual meaning.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UndoTests {
    let ada: CommandUser
    let ben: CommandUser

    init() throws {
        ada = try CommandUser()
        ben = ada.named("ben")
        try ada.hand("create", "list")
    }

    private func texts() throws -> String { try ada.lines().map { $0.suffix(1) }.joined() }

    /// What may be further back than the server's history is not said to be nothing.
    @Test func undoEndsWhereTheHistoryBegins() throws {
        let ada = try CommandUser("ada", ["--snapshot-commits", "10", "--keep-commits", "3"])
        try ada.hand("create", "list")
        for number in 1...25 { try ada.hand("add", "\(number)", "-q") }
        func oldest() throws -> Substring? { try ada.hand("log").firstMatch(of: #/^revision ([0-9]+) /#)?.1 }
        #expect(try eventually { try oldest() != "1" })
        let end = "since revision \(try oldest() ?? ""): older commits are not kept, or not searched\n"
        #expect(try ada.named("ben").hand("undo", expecting: 3) == "hand: 'ben' has nothing to undo \(end)")
        #expect(try ada.messages("undo", "-n", "30").hasSuffix("'ada' has nothing more to undo \(end)"))
    }

    @Test func undoAndRedoGoStepByStep() throws {
        #expect(try ada.hand("undo", expecting: 3) == "hand: 'ada' has nothing to undo\n")
        #expect(try ada.hand("redo", expecting: 3) == "hand: 'ada' has nothing to redo\n")
        for text in ["a", "b", "c"] { try ada.hand("add", text) }
        #expect(try ada.messages("undo") == "took back revision 3:\n- 3  [ ] c\nrevision 4\n")
        try ada.hand("undo")
        #expect(try texts() == "a")
        #expect(try ada.messages("redo") == "took back the undo at revision 5:\n+ 2  [ ] b\nrevision 6\n")
        try ada.hand("undo")
        #expect(try texts() == "a")
        try ada.hand("redo")
        try ada.hand("redo")
        #expect(try texts() == "abc")
        try ada.hand("redo", expecting: 3)
        // After an edit there is nothing to redo.
        try ada.hand("undo")
        try ada.hand("add", "d")
        try ada.hand("redo", expecting: 3)
        try ada.hand("undo")
        try ada.hand("undo")
        #expect(try texts() == "a")
    }

    /// What somebody wrote before a screen's deletion arrived comes back with the item.
    @Test func aScreensUndoKeepsWhatArrivedBeforeItsEdit() throws {
        var screen = try CommandUser("ada", ["--listen", "127.0.0.1:0"])
        let ben = screen.named("ben")
        try ben.hand("create", "list")
        try ben.hand("add", "milk", "bread")
        let proxy = try FaultyProxy(to: try ben.server.tcpAddress(), seed: 1)
        screen.environment["HAND_URL"] = "hand://127.0.0.1:\(proxy.address.port)/list"
        let tmux = try Tmux(environment: screen.environment, "sh")
        let pane = try tmux.open("\(Binary.path) open")
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) && ScreenTests.items($0).count == 2 }
        proxy.change { $0.bothWays { $0.isSilent = true } }
        try tmux.press("d", in: pane)
        try tmux.wait(for: pane) { ScreenTests.items($0).count == 1 }
        try ben.hand("edit", "1", "oat milk")
        proxy.heal()
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) }
        #expect(try ben.lines() == ["[ ] bread"])
        try tmux.press("u", in: pane)
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) && ScreenTests.items($0).count == 2 }
        #expect(try ben.lines() == ["[ ] oat milk", "[ ] bread"])
    }

    /// An edit that looks like an undo can be undone.
    @Test func editsThatLookLikeUndos() throws {
        try ada.hand("add", "a", "b")
        try ada.hand("done", "1")
        try ada.hand("undone", "1")
        try ada.hand("rm", "1-2")
        try ada.hand("undo", "-n", "2")
        #expect(try ada.lines() == ["[x] a", "[ ] b"])
        try ada.hand("undo")
        #expect(try ada.lines() == ["[ ] a", "[ ] b"])
    }

    @Test func severalStepsAreReportedOneByOne() throws {
        for text in ["a", "b", "c"] { try ada.hand("add", text) }
        try ada.hand("mv", "3", "--top")
        #expect(
            try ada.messages("undo", "-n", "2")
                == """
                took back revision 4:
                > 3  [ ] c
                revision 5
                took back revision 3:
                - 3  [ ] c
                revision 6

                """)
        let told = try ada.run(["undo", "-n", "5", "--json"])
        #expect(told.status == 0 && told.messages == "'ada' has nothing more to undo\n")
        let lines = told.output.split(separator: "\n")
        let start = #"{"revision":7,"takenBack":2,"changes":[{"change":"deleted","item":"#
        #expect(lines.count == 2 && lines[0].hasPrefix(start))
        #expect(try ada.messages("redo", "-n", "9", "-q") == "")
        #expect(try texts() == "cab")
        for options in [["-n", "0"], ["-n", "1001"], ["-n", "2", "3"]] {
            #expect(try ada.run(["undo"] + options).status == 2)
        }
    }

    /// Two names on one machine each step through their own edits; others' edits between them stay.
    @Test func othersEditsBetweenStay() throws {
        try ada.hand("add", "a")
        try ben.hand("add", "b")
        try ada.hand("add", "c")
        try ben.hand("mv", "3", "--top")
        try ada.hand("undo", "-n", "2")
        #expect(try texts() == "b")
        try ben.hand("undo", "-n", "2")
        try ben.hand("add", "x", "--top")
        try ada.hand("redo", "-n", "2")
        #expect(try texts() == "cax")
        try ben.hand("redo", expecting: 3)
        try ben.hand("undo")
        try ada.hand("undo", "-n", "2")
        #expect(try texts() == "")
    }

    @Test func undoWorksAfterARestore() throws {
        try ada.hand("add", "a", "b", "c")
        try ada.hand("rm", "2")
        try ada.hand("mv", "2", "--top")
        try ada.hand("restore", "--at", "1")
        #expect(try texts() == "abc")
        try ada.hand("undo", "-n", "3")
        #expect(try texts() == "abc")
        try ada.hand("redo", "-n", "2")
        #expect(try texts() == "ca")
        try ada.hand("redo")
        #expect(try texts() == "abc")
    }

    /// Edits that waited are one commit. If nothing is left of the last of them, the next undo comes to the others.
    @Test func anIneffectivePartOfACommitIsPassed() throws {
        try ada.hand("add", "a", "b")
        try ada.hand("ls")
        ada.server.kill()
        try ada.hand("add", "x", "--queue", "--timeout", "1")
        try ada.hand("done", "2", "--queue", "--timeout", "1")
        try ada.server.start()
        try ben.hand("rm", "2")
        try ada.hand("sync")
        #expect(try texts() == "ax")
        #expect(try ada.messages("undo") == "nothing is left of your last edit\nnothing to do\n")
        try ada.hand("undo")
        #expect(try texts() == "a")
    }

    /// A screen goes on to the next older edit, too, if nothing is left of one.
    @Test func aScreensUndoPassesWhatNothingIsLeftOf() throws {
        try ada.hand("add", "a", "b", "c")
        try ada.hand("done", "2")
        try ada.hand("edit", "1", "a and more")
        try ben.hand("rm", "1")
        let tmux = try Tmux(environment: ada.environment, "sh")
        let pane = try tmux.open("\(Binary.path) open")
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) && ScreenTests.items($0) == ["[x] b", "[ ] c"] }
        try tmux.press("u", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("nothing is left of that edit") } }
        try tmux.press("u", in: pane)
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) && ScreenTests.items($0) == ["[ ] b", "[ ] c"] }
        // What was added is not whole any more; what is left of it goes.
        try tmux.press("u", in: pane)
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) && ScreenTests.items($0) == [] }
        try tmux.press("u", in: pane)
        try tmux.wait(for: pane) { $0.contains { $0.contains("nothing of yours is left to undo") } }
    }

    /// A deletion of many texts is short, but its undo may be too long for one edit. The message says what brings the
    /// texts back.
    @Test func anUndoThatIsTooLargeNamesTheWayOut() throws {
        let lines = String(repeating: "- " + String(repeating: "x", count: 1_000) + "\n", count: 4_500)
        try ada.hand("import", "-q", "--format", "markdown", "-", input: lines)
        let revision = try #require(try ada.hand("lists", "--json").firstMatch(of: #/"revision":([0-9]+)/#)?.1)
        try ada.hand("rm", "-q", "1-4500")
        let refused = try ada.run(["undo"])
        #expect(
            refused.status == 1 && refused.messages.contains(" --at \(revision) FILE, then hand import"), "\(refused)")
        let file = try #require(ada.environment["XDG_STATE_HOME"]) + ".jsonl"
        try ada.hand("export", "--at", String(revision), file)
        try ada.hand("import", "-q", file)
        #expect(try ada.lines().count == 4_500)
    }

    /// An undo of an edit that others have made ineffective makes no commit; the next step continues after it.
    @Test func anIneffectiveUndoMakesNoCommit() throws {
        try ada.hand("add", "a")
        try ada.hand("add", "b")
        try ben.hand("rm", "2")
        #expect(try ada.messages("undo") == "nothing is left of that edit: revision 2\nnothing to do\n")
        #expect(try ada.hand("lists", "--json").contains("\"revision\":3,"))
        #expect(try ada.messages("undo") == "took back revision 1:\n- 1  [ ] a\nrevision 4\n")
        try ada.hand("redo")
        // An undo that changed nothing is not redone.
        try ada.hand("redo", expecting: 3)
        // Somebody else has restored it.
        try ada.hand("rm", "1")
        try ben.hand("undo", "6")
        let nothing = "{\"revision\":null,\"takenBack\":6,\"changes\":[]}\n"
        #expect(try ada.hand("undo", "--json") == nothing)
        #expect(try texts() == "a")
    }

    /// Of several programs that undo at the same time, each reports what it has taken back itself.
    @Test func eachCommitIsReportedOnce() throws {
        for text in "abcdefgh" { try ada.hand("add", String(text), "-q") }
        let told = ada.server.folder.path + "/told"
        _ = FileManager.default.createFile(atPath: told, contents: nil)
        let output = FileHandle(forWritingAtPath: told)
        let programs = try (0..<6).map { number in
            try RunningCommand(["undo", "--json"], ada.environment, "\(told).\(number)", output: output)
        }
        for program in programs { _ = try program.end() }
        let taken = try String(contentsOfFile: told, encoding: .utf8).matches(of: #/"takenBack":([0-9]+)/#).map(\.1)
        #expect(Set(taken).count == taken.count && !taken.isEmpty, "\(taken)")
        #expect(try ada.lines().count == 8 - taken.count)
    }

    /// A named commit is undone by an edit, whoever made it, unless it is the one that would be undone anyway.
    @Test func aNamedRevisionIsUndone() throws {
        try ada.hand("add", "a")
        try ben.hand("add", "b")
        try ada.hand("add", "c")
        #expect(try ada.messages("undo", "2") == "took back revision 2:\n- 2  [ ] b\nrevision 4\n")
        try ada.hand("undo")
        #expect(try texts() == "abc")
        try ada.hand("undo", "3")
        #expect(try texts() == "ab")
        try ada.hand("redo")
        #expect(try texts() == "abc")
        for revision in ["0", "99"] { try ada.hand("undo", revision, expecting: 3) }
        try ada.hand("undo", "--if-revision", "2", expecting: 7)
        try ada.hand("undo", "-n", "2", "--if-revision", "7")
        #expect(try texts() == "b")
    }

    /// Pending edits on this machine are sent first.
    @Test func pendingEditsAreUndoneToo() throws {
        try ada.hand("add", "a")
        ada.server.kill()
        try ada.hand("add", "b", "--queue", "--timeout", "1")
        try ada.hand("undo", "--queue", "--timeout", "1", expecting: 6)
        try ada.server.start()
        try ada.hand("undo", "-n", "2")
        #expect(try texts() == "")
        try ada.hand("redo", "-n", "2")
        #expect(try texts() == "ab")
    }

    /// Another server at the same address has its own numbers for people: an author with one's former number is
    /// somebody else.
    @Test func anotherServersAuthorsAreNotOneself() throws {
        try ada.hand("add", "a")
        ada.server.kill()
        try FileManager.default.removeItem(atPath: ada.server.folder.path + "/data")
        try ada.server.start()
        var other = ben
        other.environment["XDG_STATE_HOME"] = ada.server.folder.path + "/other"
        try other.hand("create", "list")
        try other.hand("add", "b")
        #expect(try ada.hand("undo", expecting: 3) == "hand: 'ada' has nothing to undo\n")
        #expect(try texts() == "b")
    }

    /// Whether or not an undo whose answer was lost was made: the next one continues from there, and never makes it
    /// again.
    @Test func anUndoWithALostAnswerIsNotRepeated() throws {
        let server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0"])
        let proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
        var user = ada
        user.environment["HAND_URL"] = "hand://127.0.0.1:\(proxy.address.port)/lost"
        try user.hand("create", "lost")
        try user.hand("add", "-q", "first")
        // The commit is the last message from the server.
        let before = try server.figure("bytesSent")
        try user.hand("undo")
        let all = try server.figure("bytesSent") - before
        var lost = 0
        for bytes in stride(from: all - 100, to: all, by: 20) {
            try user.hand("add", "-q", "one")
            try user.hand("add", "-q", "two")
            let count = try user.lines().count
            proxy.change { $0.down.strike = .silence(after: bytes) }
            let status = try user.run(["undo", "--timeout", "1"]).status
            proxy.heal()
            // The next command settles what was sent without an answer.
            let isMade = try user.lines().count == count - 1
            #expect(isMade || status == 6, "after \(bytes) bytes")
            if isMade, status == 8 { lost += 1 }
            try user.hand("undo")
            #expect(try user.lines().count == count - (isMade ? 2 : 1), "after \(bytes) bytes")
        }
        #expect(lost > 0, "some answers were lost")
    }
}
