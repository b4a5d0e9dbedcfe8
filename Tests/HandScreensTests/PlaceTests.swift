import HandCore
import HandScreens
import HandWire
import Testing

/// The cursor keeps its place: among the lists, in a filtered list, in the history.
@Suite struct PlaceTests {
    private static func entries(_ names: [String]) -> Event {
        .lists(names.map { DownMessage.ListEntry(name: $0, count: 3, revision: 5, rules: Rules()) })
    }

    private static func lists(_ names: [String], opening route: Route = .lists) -> Stage {
        var stage = Stage(opening: route)
        stage.send(entries(names))
        return stage
    }

    private static func cursor(_ stage: Stage) -> String? {
        stage.lines.first { $0.hasPrefix("▸") }?.split(separator: " ").dropFirst().first.map(String.init)
    }

    /// As long as they are on the screen and the server answers.
    @Test func theListsAreRefreshed() {
        var stage = Self.lists(["a"])
        func requests(in seconds: UInt64) -> Int {
            let before = stage.commands.count
            for _ in 0..<seconds { stage.wait(1_000) }
            return stage.commands.dropFirst(before).count { $0 == .fetchLists }
        }
        #expect(requests(in: 10) == 2)
        stage.press("enter")
        #expect(requests(in: 10) == 0)
        stage.press("esc")
        #expect(requests(in: 10) == 2)
        stage.goOffline()
        #expect(requests(in: 10) == 0)
    }

    @Test func leavingAListReturnsToIt() {
        var stage = Self.lists(["a", "b", "c"], opening: .list("b"))
        stage.press("q")
        #expect(stage.top == .lists && Self.cursor(stage) == "b")
    }

    /// Opened before the server has reported its lists.
    @Test func leavingADirectlyOpenedListReturnsToIt() {
        var stage = Stage(opening: .list("b"))
        stage.press("q")
        stage.send(Self.entries(["a", "b", "c"]))
        #expect(Self.cursor(stage) == "b")
    }

    @Test func leavingANewListReturnsToIt() {
        var stage = Self.lists(["a", "c"])
        stage.press("a 'b' enter")
        stage.send(.done(.create(list: "b", Rules())))
        #expect(stage.top == .list("b"))
        stage.press("q")
        stage.send(Self.entries(["a", "b", "c"]))
        #expect(Self.cursor(stage) == "b")
        stage.press("D 'b' enter")
        #expect(stage.commands.contains(.deleteList("b")))
        #expect(!stage.commands.contains(.deleteList("a")))
    }

    @Test func othersListsDoNotMoveTheCursor() {
        var stage = Self.lists(["b", "c"])
        stage.press("j")
        stage.send(Self.entries(["a", "b", "c", "d"]))
        #expect(Self.cursor(stage) == "c")
        stage.send(Self.entries(["c"]))
        #expect(Self.cursor(stage) == "c")
    }

    @Test func afterADeletionTheNextListIsUnderTheCursor() {
        var stage = Self.lists(["a", "b", "c"])
        stage.press("j D 'b' enter")
        stage.send(.done(.deleteList("b")))
        stage.send(Self.entries(["a", "c"]))
        #expect(Self.cursor(stage) == "c")
        stage.send(Self.entries(["a", "b", "c"]))
        #expect(Self.cursor(stage) == "c")
    }

    @Test func theMouseAlsoChoosesAList() {
        var stage = Self.lists(["b", "c"])
        stage.mouse(.press, row: 2)
        stage.send(Self.entries(["a", "b", "c"]))
        #expect(Self.cursor(stage) == "c")
    }

    // MARK: Filter

    /// A long list is searched in parts; the cursor stays on its item all the time.
    @Test func aLongSearchKeepsTheCursor() {
        let items = (0..<50_000).map { Item(id: ItemID(rawValue: UInt64($0) + 1), content: .note("item \($0)")) }
        var stage = Stage(["things": Hand(items)])
        stage.press("4 0 0 0 0 G / '9' enter")
        #expect(stage.lines.contains { $0.hasPrefix("▸") && $0.hasSuffix("item 39999") })
    }

    @Test func othersEditsKeepTheCursorInAFilter() {
        var stage = KeyTests.stage("b1 c >b2 d b3")
        stage.press("/ 'b' enter")
        stage.remote(.deleting(0..<1))
        #expect(Notation.text(stage) == "c >b2 d b3")
        stage.remote(.moving(0..<1, to: 4, .before))
        #expect(Notation.text(stage) == ">b2 d b3 c")
    }

    // MARK: History

    private static func commit(_ revision: Int, by author: AuthorID) -> Commit {
        Commit(
            revision: revision, author: author, sequence: 1, base: revision - 1, time: 0, count: 3, digest: 0,
            delta: Delta.editing(at: 0, Change(done: true)))
    }

    private static let names: [AuthorID: String] = [Stage.me: "ada", Stage.bob: "Bob"]

    /// The cursor stays on the same one of one's own commits while others commit, and while one commits oneself.
    @Test(arguments: ["tab", "tab tab", ""])
    func theHistoryStaysOnItsCommit(_ keys: String) {
        var stage = Stage(["things": Notation.hand("a b").hand], opening: .history("things"))
        stage.send(
            .history(
                list: "things", (1...10).map { Self.commit($0, by: $0.isMultiple(of: 2) ? Stage.bob : Stage.me) },
                people: Self.names))
        stage.press(keys)
        stage.press("3 j")
        let before = Self.cursor(stage)
        stage.send(.history(list: "things", [Self.commit(11, by: Stage.bob)], people: Self.names))
        #expect(Self.cursor(stage) == before)
        stage.send(.history(list: "things", [Self.commit(12, by: Stage.me)], people: Self.names))
        #expect(Self.cursor(stage) == before)
    }

    /// Older commits are requested as the cursor approaches the last loaded one, by key and by wheel.
    @Test(arguments: [false, true])
    func olderCommitsAreLoadedInTime(_ byWheel: Bool) {
        var stage = Stage(["things": Notation.hand("a b").hand], opening: .history("things"))
        stage.send(.history(list: "things", (301...500).map { Self.commit($0, by: 1) }, people: Self.names))
        let asked = stage.commands.count
        if byWheel { for _ in 0..<60 { stage.mouse(.wheelDown, row: 3) } } else { stage.press("G") }
        #expect(stage.commands.dropFirst(asked) == [.fetchHistory(list: "things", from: 101, limit: 200)])
    }

    /// Of a short list, the history says which items a commit touched; the list before the first one is requested once.
    @Test func theHistoryNamesItems() throws {
        let before = Notation.hand("a b c").hand
        let note = Item(id: ItemID(rawValue: 77), content: .heading("Soon"))
        let deltas: [Delta] = [
            .deleting(0..<1), .editing(at: 0, Change(done: true)), .inserting([note], at: 0, .after),
            .moving(0..<1, to: 3, .after), .deleting(0..<2),
        ]
        var after = before
        var commits: [Commit] = []
        for (index, delta) in deltas.enumerated() {
            after = try after.applying(delta)
            var commit = Self.commit(index + 4, by: Stage.bob)
            commit = Commit(
                revision: commit.revision, author: commit.author, sequence: 1, base: commit.base, time: 0, count: 3,
                digest: 0, delta: delta)
            commits.append(commit)
        }
        var stage = Stage(["things": after], opening: .history("things"))
        stage.send(.history(list: "things", Array(commits.dropLast()), people: Self.names))
        #expect(stage.commands.contains(.fetchState(list: "things", revision: 3)))
        #expect(stage.lines.contains { $0.hasSuffix("Bob  1 deleted") })
        stage.send(.state(list: "things", revision: 3, before))
        for words in ["- a", "[x] b", "+ ## Soon", "> ## Soon"] {
            #expect(stage.lines.contains { $0.hasSuffix("Bob  \(words)") }, "\(words): \(stage.lines)")
        }
        // The next one follows from what is known.
        stage.send(.history(list: "things", Array(commits.suffix(1)), people: Self.names))
        #expect(stage.lines.contains { $0.hasSuffix("Bob  - b  and 1 more") })
        #expect(stage.commands.filter { if case .fetchState = $0 { true } else { false } }.count == 1)
    }

    /// An old revision is drawn as the list was, levels included: one decides by it whether to restore it.
    @Test func anOldRevisionHasLevels() {
        let items = [0, 1, 2].map { (level: UInt8) in
            Item(id: ItemID(rawValue: UInt64(level) + 1), level: level, content: .note("level \(level)"))
        }
        var stage = Stage(["things": Hand(items)], opening: .revision(list: "things", 4))
        stage.send(.state(list: "things", revision: 4, Hand(items)))
        let rows = [0, 1, 2].map { level in stage.lines.first { $0.hasSuffix("level \(level)") }?.count ?? 0 }
        #expect(rows[0] > 0 && rows == [rows[0], rows[0] + 2, rows[0] + 4], "\(stage.lines)")
    }
}
