import HandCore
import HandFormats
import HandScreens
import HandSync
import Testing

/// What is typed is not lost, whatever happens to its field.
@Suite struct KeptDraftTests {
    /// Closes the screen of a stage, and opens another one on the list as it is then, as another run of the program
    /// does.
    private static func reopened(_ stage: Stage, _ hand: Hand? = nil, at route: Route = .list("things")) throws -> Stage
    {
        let drafts = try stage.app.unkeptDrafts.enumerated().map {
            try KeptDraft(name: "\($0).json", JSONValue.parse($1.json.bytes))
        }
        var next = Stage(["things": hand ?? stage.hand()], opening: route)
        next.send(.drafts(drafts))
        return next
    }

    private static func forgotten(_ stage: Stage) -> Bool { stage.commands.contains(.forgetDraft("0.json")) }

    /// Every field goes on where it was, and Enter does what it would have done.
    @Test(arguments: [
        ("a >b c", "o 'x'", "a b x c"), ("a >b c", "O 'x'", "a x b c"), ("a >b c", "A 'x'", "x a b c"),
        ("a >b c", "a 'x'", "a b c x"), ("", "o 'x'", "x"), ("a >b c", "o tab 'x'", "a b !x c"),
        ("a >b c", "o 'x' enter 'y'", "a b x y c"), ("a >b c", "e 'x'", "a bx c"), ("a >!b c", "e 'x'", "a !bx c"),
        ("a >+b c", "e ctrl-u 'y'", "a +y c"),
        ("a >b c", "enter e 'x'", "a bx c"), ("a >b c", "/ 'b' enter e 'x'", "a bx c"),
    ]) func aFieldGoesOnInTheNextRun(_ before: String, _ keys: String, _ after: String) throws {
        var stage = KeyTests.stage(before)
        stage.press(keys)
        stage = try Self.reopened(stage)
        #expect(stage.lines.contains { $0.contains("before the screen was closed") })
        #expect(!Self.forgotten(stage))
        stage.press("enter")
        #expect(Self.forgotten(stage))
        stage.press("esc")
        #expect(stage.hand().map(\.content) == Notation.hand(after).hand.map(\.content))
        #expect(stage.app.unkeptDrafts.isEmpty)
    }

    @Test func anAddressGoesOn() throws {
        var stage = KeyTests.stage("a >@b")
        stage.press("E '/x'")
        stage = try Self.reopened(stage)
        stage.press("enter")
        #expect(stage.hand()[1].content == .link("b", url: "https://b/x"))
    }

    /// A text that is left with Esc is forgotten; one without typed words is not kept.
    @Test func onlyWhatSomebodyTypedIsKept() throws {
        for keys in ["o", "o '  '", "e", "/ 'x'", "o 'x' esc", "e 'x' backspace"] {
            var stage = KeyTests.stage("a >b")
            stage.press(keys)
            #expect(stage.app.unkeptDrafts.isEmpty, "\(keys)")
        }
        var stage = KeyTests.stage("a >b")
        stage.press("o 'x'")
        stage = try Self.reopened(stage)
        stage.press("esc")
        #expect(Self.forgotten(stage))
        // Kept again if the screen closes again.
        stage = KeyTests.stage("a >b")
        stage.press("o 'x'")
        stage = try Self.reopened(stage)
        #expect(stage.app.unkeptDrafts.map(\.name) == ["0.json"])
    }

    /// The list has changed before the text is offered again.
    @Test func aKeptTextFollowsTheList() throws {
        var stage = KeyTests.stage("a >b c")
        stage.press("e ' more'")
        var changed = stage.hand()
        changed = try changed.applying(changed.rewording(1, "the b"))
        var next = try Self.reopened(stage, try changed.applying(.moving(1..<2, to: 0, .after)))
        next.press("enter")
        #expect(next.hand().map(\.content.text) == ["the b more", "a", "c"])
        next = try Self.reopened(stage, try stage.hand().applying(.deleting(1..<2)))
        #expect(next.lines.contains { $0.contains("this item was deleted; Enter adds your text as a new one") })
        next.press("enter")
        #expect(next.hand().map(\.content.text) == ["a", "b more", "c"])
    }

    /// Texts of other lists wait until those are opened; two of one list come one after the other.
    @Test func eachListOffersItsOwn() throws {
        var stage = KeyTests.stage("a >b c")
        stage.press("o 'x'")
        let one = stage.app.unkeptDrafts[0].json
        stage.press("esc o 'y'")
        let two = stage.app.unkeptDrafts[0].json
        var next = Stage(["things": stage.hand(), "others": Notation.hand("z").hand], opening: .list("others"))
        next.send(.drafts([try KeptDraft(name: "1", one), try KeptDraft(name: "2", two)]))
        #expect(next.app.router.top.typing == nil)
        #expect(next.lines.contains { $0.contains("unfinished text waits in 'things'") })
        next.send(.list("things", .renamed(to: "stuff")))
        next.send(.list("stuff", .renamed(to: "things")))
        next.press("q")
        next.send(.lists([]))
        let route = Route.list("things")
        next = Stage(["things": stage.hand()], opening: route)
        next.send(.drafts([try KeptDraft(name: "1", one), try KeptDraft(name: "2", two)]))
        next.press("enter esc enter esc")
        #expect(next.hand().map(\.content.text) == ["a", "b", "y", "x", "c"])
        #expect(next.commands.contains(.forgetDraft("1")) && next.commands.contains(.forgetDraft("2")))
    }

    /// A text belongs to its list, whatever its name is now, and not to another list that has got the name.
    @Test func aTextStaysWithItsList() throws {
        var stage = KeyTests.stage("a >b c")
        stage.press("e ' more'")
        let kept = [try KeptDraft(name: "1", stage.app.unkeptDrafts[0].json)]
        var other = Stage(["others": stage.hand()], opening: .list("others"))
        var late = kept[0]
        late.list = "others"
        other.send(.drafts([late]))
        #expect(other.app.router.top.typing == nil)
        var renamed = Stage(["stuff": stage.hand()], opening: .list("stuff"))
        renamed.send(.drafts(kept))
        renamed.press("enter")
        #expect(renamed.replicas["stuff"]?.view.map(\.content.text) == ["a", "b more", "c"])
    }

    /// An edit that could not be made leaves its text in the field, with the reason.
    @Test(arguments: ["o 'long words'", "e ' and more'", "enter e ' and more'"])
    func whatCouldNotBeMadeStaysInTheField(_ keys: String) {
        var stage = KeyTests.stage("a >b c")
        stage.press(keys)
        stage.editProblem = "the disk is full"
        stage.press("enter")
        #expect(stage.lines.contains { $0.contains("the disk is full") })
        #expect(stage.app.unkeptDrafts.count == 1)
        stage.editProblem = nil
        stage.press("enter esc")
        #expect(stage.hand().contains { ["long words", "b and more"].contains($0.content.text) })
        // It is made now. A later failure brings back nothing.
        stage.press("esc g g")
        stage.send(.failed(.edit(list: "things", Delta.deleting(0..<1)), "later"))
        #expect(stage.app.router.top.typing == nil)
    }

    @Test func pastedLinesThatCouldNotBeAddedStayInTheField() {
        var stage = KeyTests.stage("a >b c")
        stage.editProblem = "too large"
        stage.send(.input(.paste("one\ntwo")))
        #expect(stage.lines.contains { $0.contains("one") } && stage.lines.contains { $0.contains("two") })
        #expect(stage.app.unkeptDrafts.map(\.text) == ["one\ntwo"])
    }

    // MARK: An item that is deleted while its text is edited

    /// It stays what it was: a note is a note, a link keeps its address, a ticked task its tick. Enter ends the edit.
    @Test(arguments: ["b", "+b", "!b", "#b", "@b"], [Route.list("things"), .item(list: "things", id: "")])
    func aDeletedItemKeepsItsKind(_ item: String, _ place: Route) throws {
        var stage = KeyTests.stage("a >\(item) c")
        if place.kind == .item { stage.press("enter") }
        stage.press("e ctrl-u 'other words'")
        let former = stage.hand()[1].content
        stage.remote(.deleting(1..<2))
        #expect(stage.top == .list("things"))
        #expect(stage.lines.contains { $0.contains("+ \(former.kind.name) ▸") && $0.contains("other words") })
        stage.press("tab enter")
        #expect(stage.app.router.top.typing == nil)
        let change = former.rewording("other words")
        #expect(
            stage.hand().map(\.content) == [
                .task("a", done: false), try former.applying(change), .task("c", done: false),
            ])
    }

    @Test func aDeletedLinkKeepsItsTypedAddress() {
        var stage = KeyTests.stage("a >@b c")
        stage.press("E '/x'")
        stage.remote(.deleting(1..<2))
        stage.press("enter")
        #expect(stage.hand()[1].content == .link("b", url: "https://b/x"))
    }

    /// If the deletion is undone, the text is that item's again.
    @Test func anItemThatComesBackIsEditedAgain() {
        var stage = KeyTests.stage("a >!b c")
        stage.press("e ' more'")
        let item = stage.hand()[1]
        stage.remote(.deleting(1..<2))
        stage.remote(.inserting([item], at: 1, .after))
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["a", "b more", "c"])
        #expect(stage.hand()[1].id == item.id)
    }

    // MARK: Other screens

    /// An answer that comes while something is typed does not lead to another screen, where the keys would be commands.
    @Test func nothingLeadsAwayFromTypedText() {
        var stage = Stage(["things": Notation.hand("a b").hand], opening: .lists)
        stage.send(.lists([.init(name: "things", count: 2, revision: 5, rules: Rules())]))
        stage.press("a 'new' enter enter o 'do not '")
        stage.send(.done(.create(list: "new", Rules())))
        #expect(stage.top == .list("things"))
        stage.press("'delete' enter")
        #expect(stage.hand().map(\.content.text).contains("do not delete"))
        // Neither from a question.
        stage = Stage(opening: .lists)
        stage.send(.lists([]))
        stage.press("a 'one' enter a 'tw'")
        stage.send(.done(.create(list: "one", Rules())))
        stage.press("'o'")
        #expect(stage.top == .lists && stage.lines.contains { $0.contains(": two") })
    }

    /// Half a sequence of keys, or a number, does not wait for another screen, nor for what follows a click.
    @Test func halfASequenceEndsWithItsScreen() {
        var stage = Stage(["things": Notation.hand("a b c d").hand], opening: .lists)
        stage.send(.lists([]))
        stage.press("a 'things' enter 3")
        stage.send(.done(.create(list: "things", Rules())))
        stage.press("j")
        #expect(Notation.text(stage) == "a >b c d")
        stage.press("j")
        stage.press("g")
        stage.mouse(.press, row: 4)
        stage.mouse(.release, row: 4)
        stage.press("g k")
        #expect(Notation.text(stage) == "a b >c d")
        stage.press("3")
        stage.mouse(.press, row: 1)
        stage.mouse(.release, row: 1)
        stage.press("j")
        #expect(Notation.text(stage) == "a >b c d")
    }
}
