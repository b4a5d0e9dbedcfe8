import HandCore
import HandScreens
import HandTestSupport
import Testing

/// A text that is open in the user's own editor, and the text that it returns.
@Suite struct OutsideTextTests {
    private func asked(_ stage: Stage) -> [Command] {
        stage.commands.filter { if case .editOutside = $0 { true } else { false } }
    }

    private func edits(_ stage: Stage) -> Int {
        stage.commands.count { if case .edit = $0 { true } else { false } }
    }

    @Test(arguments: [("", "task.txt"), ("enter", "task.txt"), ("!", "note.md")])
    func theEditorGetsTheTypedText(_ way: String, _ name: String) {
        var stage = KeyTests.stage(way == "!" ? "a >!b" : "a >b")
        stage.press("\(way == "!" ? "" : way) e alt-enter 'x' ctrl-o")
        #expect(asked(stage) == [.editOutside("b\nx", named: name)])
        // Keys have no effect in the meantime.
        stage.press("'y' enter esc ctrl-o q")
        stage.send(.input(.paste("z")))
        stage.mouse(.press, row: 1)
        #expect(asked(stage).count == 1 && edits(stage) == 0)
        stage.send(.editedOutside("b\nx\n\nmore"))
        #expect(stage.lines.contains { $0.contains("✎ b") } && stage.lines.contains { $0.hasSuffix("  more") })
        #expect(edits(stage) == 0)
        stage.press("'!' enter")
        #expect(stage.hand()[1].content.text == "b\nx\n\nmore!")
    }

    @Test func aNewItemCanBeWrittenThereToo() {
        var stage = KeyTests.stage(">a")
        stage.press("o tab 'x' ctrl-o")
        #expect(asked(stage) == [.editOutside("x", named: "note.md")])
        stage.send(.editedOutside("x\ny"))
        stage.press("enter")
        #expect(stage.hand().map(\.content) == [.task("a", done: false), .note("x\ny")])
    }

    @Test func anAddressNeedsNoEditor() {
        var stage = KeyTests.stage(">@site")
        stage.press("E ctrl-o")
        #expect(asked(stage).isEmpty && stage.commands.last == .bell)
        #expect(!stage.lines.contains { $0.contains("editor") })
    }

    /// The list is followed all the time: others' edits are in it, and one's own.
    @Test(arguments: ["e", "enter e"]) func othersMayEditInTheMeantime(_ keys: String) {
        var stage = KeyTests.stage("a >milk c", rows: 24)
        stage.presence("Bob", on: nil)
        stage.press("\(keys) ' 2' ctrl-o")
        stage.remote(stage.hand().rewording(1, "oat milk"))
        stage.remote(.deleting(0..<1))
        stage.send(.editedOutside("milk 2 l\nbread"))
        #expect(
            stage.lines.contains { $0.contains("✎ oat milk 2 l") } && stage.lines.contains { $0.hasSuffix(" bread") })
        #expect(!stage.lines.contains { $0.contains("Bob changed") })
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["oat milk 2 l\nbread", "c"])
    }

    /// If one replaces text there that somebody has changed, this is reported before it is saved.
    @Test func replacedTextIsReported() {
        var stage = KeyTests.stage(">salted")
        stage.presence("Bob", on: nil)
        stage.presence("Cleo", on: nil, author: 3)
        stage.press("e ctrl-o")
        stage.remote(stage.hand().rewording(0, "sweet\u{1B}[2J"))
        stage.remote(.editing(at: 0, Change(done: true)), by: 3)
        stage.send(.editedOutside("unsalted"))
        let told = "Bob changed this to 'sweet\u{FFFD}[2J'; Enter puts yours in its place"
        stage.press("end '!'")
        #expect(stage.lines.contains { $0.contains(told) }, "\(stage.lines)")
        // Undo restores the text with theirs, and not the one before it.
        stage.press("ctrl-_ ctrl-_")
        #expect(stage.lines.contains { $0.contains("✎ sweet") })
        stage.press("alt-_ alt-_ enter")
        #expect(stage.hand()[0].content.text == "unsalted!")
    }

    @Test(arguments: ["e", "enter e"]) func aFailingEditorLosesNothing(_ keys: String) {
        var stage = KeyTests.stage("a >b c")
        stage.press("\(keys) 'x' ctrl-o")
        guard let asked = asked(stage).first else { return #expect(Bool(false), "no editor was asked for") }
        stage.send(.failed(asked, "what it saved is in /tmp/x"))
        stage.wait(10_000)
        stage.press("'y'")
        #expect(stage.lines.contains { $0.contains("✎ bxy") })
        #expect(
            stage.lines.contains { $0.contains("what it saved is in /tmp/x") }, "it is told until the text is saved")
        stage.press("ctrl-o")
        stage.send(.editedOutside("bxyz"))
        stage.press("enter")
        #expect(stage.hand()[1].content.text == "bxyz")
    }

    @Test func refusedTextStaysInTheField() {
        var stage = KeyTests.stage(">b", rules: Rules(maximumSize: 10))
        stage.press("e ctrl-o")
        stage.send(.editedOutside("b and far too much"))
        #expect(stage.lines.contains { $0.contains("✎ b and far too much") })
        #expect(stage.lines.contains { $0.contains("this list takes at most 10") })
        stage.press("enter")
        #expect(edits(stage) == 0 && stage.lines.contains { $0.contains("this list takes at most 10") })
    }

    @Test func writtenTextOutlivesItsItem() {
        var stage = KeyTests.stage("a >b c")
        stage.presence("Bob", on: nil)
        stage.press("e ctrl-o")
        stage.remote(.deleting(1..<2))
        stage.send(.editedOutside("b more"))
        #expect(stage.lines.contains { $0.contains("Bob deleted this item; Enter adds this as a new one") })
        stage.press("enter esc")
        #expect(stage.hand().map(\.content.text) == ["a", "b more", "c"])
    }

    @Test func writtenTextOnTheItemsScreenOutlivesItsItem() {
        var stage = KeyTests.stage("a >b c")
        stage.press("enter e ctrl-o")
        stage.remote(.deleting(1..<2))
        stage.remote(.deleting(0..<1))
        stage.send(.editedOutside("b more"))
        #expect(stage.lines.contains { $0.contains("somebody deleted this item") })
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["c", "b more"])
        // It is restored before the editor ends, in another place.
        stage = KeyTests.stage("a >b c")
        let item = stage.hand()[1]
        stage.press("enter e ctrl-o")
        stage.remote(.deleting(1..<2))
        stage.remote(.inserting([item], at: 2, .after))
        stage.remote(stage.hand().rewording(2, "b!"))
        stage.send(.editedOutside("more b"))
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["a", "c", "more b!"])
    }
}
