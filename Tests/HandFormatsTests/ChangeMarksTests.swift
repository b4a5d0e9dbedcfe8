import HandCore
import HandFormats
import Testing

/// The changes of a text are shown within the line.
@Suite struct ChangeMarksTests {
    private static func line(_ old: Content, _ new: Content, _ marks: ChangeMarks = .plain) throws -> String {
        let before = Hand([
            Item(id: ItemID(rawValue: 1), content: .note("x")), Item(id: ItemID(rawValue: 2), content: old),
        ])
        let change = try #require(Change(from: old, to: new))
        let delta = Delta.editing(at: 1, change)
        let lines = DeltaText.lines(delta, from: before, to: try before.applying(delta), marks)
        try #require(lines.count == 1)
        return lines[0].text
    }

    @Test(arguments: [
        (Content.note("milk"), Content.note("oat milk"), "~ 2  {+oat +}milk"),
        (.task("2 l milk", done: false), .task("3 l milk", done: false), "~ 2  [ ] [-2-]{+3+} l milk"),
        (.task("milk", done: false), .task("milk", done: true), "~ 2  [x] milk"),
        (.heading("to buy"), .heading("to"), "~ 2  ## to[- buy-]"),
        (.link("site", url: "a.org"), .link("site", url: "b.org"), "~ 2  site <[-a.org-]{+b.org+}>"),
        (.note("a\u{1B}[2J b"), .note("a\u{1B}[2J c"), "~ 2  a\u{FFFD}[2J [-b-]{+c+}"),
        (.note("one\ntwo"), .note("one\nthree"), "~ 2  one [-two-]{+three+}"),
    ]) func wordsAreMarked(old: Content, new: Content, line: String) throws {
        #expect(try Self.line(old, new) == line)
    }

    @Test func aLevelIsMarked() throws {
        let before = Hand([1, 2].map { Item(id: ItemID(rawValue: $0), content: .task("milk", done: false)) })
        for (change, line) in [
            (Change(level: 1), "~ 2  [ ] milk (level [-0-]{+1+})"),
            (Change(done: true, level: 12), "~ 2  [x] milk (level [-0-]{+12+})"),
        ] {
            let delta = Delta.editing(at: 1, change)
            #expect(DeltaText.lines(delta, from: before, to: try before.applying(delta)).map(\.text) == [line])
        }
    }

    /// What moves may have been edited, too.
    @Test func aMoveShowsTheEdit() throws {
        let before = Hand([1, 2].map { Item(id: ItemID(rawValue: $0), content: .note("milk \($0)")) })
        let moved = try before.applying(.moving(1..<2, to: 0, .after))
        let change = try #require(Change(from: .note("milk 2"), to: .note("oat milk 2")))
        let after = try moved.applying(.editing(at: 0, Change(text: change.text, level: 1)))
        let delta = Delta(from: before, to: after)
        #expect(
            DeltaText.lines(delta, from: before, to: after).map(\.text) == [
                "> 1  {+oat +}milk 2 (level [-0-]{+1+})"
            ])
    }

    @Test func onATerminalTheyHaveColors() throws {
        let line = try Self.line(.note("salted butter"), .note("unsalted butter"), .colored)
        #expect(line == "~ 2  \u{1B}[31;9msalted\u{1B}[0m\u{1B}[32munsalted\u{1B}[0m butter")
        // Text from somebody else adds no other control characters.
        let other = try Self.line(.note("a"), .note("\u{1B}[31mb"), .colored)
        #expect(other == "~ 2  \u{1B}[31;9ma\u{1B}[0m\u{1B}[32m\u{FFFD}[31mb\u{1B}[0m")
    }
}
