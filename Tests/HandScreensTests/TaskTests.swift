import HandCore
import HandFormats
import HandScreens
import Testing

/// Who does a task and when it is due, in a list: colours, and the keys that show only some tasks.
@Suite struct TaskTests {
    /// 2026-11-21 at noon, in milliseconds.
    private static let noon: UInt64 = 1_795_262_400_000

    private static func stage(_ texts: String...) -> Stage {
        let items = texts.enumerated().map { index, text in
            Item(
                id: ItemID(rawValue: UInt64(index + 1) << 1),
                content: .task(String(text.drop { $0 == "+" }), done: text.hasPrefix("+")))
        }
        return Stage(["things": Hand(items)], epoch: noon)
    }

    private static func items(_ stage: Stage) -> [String] {
        stage.lines.dropFirst().dropLast(2).compactMap { line in
            line.firstIndex(of: "[").map { String(line[line.index($0, offsetBy: 4)...]) }
        }
    }

    @Test func keysShowWhatNamesTheUserOrIsDue() {
        var stage = Self.stage(
            "a @ada", "b @bob", "c due:2026-11-20", "d due:2026-11-21 @Ada", "e due:2026-11-28", "f due:2026-11-29",
            "+g due:2026-11-01", "+h @ada")
        stage.press("@")
        #expect(Self.items(stage) == ["a @ada", "d due:2026-11-21 @Ada", "h @ada"])
        #expect(stage.lines[0] == " things  3 of 8 name @ada")
        stage.press("s")
        #expect(Self.items(stage) == ["a @ada", "d due:2026-11-21 @Ada"])
        stage.press("s T")
        #expect(Self.items(stage) == ["c due:2026-11-20", "d due:2026-11-21 @Ada"])
        #expect(stage.lines[0] == " things  2 of 8 due by 2026-11-21")
        stage.press("T")
        #expect(Self.items(stage) == ["c due:2026-11-20", "d due:2026-11-21 @Ada", "e due:2026-11-28"])
        stage.press("T")
        #expect(Self.items(stage).count == 8 && stage.lines[0] == " things  8 items")
        stage.press("@ / 'd' enter")
        #expect(Self.items(stage) == ["a @ada", "d due:2026-11-21 @Ada", "h @ada"])
        stage.press("/ 'ue' enter")
        #expect(Self.items(stage) == ["d due:2026-11-21 @Ada"])
        stage.press("@")
        #expect(Self.items(stage).count == 5, "the text is still looked for")
        stage.press("esc")
        #expect(Self.items(stage).count == 8)
        stage.press("T esc")
        #expect(stage.lines[0] == " things  8 items")
        // What is added is hidden, if it is not due.
        stage.press("T a 'new' enter")
        #expect(stage.lines[22] == "1 item added, hidden by the filter")
        stage.press("esc")
        stage.press(": '1' enter")
        #expect(Self.items(stage).count == 9)
        stage.press("T space")
        #expect(Self.items(stage) == ["d due:2026-11-21 @Ada"], "what is ticked is not due")
    }

    @Test func thereMayBeNothing() {
        var stage = Self.stage("a")
        stage.press("@")
        #expect(stage.lines[2] == " Nothing here names @ada.")
        stage.press("T")
        #expect(stage.lines[2] == " Nothing here is due by 2026-11-21.")
    }

    private static func style(of word: String, in stage: Stage) -> Style? {
        let canvas = stage.app.view()
        for (row, line) in canvas.lines.enumerated() {
            guard let range = line.range(of: word) else { continue }
            return canvas.rows[row][line.distance(from: line.startIndex, to: range.lowerBound)].style
        }
        return nil
    }

    static let colors: [(text: String, word: String, style: Style)] = [
        ("x\ndue:2026-11-20", "due", Style(.red, [.bold])), ("a due:2026-11-20 b", "due", Style(.red, [.bold])),
        ("a due:2026-11-21", "due", Style(.yellow, [.bold])), ("a due:2026-11-22", "due", Style(.cyan)),
        ("a due:2026-11-22 b", "b", .plain), ("a @ada", "@ada", Style(.magenta, [.bold])),
        ("a @bob", "@bob", Style(.magenta)), ("+a @bob due:2026-11-20", "due", .dim), ("a x@bob", "x@", .plain),
    ]

    @Test(arguments: colors)
    func wordsHaveColors(text: String, word: String, style: Style) {
        #expect(Self.style(of: word, in: Self.stage("first", text)) == style)
    }
}
