import HandCore
import HandScreens
import HandSync
import Testing

/// A list that the server does not have any more, while its screen is open.
@Suite struct MissingListTests {
    private static func searches(_ stage: Stage, since before: Int) -> Int {
        stage.commands.dropFirst(before).count { $0 == .follow("things") }
    }

    /// The list is looked for every five seconds, until it is there again.
    @Test(arguments: [
        ListEvent.refused(.listDeleted, "deleted"), .refused(.noSuchList, "none"), .editsWait("edits wait"),
        .refused(.notAllowed, "you may not read 'things' any longer"),
    ]) func aMissingListIsLookedFor(end: ListEvent) throws {
        var stage = KeyTests.stage("a >b c")
        stage.send(.list("things", end))
        let before = stage.commands.count
        #expect(stage.app.deadline.map { $0 <= stage.now + 5_000 } == true)
        stage.wait(4_999)
        #expect(Self.searches(stage, since: before) == 0)
        for search in 1...3 {
            stage.wait(search == 1 ? 1 : 5_000)
            #expect(Self.searches(stage, since: before) == search)
            stage.send(.list("things", .refused(.noSuchList, "there is no list 'things'")))
        }
        stage.tell("things", try #require(stage.replicas["things"]))
        stage.wait(60_000)
        #expect(Self.searches(stage, since: before) == 3)
    }

    /// Of many other lists, some are named, and the rest are counted.
    @Test(arguments: [20, 21, 30]) func otherListsAreNamed(count: Int) {
        var stage = Stage([:], opening: .list("things"))
        let names = (0..<count).map { "list\($0)" }
        stage.send(.lists(names.map { .init(name: $0, count: 1, revision: 1, rules: Rules()) }))
        stage.send(.list("things", .refused(.noSuchList, "there is no list 'things'")))
        let screen = stage.lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(screen.contains("list18, list19\(count > 20 ? " and \(count - 20) more" : "")."), "\(screen)")
    }

    /// Edits that wait for a list that is gone are counted, and the connection's page says what can be done about them.
    @Test func whatWaitsForAMissingListIsTold() {
        var stage = KeyTests.stage("a >b c")
        stage.press("d")
        stage.send(.list("things", .editsWait("there is no list 'things'; you have pending edits for it")))
        #expect(stage.lines.last?.contains("not on the server, 1 not sent") == true, "\(stage.lines)")
        stage.press("C")
        let page = stage.lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(page.contains("'hand sync -l things' sends them when it can"), "\(page)")
    }

    /// A list that was never shown is not looked for.
    @Test func aListThatWasNeverThereIsNotLookedFor() {
        var stage = Stage([:])
        stage.send(.list("things", .refused(.noSuchList, "there is no list 'things'")))
        let before = stage.commands.count
        stage.wait(60_000)
        #expect(Self.searches(stage, since: before) == 0)
    }

    /// No edit of a missing list is made on any of its screens, and nothing that assumes the edit.
    @Test(arguments: ["", "enter"], ["d", "space", "J", "u", "ctrl-r"])
    func aMissingListIsNotEdited(_ way: String, _ key: String) {
        var stage = KeyTests.stage("a >b c")
        stage.press(way)
        stage.send(.list("things", .refused(.listDeleted, "the list 'things' was deleted")))
        stage.wait(60_000)
        let (before, top) = (stage.commands.count, stage.top)
        stage.press(key)
        let isEdited = stage.commands.dropFirst(before).contains { command in
            switch command {
            case .edit, .undo, .redo: true
            default: false
            }
        }
        #expect(!isEdited && stage.top == top)
        #expect(
            way == "enter" && key == "J" || stage.lines.contains { $0.contains("the list 'things' was deleted") },
            "\(stage.lines)")
    }

    /// A lost edit that cannot be got back now is not forgotten.
    @Test func aLostEditIsNotForgotten() throws {
        var stage = KeyTests.stage("a >b c")
        stage.press("e 'X' enter")
        stage.reject(.notStored)
        stage.send(.list("things", .refused(.listDeleted, "the list 'things' was deleted")))
        stage.press("R")
        #expect(!stage.commands.contains { if case .retrieve = $0 { true } else { false } })
        stage.tell("things", try #require(stage.replicas["things"]))
        stage.press("R")
        #expect(stage.hand().map(\.content.text) == ["a", "bX", "c"], "\(stage.lines)")
    }

    /// What is refused when it is got back can be got back later.
    @Test func aLostEditThatIsRefusedAgainStays() {
        var stage = KeyTests.stage("a >b c")
        stage.press("e 'X' enter")
        stage.reject(.notStored)
        stage.editProblem = "the list is full"
        for _ in 1...2 {
            stage.press("R")
            #expect(stage.lines.contains { $0.contains("the list is full") }, "\(stage.lines)")
        }
        stage.press("!")
        #expect(stage.lines.contains { $0.contains("can be got back") }, "\(stage.lines)")
        stage.press("esc")
        stage.editProblem = nil
        stage.press("R")
        #expect(stage.hand().map(\.content.text) == ["a", "bX", "c"], "\(stage.lines)")
        stage.press("!")
        #expect(!stage.lines.contains { $0.contains("can be got back") }, "\(stage.lines)")
    }

    /// A list that comes back with other items is followed, whatever stands on its screen.
    @Test(arguments: ["/ 'b' enter", "G", "v G", "e 'X'"]) func aListComesBackChanged(_ keys: String) {
        var stage = KeyTests.stage("a b >c b")
        stage.press(keys)
        stage.send(.list("things", .refused(.listDeleted, "the list 'things' was deleted")))
        let items = Notation.hand("b").hand
        stage.tell("things", Replica(confirmed: items, revision: 9, logID: 9, sequence: 0))
        #expect(stage.lines.contains { $0.contains("[ ] b") }, "\(stage.lines)")
        stage.press("esc G d u")
    }
}
