import HandCore
import HandScreens
import HandWire
import Testing

/// Several people in one list: nothing is lost, nothing jumps, and everybody is notified.
@Suite struct TogetherTests {
    private func item(_ text: String, _ id: UInt64 = 99) -> Item {
        Item(id: ItemID(rawValue: id), content: .task(text, done: false))
    }

    /// Before, somebody else's edit, after: the cursor stays on its item.
    static let others: [(String, Delta, String)] = [
        ("a >b c", .deleting(0..<1), ">b c"), ("a >b c", .deleting(1..<2), "a >c"),
        ("a b >c", .deleting(2..<3), "a >b"),
        ("a >b c", .moving(1..<2, to: 0, .after), ">b a c"), ("a >b c", .moving(0..<1, to: 3, .before), ">b c a"),
        (
            "a >b c", .inserting([Item(id: ItemID(rawValue: 9), content: .task("x", done: false))], at: 0, .after),
            "x a >b c"
        ),
        (
            "a >b c", .inserting([Item(id: ItemID(rawValue: 9), content: .task("x", done: false))], at: 1, .after),
            "a x >b c"
        ),
        ("a >b c", .editing(at: 1, Change(done: true)), "a >+b c"), (">a", .deleting(0..<1), ""),
    ]

    @Test(arguments: others)
    func theCursorStaysOnItsItem(_ before: String, _ operation: Delta, _ after: String) {
        var stage = KeyTests.stage(before)
        stage.remote(operation)
        #expect(Notation.text(stage) == after)
    }

    @Test func aListOpensAtItsTop() {
        var stage = KeyTests.stage("")
        stage.remote(.inserting([item("a", 1), item("b", 2), item("c", 3)], at: 0, .before))
        #expect(Notation.text(stage) == ">a b c")
    }

    @Test func theCursorStaysOnItsLineOfTheScreen() {
        let words = (0..<100).map { "i\($0)" }.joined(separator: " ")
        var stage = KeyTests.stage(words)
        stage.press("5 0 G")
        let line = stage.lines.firstIndex { $0.hasPrefix("▸") }
        stage.remote(.inserting([item("above")], at: 0, .after))
        #expect(stage.lines.firstIndex { $0.hasPrefix("▸") } == line)
        #expect(stage.lines.contains { $0.hasPrefix("▸") && $0.hasSuffix("i49") })
    }

    /// What others put between the selected items is not selected, and so not deleted with them.
    @Test func aRangeHasWhatWasSelected() {
        var stage = KeyTests.stage("a >b c d")
        stage.press("v j")
        stage.remote(.inserting([item("x")], at: 2, .after))
        #expect(Notation.text(stage) == "a *b x >*c d")
        #expect(stage.lines[0].contains("2 selected"))
        stage.remote(.moving(0..<1, to: 2, .after))
        #expect(Notation.text(stage) == "*b a x >*c d")
        stage.press("d")
        #expect(Notation.text(stage) == "a x >d")
        stage.press("v j")
        stage.remote(.deleting(4..<5))
        #expect(Notation.text(stage) == "a >x")
        // What is selected again later is selected.
        stage.press("v k")
        #expect(Notation.text(stage) == ">*a *x")
    }

    /// Keys, somebody else's edit, and what is selected then: never what was not.
    static let selections: [(String, Delta, String)] = [
        // An end is deleted.
        ("v j", .deleting(2..<3), "a >*b d e f"), ("v j", .deleting(1..<2), "a >*c d e f"),
        ("j v k", .deleting(2..<3), "a >*b d e f"), ("j v k", .deleting(1..<2), "a >*c d e f"),
        ("v j j", .deleting(2..<4), "a >*b e f"),
        // An end is moved away: what is between is not selected.
        ("v j", .moving(1..<2, to: 6, .before), "a >*c d e f *b"),
        ("v j", .moving(2..<3, to: 0, .after), ">*c a *b d e f"),
        ("v j j", .moving(2..<3, to: 6, .before), "a *b *d e f >*c"),
        // A ticked task is not shown.
        ("s v j", .editing(at: 2, Change(done: true)), "a >*b +c d e f"),
        ("s v j", .editing(at: 1, Change(done: true)), "a +b >*c d e f"),
    ]

    @Test(arguments: selections)
    func aSelectionNeverGrows(_ keys: String, _ operation: Delta, _ after: String) {
        var stage = KeyTests.stage("a >b c d e f")
        stage.press(keys)
        stage.remote(operation)
        #expect(Notation.text(stage) == after)
        let (count, selected) = (stage.hand().count, after.count { $0 == "*" })
        #expect(stage.lines[0].contains("\(selected) selected"))
        stage.press("d")
        #expect(stage.hand().count == count - selected)
    }

    /// What one's own edit takes away at the end is not selected when others change the list.
    @Test func anOwnEditShortensTheSelection() {
        for (keys, count) in [("G v", 1), ("G v k", 2), ("g g v G", 4)] {
            var stage = KeyTests.stage("a b c d")
            stage.press(keys)
            stage.edit(.deleting((4 - count)..<4))
            stage.remote(.editing(at: 0, Change(done: true)))
            stage.confirm()
            #expect(stage.hand().count == 4 - count)
        }
    }

    @Test func aSelectionEndsWithItsItems() {
        var stage = KeyTests.stage("a >b c d")
        stage.press("v j")
        stage.remote(.deleting(1..<3))
        #expect(Notation.text(stage) == "a >d")
        #expect(stage.lines.contains { $0.contains("what you had selected is gone") })
    }

    /// Where ticked tasks are shown last, one that goes there takes no other one into the selection.
    @Test func aTickedTaskGoesBelowWithoutItsNeighbours() {
        for place in [0, 1] {
            var stage = KeyTests.stage(">a b c d e f")
            stage.press("B v j")
            stage.remote(.editing(at: place, Change(done: true)))
            stage.wait(2_000)
            #expect(stage.lines[0].contains("2 selected"))
            stage.press("d")
            #expect(stage.hand().map(\.content.text) == ["c", "d", "e", "f"])
        }
    }

    /// An item whose text is being typed stays shown, and the cursor stays on it.
    @Test func theItemBeingTypedStays() {
        var stage = KeyTests.stage(">a1 b a2")
        stage.press("/ a enter e X")
        stage.remote(.editing(at: 0, Change(text: TextChange(from: "a1", to: "c1"))))
        #expect(stage.lines[1].contains("✎ a1X"))
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["a1X", "b", "a2"])

        stage = KeyTests.stage("a >b c")
        let item = stage.hand()[1]
        stage.press("e X")
        stage.remote(.deleting(1..<2))
        stage.remote(.inserting([item], at: 1, .after))
        stage.press("enter")
        #expect(Notation.text(stage) == "a >bX c")
    }

    @Test func aDragEndsWithItsItem() {
        var stage = KeyTests.stage(">a b c d")
        stage.mouse(.press, row: 2)
        stage.mouse(.drag, row: 3)
        stage.remote(.deleting(1..<2))
        #expect(!stage.lines[0].contains("goes"))
        stage.mouse(.release, row: 3)
        #expect(Notation.text(stage) == "a >c d")
    }

    @Test func typingStaysWhereItBegan() {
        var stage = KeyTests.stage("a >b c")
        stage.press("o 'x'")
        stage.remote(.inserting([item("top")], at: 0, .after))
        stage.press("'y' enter esc")
        #expect(Notation.text(stage) == "top a b >xy c")
    }

    /// The field is live: others' text appears in it, and one's own typing stays.
    @Test func twoPeopleCanEditOneText() {
        var stage = KeyTests.stage("a >cheese c")
        stage.presence("Bob", on: nil)
        stage.press("e ' [two]'")
        stage.remote(stage.hand().rewording(1, "blue cheese [one]"))
        #expect(stage.lines.contains { $0.contains("✎ blue cheese [one] [two]") })
        stage.press("'!' enter")
        #expect(stage.hand()[1].content.text == "blue cheese [one] [two]!")
    }

    /// If somebody changes the text that one is replacing, one is notified before saving, and can decide.
    @Test func replacingAChangingTextIsReported() {
        var stage = KeyTests.stage(">salted")
        stage.presence("Bob", on: nil)
        stage.press("e ctrl-w 'unsalted'")
        stage.remote(stage.hand().rewording(0, "salted butter"))
        #expect(!stage.lines.contains { $0.contains("Bob") }, "nothing is overridden")
        stage.remote(stage.hand().rewording(0, "sweet\u{1B}[2J butter"))
        let told = stage.lines.first { $0.contains("Bob") } ?? ""
        #expect(told.contains("Bob changed this to 'sweet\u{FFFD}[2J'; Enter puts yours in its place"))
        stage.press("'!'")
        #expect(stage.lines.contains { $0.contains("Bob changed") }, "further typing does not hide it")
        stage.press("enter")
        #expect(stage.hand()[0].content.text == "unsalted! butter")
    }

    /// The screen of one item does the same.
    @Test func twoPeopleCanEditOneTextOnItsScreen() {
        var stage = KeyTests.stage("a >cheese c")
        stage.press("enter e ' [two]'")
        stage.remote(stage.hand().rewording(1, "cheese [one]"))
        stage.press("enter")
        #expect(stage.hand()[1].content.text == "cheese [one] [two]")
    }

    @Test func typedTextOutlivesItsItem() {
        var stage = KeyTests.stage("a >b c")
        stage.presence("Bob", on: nil)
        stage.press("e ' more'")
        stage.remote(.deleting(1..<2))
        #expect(stage.lines.contains { $0.contains("Bob deleted this item") })
        stage.press("enter esc")
        #expect(stage.hand().map(\.content.text) == ["a", "b more", "c"])
    }

    @Test func typedTextOnTheItemsScreenOutlivesItsItem() {
        var stage = KeyTests.stage("a >b c")
        stage.press("enter e ' more'")
        stage.remote(.deleting(1..<2))
        #expect(stage.lines.contains { $0.contains("somebody deleted this item") })
        stage.press("enter")
        #expect(stage.hand().map(\.content.text) == ["a", "b more", "c"])
    }

    @Test func thePersonWhoDeletedAnItemIsNamed() {
        var stage = KeyTests.stage("a >b c")
        stage.presence("Bob", on: nil)
        stage.press("enter")
        stage.remote(.deleting(1..<2))
        #expect(stage.lines.contains { $0.contains("Bob deleted this item.") })
        stage = KeyTests.stage("a >b c")
        stage.press("o 'x' enter esc enter u")
        #expect(stage.lines.contains { $0.contains("You deleted this item.") })
    }

    @Test func pendingEditsAreMarkedUntilTheyAreSaved() {
        var stage = KeyTests.stage("a >b c")
        stage.press("space")
        #expect(stage.lines.contains { $0.hasPrefix("▸•") })
        #expect(stage.lines.last?.contains("saving 1") == true)
        stage.confirm()
        #expect(!stage.lines.contains { $0.contains("•") })
        #expect(stage.lines.last?.contains("synced") == true)
    }

    @Test func onlyUnconfirmedEditsLookPending() {
        var stage = KeyTests.stage(">a b c")
        stage.press("space")
        stage.goOffline()
        stage.press("j space j space")
        #expect(stage.lines.filter { $0.contains("•") }.count == 3)
        #expect(stage.lines.last?.contains("offline, 3 queued") == true)
    }

    /// Also that it admits nobody any more; control characters are removed.
    @Test func messagesOfTheServerAreShown() {
        var stage = KeyTests.stage(">a b")
        stage.send(.warning("you are slowed down"))
        #expect(stage.lines.contains("you are slowed down"))
        stage.goOffline("the server is stopping")
        #expect(!stage.lines.contains("the server is stopping"), "it is expected back")
        stage.goOffline("your token is not valid any longer\u{1B}[2J", retryIn: nil)
        #expect(stage.lines.contains("your token is not valid any longer�[2J"))
    }

    @Test func othersChangesFlashAndFade() {
        var stage = KeyTests.stage(">a b")
        stage.remote(stage.hand().rewording(1, "new"))
        func isLit() -> Bool { stage.app.view().rows[2].contains { $0.style.background == .yellow } }
        #expect(isLit())
        let deadline = stage.app.deadline
        #expect(deadline.map { $0 <= stage.now + 1_200 } == true)
        stage.wait(1_300)
        #expect(!isLit())
        #expect(stage.app.deadline == nil)
    }

    @Test func othersCursorsHaveNames() {
        var stage = KeyTests.stage(">a b")
        stage.presence("Bob", on: ItemID(rawValue: 2 << 32))
        #expect(stage.lines[2].hasSuffix("◂Bob"))
        stage.send(.list("things", .presence([DownMessage.Presence(author: Stage.bob, place: .gone)])))
        #expect(!stage.lines[2].contains("Bob"))
    }

    @Test func onesPlaceIsReportedButNotTooOften() {
        var stage = KeyTests.stage(">a b c d")
        stage.wait(1_000)
        stage.wait(1_000)
        let before = stage.commands.count
        stage.press("j j j")
        let told = stage.commands.dropFirst(before).filter { if case .presence = $0 { true } else { false } }
        #expect(told == [.presence(list: "things", Focus(ItemID(rawValue: 2 << 32)))])
        stage.wait(100)
        #expect(stage.commands.last == .presence(list: "things", Focus(ItemID(rawValue: 4 << 32))))
    }

    @Test func overriddenTextCanBeRestored() {
        var stage = KeyTests.stage("a >b c")
        stage.presence("Bob", on: nil)
        stage.press("e 'X' enter")
        stage.confirm()
        stage.remoteBefore(stage.hand().rewording(1, "Bob's"))
        #expect(stage.lines.contains { $0.contains("Bob overwrote 'bX' with 'Bob's'") })
        stage.press("R")
        #expect(stage.hand()[1].content.text == "bX")
    }

    /// An undo leaves the words that somebody has put in place of one's own, and says so.
    @Test func wordsLeftByAnUndoAreReported() {
        var stage = KeyTests.stage("a >b c")
        stage.press("e ' mine' enter")
        stage.confirm()
        stage.remote(stage.hand().rewording(1, "b theirs"))
        stage.press("u")
        #expect(stage.hand()[1].content.text == "b theirs")
        let words = "undone: nothing is left of that edit; 'theirs' stays"
        #expect(stage.lines.contains { $0.hasPrefix(words) }, "\(stage.lines)")
    }

    /// Somebody deletes the list while one types: the typed text is still there when the list is restored.
    @Test(arguments: ["o 'new'", "e 'new'"]) func typedTextInADeletedListStays(_ keys: String) {
        var stage = KeyTests.stage("a >b c")
        stage.press(keys)
        stage.send(.list("things", .refused(.listDeleted, "the list 'things' was deleted")))
        let before = stage.commands.count
        stage.press("enter")
        #expect(!stage.commands.dropFirst(before).contains { if case .edit = $0 { true } else { false } })
        for text in ["new", "the list 'things' was deleted"] {
            #expect(stage.lines.contains { $0.contains(text) }, "\(stage.lines)")
        }
        if let replica = stage.replicas["things"] { stage.tell("things", replica) }
        stage.press("enter")
        #expect(stage.hand().contains { $0.content.text.hasSuffix("new") })
    }

    /// A commit may arrive before its author's name.
    @Test func aNoticeLearnsItsAuthorsName() {
        var stage = KeyTests.stage("a >b c")
        stage.press("e 'X' enter")
        stage.confirm()
        stage.remoteBefore(stage.hand().rewording(1, "Bob's"))
        #expect(stage.lines.contains { $0.contains("somebody overwrote 'bX' with 'Bob's'") })
        stage.presence("Bob", on: nil)
        #expect(stage.lines.contains { $0.contains("Bob overwrote 'bX' with 'Bob's'") })
        stage.press("!")
        #expect(stage.lines.contains { $0.contains("Bob overwrote 'bX' with 'Bob's'") })
    }

    @Test func aDeletedItemUnderAnEditCanBeRestored() {
        var stage = KeyTests.stage("a >b c")
        stage.presence("Bob", on: nil)
        stage.press("e 'X' enter")
        stage.remote(.deleting(1..<2))
        #expect(stage.lines.contains { $0.contains("Bob deleted '[ ] bX', whose text you had changed") })
        stage.press("R")
        #expect(stage.hand().map(\.content.text) == ["a", "bX", "c"])
    }

    /// What was said of an edit is not true once the edit is refused; and what one has got back is rejected no more.
    @Test func aRefusalTakesTheWordsOfTheEditAway() {
        var stage = KeyTests.stage("a >b")
        stage.press("d")
        stage.confirm()
        stage.press("u")
        #expect(stage.lines.contains { $0.contains("undone: ") })
        stage.reject(.notStored)
        #expect(stage.lines.allSatisfy { !$0.contains("undone: ") })
        #expect(stage.lines.contains { $0.contains("rejected: ") })
        stage.press("R")
        stage.confirm()
        #expect(stage.lines.last?.contains("rejected") == false, "\(stage.lines)")
    }

    @Test func aRejectedEditCanBeRestored() {
        var stage = KeyTests.stage("a >b")
        stage.press("o 'x' enter esc")
        stage.reject(.notStored)
        #expect(stage.hand().count == 2)
        #expect(stage.lines.last?.contains("rejected 1") == true)
        stage.press("!")
        #expect(stage.lines.contains { $0.contains("rejected: your new '[ ] x': the server") })
        stage.press("R esc")
        #expect(stage.hand().map(\.content.text) == ["a", "b", "x"])
        #expect(stage.lines.last?.contains("rejected") == false)
    }
}
