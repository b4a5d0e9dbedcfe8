import HandCore
import HandScreens
import HandWire
import Testing

/// Typed, pasted, dragged and dealt input reaches the list as intended.
@Suite struct InputTests {
    /// Undo within the field removes one's own typing, and nothing that others wrote.
    @Test func undoWithinTheFieldKeepsOthersText() {
        var stage = KeyTests.stage(">milk")
        stage.press("e ' 2' ' l'")
        stage.remote(stage.hand().rewording(0, "oat milk"))
        stage.press("ctrl-_ ctrl-_")
        #expect(stage.lines.contains { $0.contains("✎ oat milk") && !$0.contains("2") })
        stage.press("enter")
        #expect(stage.hand()[0].content.text == "oat milk")
    }

    @Test func lineBreaksSurviveEditing() {
        var stage = Stage(["things": Hand([Item(id: ItemID(rawValue: 1), content: .note("one\ntwo"))])])
        #expect(stage.lines[1].hasSuffix("one") && stage.lines[2].hasSuffix("two"))
        stage.press("e '!'")
        #expect(stage.lines[1].hasSuffix("✎ one") && stage.lines[2].hasSuffix("  two!"))
        stage.press("alt-enter 'three' enter")
        #expect(stage.hand()[0].content == .note("one\ntwo!\nthree"))
    }

    /// Also if the text contains terminal control characters: they are not shown, and stay.
    @Test(arguments: ["", "enter"]) func anUntouchedTextIsNotAChange(_ open: String) {
        let text = "a\tb\u{1B}[2J\r\nc\u{202E}"
        var stage = Stage(["things": Hand([Item(id: ItemID(rawValue: 1), content: .link(text, url: "x\ny\u{7}"))])])
        for keys in ["e", "e 'x' backspace", "E", "E 'x' backspace"] {
            let before = stage.commands.count
            stage.press("\(open) \(keys)")
            for cell in stage.app.view().rows.joined() {
                #expect(!cell.text.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
            }
            stage.press("enter")
            #expect(!stage.commands.dropFirst(before).contains { if case .edit = $0 { true } else { false } })
        }
        stage.press("\(open) e '!' enter")
        #expect(stage.hand()[0].content == .link(text + "!", url: "x\ny\u{7}"))
    }

    /// The field grows with its text, and moves the other rows down; at the end of the screen, it scrolls with the
    /// cursor.
    @Test func theFieldGrowsAndScrolls() {
        var stage = KeyTests.stage("a >b c", rows: 10)
        stage.press("e")
        for number in 1...3 { stage.press("alt-enter '\(number)'") }
        #expect(stage.lines[1...6] == ["  1 [ ] a", "▸ 2 ✎ b", "      1", "      2", "      3", "  3 [ ] c"])
        #expect(stage.app.view().cursor == Point(row: 5, column: 7))
        for number in 4...9 { stage.press("alt-enter '\(number)'") }
        #expect(stage.lines[1...7] == ["▸ 2 ✎↑3", "      4", "      5", "      6", "      7", "      8", "      9"])
        #expect(stage.app.view().cursor == Point(row: 7, column: 7))
        stage.press("up up up up up up up up")
        #expect(stage.lines[1...7] == ["▸ 2 ✎ b", "      1", "      2", "      3", "      4", "      5", "     ↓6"])
        #expect(stage.app.view().cursor == Point(row: 2, column: 7))
        stage.send(.input(.resize(Size(rows: 4, columns: 80))))
        #expect(stage.lines[1] == "▸ 2 ✎↕1")
        #expect(stage.app.view().cursor == Point(row: 1, column: 7))
        stage.press("enter")
        #expect(stage.hand()[1].content.text == "b\n1\n2\n3\n4\n5\n6\n7\n8\n9")
    }

    /// On the item's own screen, the field is at the bottom, with the messages.
    @Test func theFieldGrowsOnTheItemsScreen() {
        var stage = KeyTests.stage("a >b c", rows: 10)
        stage.presence("Bob", on: nil)
        stage.press("enter e alt-enter 'x'")
        #expect(stage.lines[6...7] == ["✎ b", "  x"])
        #expect(stage.app.view().cursor == Point(row: 7, column: 3))
        stage.press("up ctrl-u 'mine'")
        stage.remote(stage.hand().rewording(1, "theirs"))
        #expect(stage.lines[5] == "✎ mine" && stage.lines[7].contains("Bob changed this to 'theirs'"))
        #expect(stage.app.view().cursor == Point(row: 5, column: 6))
    }

    /// A name after the field takes columns: the text is wrapped before it, and the cursor is where one types.
    @Test func thePersonOnAnItemLeavesRoomForItsText() {
        var stage = KeyTests.stage("a >b c", columns: 20)
        stage.press("e ' two three four'")
        #expect(stage.lines[2...3] == ["▸ ✎ b two three", "    four"])
        stage.presence("Bob", on: ItemID(rawValue: 2 << 32))
        #expect(stage.lines[2...4] == ["▸ ✎ b two       ◂Bob", "    three four", "  [ ] c"])
        #expect(stage.app.view().cursor == Point(row: 3, column: 14))
        stage.press("up")
        #expect(stage.app.view().cursor == Point(row: 2, column: 9))
    }

    /// Text that the list does not accept stays in the field, with the reason.
    @Test(arguments: ["e", "enter e"]) func textThatIsTooLargeIsNotLost(_ keys: String) {
        var stage = KeyTests.stage(">a b", rules: Rules(maximumSize: 20))
        stage.press("\(keys) ' and much more than that' enter")
        #expect(stage.lines.contains { $0.contains("✎ a and much more than that") })
        #expect(stage.lines.contains { $0.contains("this list takes at most 20") }, "\(stage.lines)")
        stage.press("ctrl-w ctrl-w backspace enter")
        #expect(stage.hand()[0].content.text == "a and much more")
    }

    /// While one adds items, pasted lines become items, unless the item already has several lines.
    @Test func linesArePastedAsItemsOrAsLines() {
        var stage = KeyTests.stage(">a")
        stage.press("o 'x'")
        stage.send(.input(.paste("1\n2")))
        #expect(stage.hand().map(\.content.text) == ["a", "x1", "2"])
        stage.press("'y' alt-enter")
        stage.send(.input(.paste("3\n\t4")))
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["a", "x1", "2", "y\n3\n 4"])
        stage.press("esc e")
        stage.send(.input(.paste("\n5\n")))
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["a", "x1", "2", "y\n3\n 4\n5"])
    }

    @Test func anItemCanBeCutAndPastedIntoAnotherList() {
        var stage = Stage(["things": Notation.hand("a b").hand, "others": Notation.hand("c").hand])
        stage.press("x")
        stage.send(
            .lists(["others", "things"].map { DownMessage.ListEntry(name: $0, count: 1, revision: 1, rules: Rules()) }))
        stage.press("q k enter p")
        #expect(stage.top == .list("others"))
        #expect(stage.hand("others").map(\.content.text) == ["c", "a"])
        #expect(stage.hand("things").map(\.content.text) == ["b"])
    }

    @Test func manyPastedLinesAreManyItems() {
        var stage = KeyTests.stage("a >b c")
        stage.send(.input(.paste("x\ny\n\nz\u{1B}[31m\n")))
        #expect(stage.hand().map(\.content.text) == ["a", "b", "x", "y", "z�[31m", "c"])
        stage.press("u")
        #expect(stage.hand().count == 3)
    }

    @Test func theMouseDragsAWholeRange() {
        var stage = KeyTests.stage("a >b c d e")
        stage.press("v j")
        stage.mouse(.press, row: 2)
        stage.mouse(.drag, row: 4)
        stage.mouse(.release, row: 4)
        #expect(stage.hand().map(\.content.text) == ["a", "d", "b", "c", "e"])
        #expect(Notation.text(stage) == "a d *b >*c e")
    }

    @Test func theMouseSelectsDragsAndScrolls() {
        var stage = KeyTests.stage(">a b c")
        stage.mouse(.press, row: 2)
        stage.mouse(.release, row: 2)
        #expect(Notation.text(stage) == "a >b c")
        stage.mouse(.press, row: 2)
        stage.mouse(.drag, row: 3)
        stage.mouse(.release, row: 3)
        #expect(Notation.text(stage) == "a c >b")
        stage.mouse(.press, row: 3)
        stage.mouse(.release, row: 3)
        #expect(stage.top.path.hasPrefix("/things/items/"))
    }

    /// As with `hand add --card`: a list with a deck also accepts named cards.
    @Test func aListWithADeckTakesWrittenCards() {
        var stage = KeyTests.stage("", rules: .fiveCards)
        stage.press("o 'Q♠' enter 'Ah' enter esc")
        #expect(stage.hand().map(\.content) == [.card(Card("Q♠")!), .card(Card("Ah")!)])
    }

    @Test func aCardIsDealt() {
        var stage = KeyTests.stage("", rules: .fiveCards)
        stage.press("3 c")
        #expect(stage.hand().count == 3)
        stage.press("9 c c")
        #expect(stage.hand().count == 5)
        #expect(stage.lines.contains { $0.contains("the list is full") })
    }

    @Test func addressesAreEdited() {
        var stage = KeyTests.stage(">@site")
        stage.press("E ctrl-u 'https://other' enter")
        #expect(stage.hand()[0].content == .link("site", url: "https://other"))
    }
}
