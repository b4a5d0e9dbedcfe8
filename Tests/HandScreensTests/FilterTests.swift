import HandCore
import HandScreens
import HandTestSupport
import Testing

@Suite struct FilterTests {
    /// However the list changes while it is filtered, it shows the results of a new search.
    @Test func theFilterFollowsEveryChange() throws {
        var random = SplitMix64(seed: testSeed(41, "filter"))
        for round in 0..<150 {
            let words = ["ab", "b", "c", "xbx", "d"]
            func word() -> String { words[random.next(below: words.count)] }
            var stage = KeyTests.stage((0..<random.next(below: 8)).map { _ in word() }.joined(separator: " "))
            stage.press("/ 'b' enter")
            for step in 0..<20 {
                let count = stage.hand().count
                let range = count == 0 ? 0..<0 : random.next(below: count)..<count
                let operation: Delta =
                    switch count == 0 ? 0 : random.next(below: 4) {
                    case 0:
                        .inserting(
                            [Item(id: ItemID(rawValue: random.next()), content: .task(word(), done: false))],
                            at: random.next(below: count + 1), .after)
                    case 1: .deleting(range.lowerBound..<range.lowerBound + 1)
                    case 2: .moving(range, to: random.next(below: count + 1), .before)
                    default: stage.hand().rewording(range.lowerBound, word())
                    }
                stage.remote(operation)
                let shown = stage.lines.dropFirst().dropLast(2).compactMap { line in
                    line.range(of: "[ ] ").map { String(line[$0.upperBound...]) }
                }
                let expected = stage.hand().map(\.content.text).filter { $0.contains("b") }
                try #require(
                    shown == Array(expected.prefix(shown.count)) || shown.count == 9, "round \(round), step \(step)")
                #expect(stage.lines[0].contains(" \(expected.count) of \(stage.hand().count) contain"))
            }
        }
    }

    /// The list changes while only a part of it has been searched, before, in and behind that part and across its end.
    @Test func theFilterFollowsChangesDuringTheSearch() {
        var random = SplitMix64(seed: testSeed(42, "half a filter"))
        for round in 0..<6 {
            let items = (0..<20_000).map {
                Item(id: ItemID(rawValue: UInt64($0) + 1), content: .note($0 % 3 == 0 ? "b" : "c"))
            }
            var stage = Stage(["things": Hand(items)])
            stage.hasTime = false
            stage.press("/ 'b'")
            for step in 0..<12 {
                // The end of the searched part is 8192, then 16384.
                let near = (step < 6 ? 8_192 : 16_384) - 40 + random.next(below: 80)
                let range = near..<min(near + 1 + random.next(below: 60), stage.hand().count - 100)
                let fresh = (0..<3).map { _ in
                    Item(id: ItemID(rawValue: random.next()), content: .note(random.next(below: 2) == 0 ? "b" : "c"))
                }
                let change: Delta =
                    switch random.next(below: 5) {
                    case 0: .inserting(fresh, at: near, .after)
                    case 1: .deleting(range)
                    case 2: .moving(range, to: random.next(below: 2) == 0 ? 10 : stage.hand().count, .before)
                    case 3: .deleting(10..<12)
                    default: stage.hand().rewording(near, "b")
                    }
                stage.remote(change)
                if step == 5 { stage.send(.continueWork) }
            }
            stage.hasTime = true
            stage.send(.continueWork)
            let expected = stage.hand().count { $0.content.text == "b" }
            #expect(stage.lines[0].contains(" \(expected) of \(stage.hand().count) contain"), "round \(round)")
            stage.press("enter G")
            let last = stage.hand().lastIndex { $0.content.text == "b" }
            #expect(stage.lines.contains { $0.hasPrefix("▸") && $0.contains(" \((last ?? 0) + 1) b") })
        }
    }

    /// A longer text narrows what has been found so far, and the rest is searched for it.
    @Test func aHalfSearchedFilterIsNarrowed() {
        let items = (0..<20_000).map {
            Item(id: ItemID(rawValue: UInt64($0) + 1), content: .note($0 % 2 == 0 ? "bc" : "b"))
        }
        var stage = Stage(["things": Hand(items)])
        stage.hasTime = false
        stage.press("/ 'b' 'c'")
        stage.remote(.deleting(0..<1))
        stage.hasTime = true
        stage.send(.continueWork)
        #expect(stage.lines[0].contains(" 9999 of 19999 contain 'bc'"))
    }

    /// Whatever adds an item that the filter does not show, says so.
    @Test(arguments: [
        ("o 'xyz' enter", "1 item added, hidden by the filter"), ("y / ctrl-u 'c' enter P", "1 item added, hidden"),
        ("e ctrl-u 'xyz' enter", "1 item saved, hidden by the filter"),
    ]) func whatTheFilterHidesIsTold(_ keys: String, _ words: String) {
        var stage = KeyTests.stage(">b c b")
        stage.press("/ 'b' enter " + keys)
        #expect(stage.lines.contains { $0.contains(words) }, "\(stage.lines)")
    }

    @Test(arguments: ["o 'xbz' enter", "e 'x' enter", "d", "y p"]) func whatTheFilterShowsIsNotTold(_ keys: String) {
        var stage = KeyTests.stage(">b c b")
        stage.press("/ 'b' enter " + keys)
        #expect(!stage.lines.contains { $0.contains("hidden by the filter") }, "\(stage.lines)")
    }

    @Test func aLongListIsSearchedInParts() {
        let items = (0..<50_000).map { Item(id: ItemID(rawValue: UInt64($0) + 1), content: .note("item \($0)")) }
        var stage = Stage(["things": Hand(items)])
        stage.press("/ '4999'")
        let works = stage.commands.filter { $0 == .workOn }.count
        #expect(works >= 4, "the search must be done in parts")
        // 4999, 14999, 24999, 34999, 44999 and 49990…49999
        #expect(stage.lines[0].contains("15 of 50000 contain '4999'"))
    }

    @Test(arguments: [("ÄPFEL", "äpfel"), ("k", "Kelvin"), ("漢", "a漢b"), ("x y", "X Y")])
    func caseDoesNotMatter(_ query: String, _ text: String) {
        var stage = Stage(["things": Hand([Item(id: ItemID(rawValue: 1), content: .note(text))])])
        stage.press("/")
        for character in query { stage.press(Key(.character(character))) }
        #expect(stage.lines[0].contains("1 of 1"))
    }
}
