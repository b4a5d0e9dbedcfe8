import HandCore
import HandFormats
import HandScreens
import HandTestSupport
import HandWire
import Testing

/// Keeping a list in order: sorting, unticking, items that go to other lists.
@Suite struct OrderKeysTests {
    /// A list before, the keys, and the list after, in `Notation`.
    static let rows: [(String, String, String)] = [
        ("c >b a", "= t", "a >b c"), ("+a b >+c d", "= d", "b d +a >+c"), ("c b a", "= esc", ">c b a"),
        ("c b a", "= x", ">c b a"), ("c due:2026-12-01 due:2025-12-01", "= u", "due:2025-12-01 due:2026-12-01 >c"),
        // Only the selection, and only between headings.
        ("d >c b a", "v j = t", "d >b c a".replacing(">", with: "")), ("c b #x b a", "= t", "b >c #x a b"),
        // One key undoes it.
        ("c b a", "= t u", ">c b a"), ("c b a", "= t u U", "a b >c"),
        ("+a b +c", "X", ">a b c"), ("+a b +c", "X u", ">+a b +c"),
        ("+a b +c", "v j X", ">a b +c".replacing(">", with: "")),
        ("a b", "X", ">a b"), ("+ab +b +c", "/ 'b' enter X esc", ">ab b +c"),
    ]

    private static func text(_ stage: Stage) -> String { Notation.text(stage).filter { $0 != "*" } }

    @Test(arguments: rows)
    func keysDo(before: String, keys: String, after: String) {
        var stage = KeyTests.stage(before)
        stage.press(keys)
        let text = after.contains(">") ? Self.text(stage) : Self.text(stage).filter { $0 != ">" }
        #expect(text == after, "\(before): \(keys)")
    }

    @Test func whatIsDoneIsSaid() {
        var stage = KeyTests.stage("c b a")
        stage.press("= t")
        #expect(stage.lines[10].contains("the list sorted, by text; u undoes"), "\(stage.lines[10])")
        stage.press("= t")
        #expect(stage.lines[10].contains("the list is in this order already: by text"), "\(stage.lines[10])")
        stage.press("X")
        #expect(stage.lines[10].contains("nothing is ticked"), "\(stage.lines[10])")
    }

    // MARK: The newest first

    @Test func theNewestComeFirst() {
        var stage = KeyTests.stage("a b c")
        let ids = stage.hand().map(\.id)
        stage.arrivals = [ids[0]: 3, ids[1]: 9, ids[2]: 0]
        stage.press("G o 'mine' enter esc = n")
        #expect(Notation.text(stage) == ">mine b a c")
    }

    /// What was selected is sorted, whatever has moved or been selected while the history was read.
    @Test func theSelectionWaitsForTheHistory() {
        var stage = KeyTests.stage("a b >c d e")
        let ids = stage.hand().map(\.id)
        stage.press("v j = n esc")
        stage.remote(.inserting([Item(id: ItemID(rawValue: 99), content: .note("first"))]))
        stage.send(.arrivals(list: "things", [ids[2]: 1, ids[3]: 2]))
        #expect(Notation.text(stage).filter { $0 != ">" } == "!first a b d c e")
        stage.press("u")
        stage.send(.arrivals(list: "things", [ids[2]: 1, ids[3]: 2]))
        #expect(Notation.text(stage).filter { $0 != ">" } == "!first a b c d e", "nothing waits any more")
        stage.press("j j j v j = n")
        stage.remote(.deleting(0..<stage.hand().count))
        stage.send(.arrivals(list: "things", [:]))
        #expect(stage.lines[10].contains("the items to sort have moved"), "\(stage.lines[10])")
    }

    @Test func withoutTheServerThereIsNoHistory() {
        var stage = KeyTests.stage("a b c")
        stage.press("= n")
        #expect(stage.commands.last == .fetchArrivals(list: "things"))
        stage.send(.failed(.fetchArrivals(list: "things"), "the server cannot be reached"))
        stage.send(.arrivals(list: "things", [:]))
        #expect(stage.lines[10].contains("the server cannot be reached"))
        #expect(Notation.text(stage) == ">a b c")
    }

    // MARK: Other lists

    private static func two(_ before: String, _ other: String = "x", rules: Rules = Rules()) -> Stage {
        var stage = Stage(
            ["things": Notation.hand(before).hand, "work": Notation.hand(other, rules: rules).hand], rows: 12)
        stage.send(
            .lists(
                ["things", "trip", "work"].map {
                    DownMessage.ListEntry(name: $0, count: 1, revision: 5, rules: Rules())
                }))
        return stage
    }

    private static func texts(_ stage: Stage, _ list: String) -> [String] { stage.hand(list).map(\.content.text) }

    /// The originals go when the server has the copies, and not before.
    @Test func itemsMoveOnceTheCopiesAreCommitted() {
        var stage = Self.two("a b c")
        stage.press("v j m 'wo' tab enter")
        #expect(Self.texts(stage, "work") == ["x", "a", "b"] && Self.texts(stage, "things") == ["a", "b", "c"])
        stage.wait(100)
        #expect(Self.texts(stage, "things") == ["a", "b", "c"], "the copies are not committed")
        stage.confirm("work")
        #expect(Self.texts(stage, "things") == ["c"])
        #expect(stage.lines[10].contains("2 items moved to 'work'"), "\(stage.lines[10])")
        stage.confirm()
        #expect(Set(stage.hand("work").map(\.id)).count == 3)
    }

    /// What somebody changes while the copies are on their way is only in the original.
    @Test func whatIsChangedMeanwhileStays() {
        var stage = Self.two("a b c")
        stage.press("v j m 'work' enter")
        stage.wait(100)
        stage.remote(.editing(at: 1, Change(text: "b", to: "better")))
        stage.confirm("work")
        #expect(Self.texts(stage, "work") == ["x", "a", "b"] && Self.texts(stage, "things") == ["better", "c"])
        #expect(stage.lines[10].contains("1 item changed meanwhile and stayed in 'things'"), "\(stage.lines[10])")
    }

    /// What the question names is what is sent: nothing that has come into its place.
    @Test func whatIsDeletedMeanwhileIsNotSent() {
        var stage = Self.two("a b c")
        stage.press("j m 'work'")
        stage.remote(.deleting([1..<2]))
        stage.press("enter")
        stage.wait(100)
        #expect(Self.texts(stage, "work") == ["x"] && Self.texts(stage, "things") == ["a", "c"])
        #expect(stage.lines[10].contains("somebody deleted the items"), "\(stage.lines[10])")
        var several = Self.two("a b c")
        several.press("v j m 'work'")
        several.remote(.deleting([1..<2]))
        several.press("enter")
        several.wait(100)
        #expect(Self.texts(several, "work") == ["x", "a"])
    }

    /// The row that is pressed is the one that is dragged, or ticked.
    @Test func aPressedRowThatIsDeletedMovesNoOther() {
        for release in [1, 3] {
            var stage = KeyTests.stage("a >b c d")
            stage.mouse(.press, row: 2)
            stage.mouse(.drag, row: 3)
            stage.remote(.deleting([1..<2]))
            stage.mouse(.release, row: release)
            #expect(stage.hand().map(\.content.text) == ["a", "c", "d"], "\(release)")
        }
        var ticking = KeyTests.stage("a >b c")
        ticking.mouse(.press, row: 2)
        ticking.remote(.deleting([1..<2]))
        ticking.mouse(.release, row: 2)
        #expect(ticking.hand().map(\.content.text) == ["a", "c"])
        #expect(ticking.lines.contains { $0.contains("somebody deleted the item") }, "\(ticking.lines)")
        // Others' edits above it change nothing.
        var moved = KeyTests.stage("a >b c d")
        moved.mouse(.press, row: 2)
        moved.mouse(.drag, row: 4)
        moved.remote(.deleting([0..<1]))
        moved.mouse(.release, row: 3)
        #expect(moved.hand().map(\.content.text) == ["c", "d", "b"])
    }

    @Test func itemsAreCopiedToAnotherList() {
        var stage = Self.two("a b")
        stage.edit(.changing([1..<2], Change(level: 1)))
        stage.confirm()
        stage.press("M 'w' enter")
        stage.confirm("work")
        #expect(Self.texts(stage, "work") == ["x", "a", "b"] && Self.texts(stage, "things") == ["a", "b"])
        #expect(stage.hand("work").map(\.level) == [0, 0, 1])
        #expect(stage.lines[10].contains("2 items copied to 'work'"), "\(stage.lines[10])")
        // A sub-item alone comes to level 0.
        stage.press("j m 'work' enter")
        stage.confirm("work")
        #expect(stage.hand("work").map(\.level) == [0, 0, 1, 0] && Self.texts(stage, "things") == ["a"])
    }

    static let sending: [(String, things: [String], work: [String])] = [
        ("m 'work' enter", [], ["x", "a"]), ("M 'work' enter", ["a"], ["x", "a"]), ("m 'work' esc", ["a"], ["x"]),
    ]

    @Test(arguments: sending)
    func keysSendItems(_ keys: String, things: [String], work: [String]) {
        var stage = Self.two("a")
        stage.press(keys)
        stage.confirm("work")
        #expect(Self.texts(stage, "things") == things && Self.texts(stage, "work") == work)
    }

    /// On a small terminal, too, one sees what goes where, and has room for the answer.
    @Test func theQuestionFitsASmallTerminal() {
        let long = String(repeating: "many-words-", count: 12)
        var stage = Stage(["things": Notation.hand(long).hand], rows: 12, columns: 40)
        stage.send(
            .lists(
                ["things", "groceries", "holidays", "work"].map {
                    DownMessage.ListEntry(name: $0, count: 1, revision: 5, rules: Rules())
                }))
        stage.press("m 'work'")
        let line = stage.lines.first { $0.contains("move ") } ?? ""
        #expect(line.contains("many") && line.contains(" to (groc") && line.hasSuffix(" work"), "\(stage.lines)")
    }

    /// What the other list refuses stays here, and the message says so.
    @Test func whatTheOtherListRefusesStays() {
        var full = Self.two("a", "x", rules: Rules(maximumCount: 1))
        full.press("m 'work' enter")
        #expect(full.lines[10].contains("'[ ] a' is still in 'things', 'work' refused: "), "\(full.lines[10])")
        #expect(Self.texts(full, "things") == ["a"] && Self.texts(full, "work") == ["x"])
        var tight = Self.two("a b", "x", rules: Rules(maximumCount: 2))
        tight.press("v j m 'work' enter")
        #expect(tight.lines[10].contains("2 items do not fit"), "\(tight.lines[10])")
        var refused = Self.two("a")
        refused.press("m 'work' enter")
        refused.reject(.notStored, "work")
        #expect(refused.lines[10].contains("'[ ] a' is still in 'things', 'work' refused: "), "\(refused.lines[10])")
        #expect(Self.texts(refused, "things") == ["a"])
        // The copies cannot be got back, as the originals are there.
        #expect(refused.app.state.list("work").notices.isEmpty)
        #expect(refused.commands.contains { if case .forget("work", _) = $0 { true } else { false } })
        var unmade = Self.two("a")
        unmade.editProblem = "the disk is full"
        unmade.press("m 'work' enter")
        unmade.editProblem = nil
        #expect(unmade.lines[10].contains("the disk is full"), "\(unmade.lines[10])")
        unmade.confirm("work")
        #expect(Self.texts(unmade, "things") == ["a"])
        var gone = Self.two("a")
        gone.press("m 'trip' enter")
        gone.send(.list("trip", .refused(.noSuchList, "there is no list 'trip'")))
        #expect(gone.lines[10].contains("'trip' refused: there is no list 'trip'"), "\(gone.lines[10])")
        #expect(Self.texts(gone, "things") == ["a"])
    }

    @Test(arguments: [
        ("m 't' enter", "which one? things"), ("m 'things' enter", "the items are in 'things' already"),
        ("m 'zz' enter", "there is no list 'zz'"), ("m enter", ""), ("m esc", ""),
    ]) func wrongAnswersDoNothing(_ keys: String, _ words: String) {
        var stage = Self.two("a")
        stage.send(
            .lists(
                ["things", "trip", "tram"].map {
                    DownMessage.ListEntry(name: $0, count: 1, revision: 5, rules: Rules())
                }))
        stage.press(keys)
        let expected = words.hasPrefix("which") ? "which one? trip, tram" : words
        #expect(expected.isEmpty || stage.lines[10].contains(expected), "\(stage.lines[10])")
        #expect(stage.commands.allSatisfy { if case .edit = $0 { false } else { true } })
    }

    @Test func withoutTheServerNothingIsSentElsewhere() {
        var stage = Self.two("a")
        stage.goOffline()
        stage.press("m")
        #expect(stage.lines.contains { $0.contains("the server cannot be reached; x cuts") }, "\(stage.lines)")
        var reading = Self.two("a")
        reading.send(.granted(.init(person: "ada", everywhere: .write, lists: [])))
        reading.send(.granted(.init(person: "ada", everywhere: .none, lists: [.init(name: "things", role: .write)])))
        reading.press("m 'work' enter")
        #expect(reading.lines[10].contains("your role on 'work' is none"), "\(reading.lines[10])")
    }
}

/// Finding lists by their names.
@Suite struct ListsFilterTests {
    private static func stage(isOnline: Bool = true) -> Stage {
        var stage = Stage([:], opening: .lists, rows: 12, isOnline: isOnline)
        if isOnline {
            let names = ["garden", "groceries", "Summer trip", "work"]
            stage.send(.lists(names.map { DownMessage.ListEntry(name: $0, count: 1, revision: 5, rules: Rules()) }))
        } else {
            stage.send(.kept(["garden", "groceries"]))
            stage.goOffline()
            stage.wait(5_000)
        }
        return stage
    }

    private static func names(_ stage: Stage) -> [String] {
        stage.lines.dropFirst().dropLast(2).compactMap { line in
            ["garden", "groceries", "Summer trip", "work"].first { line.contains($0) }
        }
    }

    @Test(arguments: [
        ("/ 'g'", ["garden", "groceries"]), ("/ 'TRIP' enter", ["Summer trip"]),
        ("/ 'g' esc", ["garden", "groceries", "Summer trip", "work"]),
        ("/ 'g' enter / esc", ["garden", "groceries", "Summer trip", "work"]),
        ("/ 'gr' backspace enter", ["garden", "groceries"]), ("/ 'x'", []),
    ]) func aTextChoosesLists(_ keys: String, _ names: [String]) {
        var stage = Self.stage()
        stage.press(keys)
        #expect(Self.names(stage) == names, "\(stage.lines)")
    }

    /// The cursor stays on its list; what the screen cannot search is said.
    @Test func theCursorStays() {
        var stage = Self.stage()
        stage.press("j / 'gro' enter")
        #expect(stage.lines[0].contains("1 of 4 contain 'gro'"))
        #expect(stage.lines[10].contains("Items of all lists: hand find gro"), "\(stage.lines[10])")
        stage.press("enter")
        #expect(stage.top == .list("groceries"))
        stage.press("esc / esc")
        #expect(stage.lines.contains { $0.hasPrefix("▸") && $0.contains("groceries") }, "\(stage.lines)")
        stage.press("/ 'oat milk' enter")
        stage.wait(5_000)
        #expect(stage.lines.contains { $0.contains("No list's name contains 'oat milk'.") })
        #expect(stage.lines.contains { $0.contains("hand find 'oat milk'") }, "\(stage.lines)")
    }

    @Test func copiesAreChosenToo() {
        var stage = Self.stage(isOnline: false)
        stage.press("/ 'gar' enter")
        #expect(Self.names(stage) == ["garden"])
        #expect(stage.lines[0].contains("1 of 2 contain 'gar'"))
    }
}
