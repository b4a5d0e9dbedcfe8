import HandCore
import HandScreens
import HandWire
import Testing

/// Every action that the keys of a screen offer does something there.
@Suite struct ActionsTests {
    private static let things: Hand = {
        let long = String(repeating: "long ", count: 400)
        var items = Notation.hand("a +b c d +e f g h @i", rules: Rules(hasDeck: true)).hand.map(\.self)
        items[2] = Item(id: items[2].id, content: .task(long, done: false))
        items[3].level = 1
        return Hand(items, rules: Rules(hasDeck: true))
    }()

    private static func route(_ kind: ScreenKind, _ action: Action) -> Route {
        switch kind {
        case .lists: .lists
        case .list: .list("things")
        case .item:
            .item(
                list: "things",
                id: things[action == .follow || action == .editAddress ? things.count - 1 : 2].id.description)
        case .history: .history("things")
        case .revision: .revision(list: "things", 3)
        case .people: .people("things")
        case .notices: .notices("things")
        case .share: .share("things")
        case .help: .help
        case .connection: .connection
        case .nowhere: .nowhere("/a/b")
        }
    }

    /// The keys that make the action possible.
    private static func keys(before action: Action, on kind: ScreenKind) -> String {
        switch action {
        case .pasteBelow, .pasteAbove: "y"
        case .undo: "space"
        case .redo: "space u"
        case .follow, .editAddress: kind == .list ? "G" : ""
        default: ""
        }
    }

    /// A stage where every action of the screen is possible. The cursor is neither on the first row nor on the last.
    private static func stage(_ kind: ScreenKind, for action: Action) -> Stage {
        var stage = Stage(["things": things], opening: route(kind, action), rows: 8)
        stage.send(
            .lists(
                ["l", "m", "n", "o", "things"].map {
                    DownMessage.ListEntry(name: $0, count: 3, revision: 5, rules: Rules())
                }))
        let commits = (1...5).map { revision in
            Commit(
                revision: revision, author: Stage.bob, sequence: SequenceNumber(revision), base: revision - 1, time: 0,
                count: 3, digest: 0, delta: Delta.editing(at: 0, Change(done: true)))
        }
        stage.send(.history(list: "things", commits, people: [Stage.bob: "Bob"]))
        stage.send(.state(list: "things", revision: 3, Notation.hand("a b c d e").hand))
        for author in 2...6 { stage.presence("P\(author)", on: things[author].id, author: AuthorID(author)) }
        for index in 0..<5 {
            let item = Item(id: ItemID(rawValue: UInt64(index + 1)), content: .note("mine"))
            stage.edit(.inserting([item], at: 0, .before))
            // Rows that look alike would not show that the cursor moves.
            stage.reject(.violation(.listFull(maximum: index + 1)))
        }
        stage.press("j j")
        stage.press(keys(before: action, on: kind))
        if action == .refresh {
            let page = Command.fetchHistory(list: "things", from: 1, limit: 1)
            if kind == .history { stage.send(.failed(page, "too slow")) } else { stage.goOffline() }
        }
        return stage
    }

    /// A key that opens the screen that is already open does nothing.
    private static func isHere(_ action: Action, _ kind: ScreenKind) -> Bool {
        (action == .help && kind == .help) || (action == .connection && kind == .connection)
    }

    @Test(arguments: ScreenKind.allCases) func everyActionDoesSomething(_ kind: ScreenKind) throws {
        for action in kind.actions where !Self.isHere(action, kind) {
            let before = Self.stage(kind, for: action)
            try #require(before.app.router.top.route.kind == kind, "\(kind) is not open before \(action)")
            var after = before
            after.press(try #require(KeyMap.standard.keys(for: action).first, "\(action) has no key"))
            let sent = after.commands.dropFirst(before.commands.count)
            #expect(!sent.contains(.bell), "\(action) is refused on \(kind): \(after.lines)")
            #expect(!sent.isEmpty || after.app.view() != before.app.view(), "\(action) does nothing on \(kind)")
        }
    }

    @Test func everyActionIsOffered() {
        let offered = Set(ScreenKind.allCases.flatMap(\.actions))
        #expect(Action.allCases.filter { !offered.contains($0) } == [])
    }
}
