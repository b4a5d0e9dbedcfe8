import HandCore
import HandScreens
import HandSync
import HandWire
import Testing

/// People who edit an item: others see it, and one's own client reports it.
@Suite struct EditorsTests {
    private static func id(_ number: UInt64) -> ItemID { ItemID(rawValue: number << 32) }

    // MARK: Seeing others

    @Test(arguments: [false, true]) func editorsOfAnItemAreMarked(hasColors: Bool) {
        let hand = Notation.hand(">a b").hand
        var stage = Stage(["things": hand], hasColors: hasColors)
        stage.presence("Bob", on: Self.id(2), isEditing: true)
        #expect(stage.lines[2].hasSuffix(" ✎ Bob") && !stage.lines[1].contains("✎"))
        stage.presence("Bob", on: Self.id(2))
        #expect(stage.lines[2].hasSuffix(" ◂Bob"))
        stage.presence("Bob", on: Self.id(1), isEditing: true)
        #expect(stage.lines[1].hasSuffix(" ✎ Bob") && !stage.lines[2].contains("Bob"))
        stage.goOffline()
        #expect(!stage.lines.contains { $0.contains("✎") })
    }

    /// Of several people, those who edit come first; people without room are counted, and whether somebody edits is
    /// shown.
    @Test(arguments: [
        (80, "✎ Zoe ◂Bob ◂Cleo"), (30, "✎ Zoe ◂Bob +1"), (24, "✎ Zoe +2"), (18, "✎+3"), (12, "✎+3"),
    ]) func severalPeopleFit(columns: Int, _ expected: String) {
        var stage = Stage(["things": Notation.hand(">a b").hand], columns: columns)
        stage.presence("Bob", on: Self.id(2), author: 2)
        stage.presence("Cleo", on: Self.id(2), author: 3)
        stage.presence("Zoe", on: Self.id(2), isEditing: true, author: 9)
        #expect(stage.lines[2].hasSuffix(" " + expected), "\(stage.lines[2])")
    }

    /// The mark of an editor moves with its item.
    @Test func theMarkMovesWithTheItem() {
        var stage = KeyTests.stage(">a b c")
        stage.presence("Bob", on: Self.id(2), isEditing: true)
        stage.remote(.moving(1..<2, to: 3, .after), by: 3)
        #expect(stage.lines[3].contains("b") && stage.lines[3].hasSuffix("✎ Bob"))
        stage.remote(.deleting(2..<3), by: 3)
        #expect(!stage.lines.contains { $0.contains("✎") })
    }

    @Test func namesAreMadePrintable() {
        var stage = KeyTests.stage(">a b")
        stage.presence("E\u{1B}[31mve\u{202E}", on: Self.id(2), isEditing: true)
        #expect(stage.lines[2].hasSuffix("✎ E�[31mve�"))
    }

    @Test func thePeopleScreenShowsWhoEdits() {
        var stage = KeyTests.stage(">a b")
        stage.presence("Bob", on: Self.id(2), isEditing: true)
        stage.presence("Cleo", on: Self.id(1), author: 3)
        stage.press("w")
        #expect(stage.lines.contains { $0.contains("Bob  ✎ edits 2: [ ] b") })
        #expect(stage.lines.contains { $0.contains("Cleo  on 1: [ ] a") })
        stage.presence("Bob", on: Self.id(2))
        #expect(stage.lines.contains { $0.contains("Bob  on 2: [ ] b") })
    }

    @Test func theItemScreenShowsWhoEdits() {
        var stage = Stage(
            ["things": Notation.hand("a b").hand], opening: .item(list: "things", id: Self.id(2).description))
        stage.presence("Bob", on: Self.id(2))
        stage.presence("Zoe", on: Self.id(2), isEditing: true, author: 9)
        #expect(stage.lines.contains { $0.contains("also here: ✎ Zoe, Bob") })
    }

    // MARK: Reporting to others

    /// Returns a stage that has sent its place, and nothing for some time.
    private static func calm(_ text: String, opening route: Route = .list("things")) -> Stage {
        let start = Notation.hand(text)
        var stage = Stage(["things": start.hand], opening: route)
        for _ in 0..<start.cursor { stage.press("j") }
        for _ in 0..<2 { stage.wait(1_000) }
        return stage
    }

    private static func told(_ stage: Stage, since before: Int) -> [Command] {
        stage.commands.dropFirst(before).filter { if case .presence = $0 { true } else { false } }
    }

    private static func on(_ number: UInt64, isEditing: Bool = false, _ list: String = "things") -> Command {
        .presence(list: list, Focus(id(number), isEditing: isEditing))
    }

    /// However an editor is left, others are notified once that it is open and once that it is closed, and of nothing
    /// in between.
    @Test(arguments: ["enter", "'x' enter", "esc", "ctrl-c"], [Route.list("things"), .item(list: "things", id: "4")])
    func editingIsReportedOnce(ending: String, _ route: Route) {
        let id = Self.id(2).description
        var stage = Self.calm("a >@b c", opening: route == .list("things") ? route : .item(list: "things", id: id))
        for key in ["e", "E"] {
            var before = stage.commands.count
            stage.press(key)
            #expect(Self.told(stage, since: before) == [Self.on(2, isEditing: true)])
            for _ in 0..<20 {
                stage.press("'y' left alt-enter backspace")
                stage.wait(60)
            }
            #expect(Self.told(stage, since: before) == [Self.on(2, isEditing: true)])
            before = stage.commands.count
            stage.press(ending)
            stage.wait(100)
            #expect(Self.told(stage, since: before) == [Self.on(2)])
            stage.wait(1_000)
        }
    }

    /// Opening and leaving editors quickly is reported no more often than other moves.
    @Test func editorsAreReportedAtThePaceOfPresence() {
        var stage = Self.calm(">a b")
        let before = stage.commands.count
        for _ in 0..<10 {
            stage.press("e esc")
            stage.wait(20)
        }
        stage.wait(100)
        let told = Self.told(stage, since: before)
        #expect(told.count <= 4 && told.first == Self.on(1, isEditing: true) && told.last == Self.on(1))
    }

    /// A new item belongs to nobody yet.
    @Test func addingAnItemIsNotEditing() {
        var stage = Self.calm("a >b")
        let before = stage.commands.count
        stage.press("o 'new'")
        stage.wait(200)
        #expect(
            Self.told(stage, since: before).allSatisfy {
                if case .presence(_, let focus?) = $0 { !focus.isEditing } else { true }
            })
    }

    /// The item that is being edited is deleted or moved; or the list is renamed.
    @Test func changesOfTheEditedItemAreReported() {
        var stage = Self.calm("a >b c")
        stage.press("e 'x'")
        stage.wait(200)
        var before = stage.commands.count
        stage.remote(.moving(1..<2, to: 0, .after))
        stage.wait(200)
        #expect(Self.told(stage, since: before).isEmpty)
        stage.send(.list("things", .renamed(to: "stuff")))
        #expect(
            Self.told(stage, since: before) == [.presence(list: "things", nil), Self.on(2, isEditing: true, "stuff")])
        before = stage.commands.count
        stage = Self.calm("a >b c")
        stage.press("e 'x'")
        stage.wait(200)
        before = stage.commands.count
        stage.remote(.deleting(1..<2))
        stage.wait(200)
        let told = Self.told(stage, since: before)
        #expect(told.count == 1)
        #expect(!told.contains { if case .presence(_, let focus?) = $0 { focus.isEditing } else { false } })
    }
}
