import Foundation
import HandTestSupport
import Testing

/// What a person wrote is never dropped by a program: neither if it is refused, nor if somebody overrides it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RejectedTests {
    let ann: CommandUser
    /// On a machine of his own.
    let bob: CommandUser

    init() throws {
        ann = try CommandUser("ann")
        var other = ann.named("bob")
        other.environment["XDG_STATE_HOME"] = ann.server.folder.path + "/bob"
        bob = other
    }

    @Test func aRefusalTakesOutOnlyWhatItIsAbout() throws {
        try ann.hand("create", "list", "--max-items", "2")
        try ann.hand("add", "a")
        try ann.hand("ls")
        ann.server.kill()
        try ann.hand("add", "--queue", "my words", "--timeout", "1")
        try ann.hand("edit", "--queue", "1", "a better", "--timeout", "1")
        try ann.server.start()
        try bob.hand("add", "b")
        #expect(try ann.lines().first == "[ ] a")
        #expect(try ann.messages("ls").contains("edits of yours wait to be sent"))
        let told = try ann.hand("sync", expecting: 4)
        #expect(told.contains("'list': rejected: your new '[ ] my words': the list is full"), "\(told)")
        #expect(try ann.lines() == ["[ ] a better", "[ ] b"])
        // It stays until its author decides.
        for command in ["sync", "ls"] {
            #expect(try ann.messages(command).contains("1 edit of yours was refused and is kept"), "\(command)")
        }
        #expect(try ann.run(["doctor"]).output.contains("1 edit of yours was refused and is kept"))
        #expect(try bob.messages("rejected") == "no refused or overridden edits wait for you\n")
        #expect(try ann.hand("rejected").contains("your new '[ ] my words': the list is full"))
        #expect(try ann.hand("rejected", "text", "1") == "my words\n")
        #expect(try ann.hand("rejected", "--json").contains(#""rejection":{"reason":"listFull""#))
        // Refused again, it is still there.
        try ann.hand("rejected", "retry", "1", expecting: 4)
        try ann.hand("rm", "2")
        try ann.hand("rejected", "retry", "1")
        #expect(try ann.lines() == ["[ ] a better", "[ ] my words"])
        #expect(try ann.messages("rejected") == "no refused or overridden edits wait for you\n")
        try ann.hand("rejected", "drop", "1", expecting: 3)
    }

    /// Three edits of items that somebody deletes meanwhile.
    private func loseThreeEdits() throws {
        try ann.hand("create", "list")
        try ann.hand("add", "a", "b", "c")
        try ann.hand("ls")
        ann.server.kill()
        for item in 1...3 { try ann.hand("edit", "--queue", "\(item)", "words \(item)", "--timeout", "1") }
        try ann.server.start()
        try bob.hand("rm", "1-3")
        _ = try ann.run(["sync"])
    }

    /// An edit keeps its number when others are forgotten, and is taken once, also if it is named twice.
    @Test func numbersStayWithTheirEdits() throws {
        try loseThreeEdits()
        #expect(try ann.hand("rejected", "drop", "1", "1", "--json") == "{\"number\":1,\"dropped\":true}\n")
        try ann.hand("rejected", "drop", "1", expecting: 3)
        #expect(try ann.hand("rejected", "text", "2") == "words 2\n")
        try ann.hand("rejected", "retry", "3", "3")
        #expect(try ann.lines() == ["[ ] words 3"])
        #expect(try ann.hand("rejected", "text", "all") == "words 2\n")
    }

    /// Another list may have taken the name.
    @Test func anEditIsMadeAgainOnItsOwnList() throws {
        try loseThreeEdits()
        try bob.hand("rename", "list", "new")
        try ann.hand("rejected", "retry", "1", expecting: 3)
        try bob.hand("create", "list")
        try bob.hand("add", "else")
        let told = try ann.hand("rejected", "retry", "1", expecting: 7)
        #expect(told.contains("another list, which was called 'list' then"), "\(told)")
        #expect(try ann.lines() == ["[ ] else"])
        try ann.hand("rejected", "retry", "1", "-l", "new")
        #expect(try ann.lines("-l", "new") == ["[ ] words 1"])
        try ann.hand("rejected", "retry", "all", "-l", "new")
        #expect(try ann.lines("-l", "new") == ["[ ] words 1", "[ ] words 2", "[ ] words 3"])
        #expect(try ann.messages("rejected", "retry", "all", "-l", "new").contains("of 'new' wait for you"))
    }

    /// What is refused again stays, and does not hold up the others.
    @Test func eachEditIsMadeAgainOrStays() throws {
        try loseThreeEdits()
        try bob.hand("rename", "list", "full")
        try bob.hand("create", "list")
        let told = try ann.hand("rejected", "retry", "1", "2", expecting: 7)
        #expect(told.contains("1 was made on another list") && told.contains("2 was made on another list"), "\(told)")
        try bob.hand("delete", "list", "--force")
        try bob.hand("rename", "full", "list")
        try bob.hand("add", "--note", "n")
        try ann.hand("rejected", "retry", "all")
        #expect(try ann.lines().count == 4)
    }

    @Test func whoOverrodeAnEditAndWhatIsSaid() throws {
        try ann.hand("create", "list")
        try ann.hand("add", "ferry")
        try ann.hand("ls")
        ann.server.kill()
        try ann.hand("edit", "--queue", "1", "ferry at ten", "--timeout", "1")
        try ann.server.start()
        try bob.hand("rm", "1")
        let told = try ann.messages("sync")
        #expect(told.contains("bob deleted '[ ] ferry at ten', whose text you had changed (revision 2)"), "\(told)")
        #expect(try ann.hand("rejected", "text", "1") == "ferry at ten\n")
        // It is told once.
        let again = try ann.messages("ls")
        #expect(!again.contains("bob"))
        try ann.hand("rejected", "retry", "all")
        #expect(try ann.lines() == ["[ ] ferry at ten"])
        let json = try ann.hand("rejected", "--json")
        #expect(json.isEmpty)
    }

    /// A command ends before others override its edit. The next one on the list tells it, unless it is to print nothing.
    @Test func aLaterOverrideIsToldByTheNextCommand() throws {
        try ann.hand("create", "list")
        try ann.hand("add", "zebra", "b")
        try bob.hand("ls")
        bob.server.kill()
        try bob.hand("edit", "--queue", "1", "third", "--timeout", "1")
        try bob.hand("rm", "--queue", "2", "--timeout", "1")
        try bob.server.start()
        try ann.hand("edit", "1", "second")
        try ann.hand("done", "2")
        try bob.hand("sync")
        #expect(try ann.messages("ls", "-q") == "")
        let told = try ann.messages("ls")
        #expect(told.contains("bob overwrote 'second' with 'third'") && told.contains("bob deleted '[x] b'"), "\(told)")
        let again = try ann.messages("ls")
        #expect(!again.contains("bob"))
        #expect(try ann.lines() == ["[ ] third"])
        let kept = try ann.hand("rejected")
        #expect(kept.contains("overwrote 'second' with 'third'") && kept.contains("whose box to tick you had changed"))
    }

    /// Of two people with one home, each is told of their own losses.
    @Test func lossesBelongToOnePerson() throws {
        try ann.hand("create", "list", "--max-items", "1")
        ann.server.kill()
        try ann.hand("add", "--queue", "one", "--timeout", "1")
        try ann.hand("add", "--queue", "two", "--timeout", "1")
        try ann.server.start()
        try ann.hand("sync", expecting: 4)
        #expect(try ann.named("cat").messages("rejected") == "no refused or overridden edits wait for you\n")
        #expect(try ann.hand("rejected", "text", "all") == "two\n")
        #expect(try ann.messages("rejected", "drop", "all").hasPrefix("dropped: rejected: your new '[ ] two'"))
    }

    // MARK: Undo and redo are one history

    private func open(_ keys: [String], _ tmux: Tmux, until count: Int) throws {
        let pane = try tmux.open("\(Binary.path) open --as ann")
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) }
        for key in keys { try tmux.press(key, in: pane) }
        try tmux.wait(for: pane) { ScreenTests.isSynced($0) && ScreenTests.items($0).count == count }
        // The second one is for the lists; the terminal may have gone with the first.
        for _ in 0..<2 { try? tmux.press("q", in: pane) }
        // Of two screens at once, each has a history of its own.
        let isGone = try eventually { try !tmux.panes().contains(pane) }
        #expect(isGone)
    }

    @Test func undoGoesOnWhereTheLastRunEnded() throws {
        try ann.hand("create", "list")
        for text in ["a", "b", "c"] { try ann.hand("add", text) }
        // A shell keeps the terminals while the screens end.
        let tmux = try Tmux(environment: ann.environment, "sh")
        try open(["d", "u"], tmux, until: 3)
        #expect(eventually { (try? ann.lines().count) == 3 })
        // The undo is not taken back: what comes next is the last command.
        try open(["u"], tmux, until: 2)
        let isSo = try eventually { try ann.lines() == ["[ ] a", "[ ] b"] }
        #expect(isSo)
        #expect(try ann.messages("undo").contains("- 2  [ ] b"))
        try ann.hand("redo")
        #expect(try ann.lines() == ["[ ] a", "[ ] b"])
        // Commands in between belong to the same history.
        try ann.hand("rm", "1")
        try open(["u"], tmux, until: 2)
        let isBack = try eventually { try ann.lines() == ["[ ] a", "[ ] b"] }
        #expect(isBack)
    }
}
