import HandCore
import HandScreens
import HandSync
import HandWire
import Testing

/// Who added and changed an item, on the item's page.
@Suite struct HistorySectionTests {
    private static let item = Item(id: ItemID(rawValue: 2), content: .task("milk", done: false))
    /// 2026-11-21 at noon, in milliseconds.
    private static let noon: UInt64 = 1_795_262_400_000
    private static let day: UInt64 = 86_400_000

    private static func stage() -> Stage {
        Stage(
            ["things": Hand([item])], opening: .item(list: "things", id: item.id.description), epoch: noon)
    }

    private static func commit(_ revision: Int, by author: AuthorID, at time: UInt64, _ delta: Delta) -> Commit {
        Commit(
            revision: revision, author: author, sequence: 1, base: revision - 1, time: time, count: 1, digest: 0,
            delta: delta)
    }

    private static func history(limit: Int = .max, _ commits: [Commit], head: Int) -> ItemHistory {
        var history = ItemHistory(of: item.id, in: "things", limit: limit)
        history.take(
            .excerpt(
                Excerpt(
                    logID: 9, revision: head, count: 1, rules: Rules(), entries: [.init(position: 0, item: item)])))
        history.take(
            .history(commits, people: [.init(author: 1, name: "ada"), .init(author: 2, name: "Bob\u{1B}[2J")]))
        return history
    }

    private static let added = commit(1, by: 1, at: noon - 3 * day, .inserting([item], at: 0, .after))
    private static let ticked = commit(2, by: 2, at: noon - 60_000, .editing(at: 0, Change(done: true)))

    private static func asked(_ stage: Stage) -> [Command] {
        stage.commands.filter { if case .fetchItemHistory = $0 { true } else { false } }
    }

    @Test func thePageSaysWhoAndWhen() {
        var stage = Self.stage()
        #expect(Self.asked(stage) == [.fetchItemHistory(list: "things", Self.item.id, limit: 1_000)])
        stage.send(.itemHistory(list: "things", Self.item.id, Self.history([Self.added, Self.ticked], head: 2)))
        #expect(stage.lines.contains(" added by ada 3 days ago, ticked by Bob\u{FFFD}[2J 11:59"), "\(stage.lines)")
        // Of another item.
        let other = ItemID(rawValue: 3)
        stage.send(.itemHistory(list: "things", other, Self.history([Self.added], head: 1)))
        #expect(stage.lines.contains { $0.contains("ticked by") })
        stage.send(.itemHistory(list: "things", Self.item.id, Self.history([Self.added], head: 1)))
        #expect(stage.lines.contains(" added by ada 3 days ago"), "\(stage.lines)")
    }

    /// Where the server has forgotten what came before, no key leads there.
    @Test func whatIsForgottenIsSaid() {
        let forgotten = "older changes are no longer kept"
        let others = Self.commit(3, by: 1, at: Self.noon, .identity)
        for (commit, line) in [
            (Self.ticked, " ticked by Bob\u{FFFD}[2J 11:59; \(forgotten)"), (others, " \(forgotten)"),
        ] {
            var stage = Self.stage()
            stage.send(.itemHistory(list: "things", Self.item.id, Self.history([commit], head: commit.revision)))
            #expect(stage.lines.contains(line), "\(stage.lines)")
            stage.press("H")
            #expect(stage.lines.contains { $0.hasSuffix(forgotten) }, "\(stage.lines)")
        }
    }

    @Test func aKeyShowsEachStep() {
        var stage = Self.stage()
        stage.send(
            .itemHistory(list: "things", Self.item.id, Self.history(limit: 1, [Self.ticked], head: 2)))
        #expect(stage.lines.contains(" ticked by Bob\u{FFFD}[2J 11:59; H reads further back"), "\(stage.lines)")
        stage.press("H")
        #expect(Self.asked(stage).last == .fetchItemHistory(list: "things", Self.item.id, limit: .max))
        let reworded = Self.commit(
            3, by: 1, at: Self.noon, .editing(at: 0, Change(text: "milk", to: "oat milk")))
        stage.send(
            .itemHistory(list: "things", Self.item.id, Self.history([Self.added, Self.ticked, reworded], head: 3)))
        let rows = stage.lines.filter { $0.contains("ada") || $0.contains("Bob") }
        #expect(
            rows == [
                " 3  12:00:00  ada  {+oat +}", " 2  11:59:00  Bob\u{FFFD}[2J  ticked",
                " 1  2026-11-18 12:00:00  ada  added",
            ], "\(rows)")
        stage.press("H")
        #expect(stage.lines.contains { $0.contains("added by ada 3 days ago, edited by ada 12:00") })
        #expect(Self.asked(stage).count == 2, "everything is known")
    }

    /// The history is asked for again once the server has another change of the item.
    @Test func theHistoryIsAskedForAgain() {
        var stage = Self.stage()
        stage.send(.itemHistory(list: "things", Self.item.id, Self.history([Self.added], head: 1)))
        stage.press("space")
        #expect(Self.asked(stage).count == 1)
        stage.confirm()
        #expect(Self.asked(stage).count == 2)
        stage.remote(.inserting([Item(id: ItemID(rawValue: 8), content: .note("n"))], at: 1, .after))
        #expect(Self.asked(stage).count == 2)
        stage.remote(.editing(at: 0, Change(done: false)))
        #expect(Self.asked(stage).count == 3)
        stage.goOffline()
        stage.press("H")
        #expect(stage.lines[22].contains("the history is on the server"), "\(stage.lines)")
        stage.send(.connection(.online))
        #expect(Self.asked(stage).count == 3, "nothing has changed meanwhile")
    }

    static let ages: [(days: UInt64, text: String)] = [
        (0, "12:00"), (1, "yesterday"), (2, "2 days ago"), (30, "30 days ago"), (31, "2026-10-21"),
    ]

    @Test(arguments: ages)
    func agesAreInWords(days: UInt64, text: String) {
        var stage = Self.stage()
        let commit = Self.commit(
            1, by: 1, at: Self.noon - days * Self.day, .inserting([Self.item], at: 0, .after))
        stage.send(.itemHistory(list: "things", Self.item.id, Self.history([commit], head: 1)))
        #expect(stage.lines.contains(" added by ada \(text)"), "\(stage.lines)")
    }
}
