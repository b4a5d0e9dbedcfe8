import HandCore
import HandScreens
import HandSync
import Testing

/// What a user is told who looks at another window.
@Suite struct AttentionTests {
    private static func stage(_ wish: Attention.Wish, _ texts: String...) -> Stage {
        let items = texts.enumerated().map { index, text in
            Item(id: ItemID(rawValue: UInt64(index + 1) << 1), content: .task(text, done: false))
        }
        return Stage(["things": Hand(items)], notices: wish)
    }

    private static func notices(_ stage: Stage) -> [String] {
        stage.commands.compactMap { if case .notify(let text) = $0 { text } else { nil } }
    }

    private static func tick(_ place: Int) -> Delta { .editing(at: place, Change(done: true)) }

    @Test func onlyWhoLooksAwayIsTold() {
        var stage = Self.stage(.all, "a", "b", "c")
        stage.presence("Bob", on: nil)
        stage.send(.input(.focus(true)))
        stage.wait(100_000)
        stage.remote(Self.tick(0))
        #expect(Self.notices(stage) == [], "the terminal has the focus")
        stage.send(.input(.focus(false)))
        stage.press("j")
        stage.edit(Self.tick(1))
        #expect(Self.notices(stage) == [])
        stage.remote(Self.tick(2))
        #expect(Self.notices(stage) == ["things: Bob: [x] c"])
        // Not again at once, but after a while, and after the user was there.
        stage.wait(29_000)
        stage.remote(.deleting(0..<1))
        #expect(Self.notices(stage).count == 1)
        stage.wait(1_000)
        stage.remote(.deleting(1..<2))
        #expect(Self.notices(stage).dropFirst() == ["things: Bob: changes"])
        stage.send(.input(.focus(true)))
        stage.send(.input(.focus(false)))
        stage.remote(.inserting([Item(id: ItemID(rawValue: 99), content: .note("n"))], at: 0, .after))
        #expect(Self.notices(stage).last == "things: Bob: n")
    }

    /// A terminal that does not report the focus: nobody is there if no key is pressed for a minute.
    @Test func withoutReportsTheKeysTell() {
        var stage = Self.stage(.all, "a", "b")
        stage.press("j")
        stage.wait(59_999)
        stage.remote(Self.tick(0))
        #expect(Self.notices(stage) == [])
        stage.wait(1)
        stage.remote(Self.tick(1))
        // Whoever edits by a command is not on the list: the history tells the name.
        #expect(Self.notices(stage) == [])
        let asked = stage.commands.compactMap {
            if case .fetchHistory(_, let from, let limit) = $0 { (from, limit) } else { nil }
        }
        #expect(asked.map(\.0) == [stage.app.state.list("things").state.revision] && asked.map(\.1) == [1])
        stage.send(.history(list: "others", [], people: [:]))
        #expect(Self.notices(stage) == [])
        stage.send(.history(list: "things", [], people: [Stage.bob: "Carol"]))
        #expect(Self.notices(stage) == ["things: Carol: [x] b"])
        stage.send(.history(list: "things", [], people: [Stage.bob: "Carol"]))
        #expect(Self.notices(stage).count == 1)
    }

    /// Who has just come is there, although no key was pressed yet.
    @Test func whoHasJustComeIsNotTold() {
        var stage = Self.stage(.all, "a")
        stage.remote(Self.tick(0))
        #expect(
            Self.notices(stage) == [] && !stage.commands.contains { if case .fetchHistory = $0 { true } else { false } }
        )
    }

    /// Without an answer, nobody is named.
    @Test func whoIsUnknownIsSomebody() {
        var stage = Self.stage(.all, "a")
        stage.send(.input(.focus(false)))
        stage.remote(Self.tick(0))
        stage.send(.failed(.fetchHistory(list: "things", from: 1, limit: 1), "no answer"))
        #expect(Self.notices(stage) == ["things: somebody: [x] a"])
    }

    @Test func mineIsWhatNamesMeOrOverridesMe() {
        var stage = Self.stage(.mine, "a", "b @ada", "c @bob")
        stage.send(.input(.focus(false)))
        stage.remote(Self.tick(0))
        stage.remote(Self.tick(2))
        stage.remote(.moving(1..<2, to: 0, .after))
        #expect(Self.notices(stage) == [])
        stage.remote(Self.tick(0))
        stage.send(.history(list: "things", [], people: [Stage.bob: "Carol"]))
        #expect(Self.notices(stage) == ["things: Carol: [x] b @ada"])
        var overridden = Self.stage(.mine, "a")
        overridden.send(.input(.focus(false)))
        overridden.edit(.editing(at: 0, Change(text: "a", to: "mine")))
        overridden.confirm()
        overridden.remoteBefore(overridden.hand().rewording(0, "theirs"))
        #expect(Self.notices(overridden).count == 1, "\(Self.notices(overridden))")
    }

    @Test func nobodyIsToldWithoutTheWish() {
        var stage = Self.stage(.off, "a @ada")
        stage.send(.input(.focus(false)))
        stage.remote(Self.tick(0))
        #expect(Self.notices(stage) == [])
    }
}
