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
