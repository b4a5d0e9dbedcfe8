import HandCore
import HandScreens
import Testing

/// What is offered while somebody types: names, days, and items that the list has.
@Suite struct CompletionTests {
    /// 2026-11-21 at noon, in milliseconds.
    private static let noon: UInt64 = 1_795_262_400_000

    private static func stage(_ texts: String...) -> Stage {
        let items = texts.enumerated().map { index, text in
            Item(
                id: ItemID(rawValue: UInt64(index + 1) << 1),
                content: .task(String(text.drop { $0 == "+" }), done: text.hasPrefix("+")))
        }
        var stage = Stage(["things": Hand(items)], epoch: noon)
        stage.presence("Bob Miller", on: nil)
        return stage
    }

    private static func texts(_ stage: Stage) -> [String] {
        stage.hand().map { item in
            (item.content == .task(item.content.text, done: true) ? "+" : "") + item.content.text
        }
    }

    /// What is typed, and the text that is added.
    static let rows: [(keys: String, text: String)] = [
        ("'ask @b' right", "ask @bob_Miller"), ("'@A' end", "@Ada"), ("'@x' right", "@x"),
        ("'a due:' right", "a due:2026-11-21"), ("'due:2026-12' ctrl-e", "due:2026-12-01"),
        ("'due:2026-11-2' right", "due:2026-11-21"), ("'due:2027' right", "due:2027"),
        ("'oa' right", "oat milk"), ("'OAT' right", "OAT milk"), ("'o' right", "o"), ("'oat milk' right", "oat milk"),
        ("'oatx' right", "oatx"), ("'oa' left right", "oa"), ("'oa' right ' 2' ", "oat milk 2"),
        ("'oa' right backspace", "oat mil"), ("'two' right", "two"),
    ]

    @Test(arguments: rows)
    func theRestIsOffered(keys: String, text: String) {
        var stage = Self.stage("bread", "oat milk", "oat flakes", "two\nlines")
        stage.press("a \(keys) enter esc")
        #expect(Self.texts(stage).last == text)
    }

    @Test func theOfferIsShown() {
        var stage = Self.stage("oat milk")
        stage.press("a 'oa'")
        #expect(stage.lines.contains { $0.contains("oat milk") && $0.contains("▸ oa") }, "\(stage.lines)")
        #expect(stage.lines[22].contains("→ complete"), "\(stage.lines)")
        stage.press("'x'")
        #expect(!stage.lines[22].contains("complete"))
        // The text of an item is completed only where items are added.
        stage.press("esc k e ctrl-u 'oa' right enter")
        #expect(Self.texts(stage) == ["oa"])
        stage.press("e ' @b' right enter")
        #expect(Self.texts(stage) == ["oa @bob_Miller"])
    }

    /// People need not be here to be named; those who are here come first.
    @Test func aNameThatTheTextsHaveIsOffered() {
        var stage = Self.stage("tea @zoe", "+bread @Zack, and @bela")
        for text in ["'@z' right", "'@za' right", "'@be' right", "'@b' right"] { stage.press("a \(text) enter esc") }
        #expect(Self.texts(stage).dropFirst(2) == ["@zoe", "@zack", "@bela", "@bob_Miller"])
    }

    @Test func whatIsTickedIsUnticked() {
        var stage = Self.stage("bread", "+Milk", "tea")
        stage.press("a 'milk' enter")
        #expect(Self.texts(stage) == ["bread", "+Milk", "tea"])
        #expect(stage.lines.contains { $0.contains("in the list, ticked: enter unticks it") }, "\(stage.lines)")
        stage.press("enter 'eggs' enter esc")
        #expect(Self.texts(stage) == ["bread", "Milk", "tea", "eggs"])
        // Another one, or another text.
        stage.press("g g space a 'bread' enter ctrl-n 'bread' enter 's' enter esc")
        #expect(Self.texts(stage) == ["+bread", "Milk", "tea", "eggs", "bread", "breads"])
        // What is not ticked is added once more; so is what somebody has deleted meanwhile.
        stage.press("a 'tea' enter esc")
        #expect(Self.texts(stage).last == "tea")
        stage.press("a 'bread' enter")
        stage.confirm()
        stage.remote(.deleting(0..<1))
        stage.press("enter esc")
        #expect(Self.texts(stage).count == 7 && Self.texts(stage).last == "bread")
    }

    @Test func whatTheListOftenHadIsOffered() {
        var stage = Self.stage("oat milk")
        func asked() -> Int { stage.commands.count { $0 == .fetchEarlierTexts(list: "things") } }
        #expect(asked() == 0)
        stage.press("a")
        #expect(asked() == 1)
        stage.send(.earlierTexts(list: "things", ["oats", "oranges", "oat cookies", "or"]))
        // What is in the list comes first, then what is most frequent.
        stage.press("'oa' right enter 'or' right enter 'oat c' right enter esc")
        #expect(Self.texts(stage) == ["oat milk", "oat milk", "oranges", "oat cookies"])
        stage.press("a esc")
        #expect(asked() == 1)
    }

    @Test func nothingIsAskedForWithoutAServer() {
        var stage = Stage(["things": Notation.hand("a").hand], isOnline: false)
        stage.goOffline()
        stage.press("a 'b' enter esc")
        #expect(!stage.commands.contains(.fetchEarlierTexts(list: "things")))
        stage.send(.connection(.online))
        stage.press("a")
        #expect(stage.commands.contains(.fetchEarlierTexts(list: "things")))
    }
}
