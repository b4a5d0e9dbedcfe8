import HandCore
import HandScreens
import HandSync
import Testing

/// What the history says of commits.
@Suite struct HistoryTests {
    /// Where the server has forgotten commits, nothing more is asked for.
    @Test func theHistoryEndsWhereItIsForgotten() {
        let before = Notation.hand("a").hand
        var stage = Stage(["things": before], opening: .history("things"))
        func asked() -> [Command] { stage.commands.filter { if case .fetchHistory = $0 { true } else { false } } }
        func commit(_ revision: Int) -> Commit {
            Commit(
                revision: revision, author: Stage.bob, sequence: 1, base: revision - 1, time: 0, count: 1, digest: 0,
                delta: .editing(at: 0, Change(done: revision.isMultiple(of: 2))))
        }
        #expect(asked() == [.fetchHistory(list: "things", from: 1, limit: 5)])
        stage.send(.history(list: "things", [commit(4), commit(5)], people: [Stage.bob: "Bob"]))
        #expect(asked().dropFirst() == [.fetchHistory(list: "things", from: 1, limit: 3)])
        stage.send(.history(list: "things", [], people: [:]))
        stage.press("j")
        #expect(asked().count == 2 && stage.lines[0].contains("older ones are not kept"), "\(stage.lines)")
        // Another screen's commits are not taken for the next ones.
        stage.send(.history(list: "things", [commit(1)], people: [:]))
        #expect(!stage.lines.contains { $0.contains(" 1  ") && $0.contains("Bob") })
        stage.remote(.editing(at: 0, Change(done: true)))
        #expect(asked().last == .fetchHistory(list: "things", from: 6, limit: 1))
    }

    /// If nothing at all is kept, that is so, too.
    @Test func aHistoryOfNothingIsAskedForOnce() {
        var stage = Stage(["things": Notation.hand("a").hand], opening: .history("things"))
        stage.send(.history(list: "things", [], people: [:]))
        #expect(stage.commands.count { if case .fetchHistory = $0 { true } else { false } } == 1)
    }

    /// A long text does not hide how many items a commit touched.
    @Test func aLongFirstTextIsCutBeforeTheNumberOfOthers() {
        let long = String(repeating: "many words ", count: 30)
        let items: [Item] = (0..<11).map { index in
            Item(id: ItemID(rawValue: 100 + index), content: .task(index == 0 ? long : "b", done: false))
        }
        let before = Notation.hand("a").hand
        var stage = Stage(["things": before], opening: .history("things"), columns: 120)
        func commit(_ revision: Int, _ items: [Item], at index: Int) -> Commit {
            Commit(
                revision: revision, author: Stage.bob, sequence: 1, base: revision - 1, time: 1_795_000_000_000,
                count: 12, digest: 0, delta: Delta.inserting(items, at: index, .after))
        }
        let single = Item(id: ItemID(rawValue: 9), content: .task("c", done: false))
        let commits = [commit(4, items, at: 1), commit(5, [single], at: 0)]
        stage.send(.history(list: "things", commits, people: [Stage.bob: "Bob"]))
        stage.send(.state(list: "things", revision: 3, before))
        let first = stage.lines.first { $0.contains("+ many words many") } ?? "\(stage.lines)"
        #expect(first.contains("…  and 10 more"), "\(first)")
        // A single item needs no number.
        #expect(stage.lines.contains { $0.contains("+ c") && !$0.contains("more") }, "\(stage.lines)")
    }
}
