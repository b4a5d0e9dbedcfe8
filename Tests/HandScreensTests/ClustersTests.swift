import HandCore
import HandScreens
import Testing

/// A terminal's reports about joined emoji, and how they are then drawn.
@Suite struct ClustersTests {
    private static let toned = "👍🏽"
    private static let joined = "👩‍👩‍👧"
    private static let both = "👩🏽‍🚀"
    private static let long = "👨‍👩‍👧‍👦"
    private static let selected = "❤️"
    private static let doctor = "👩‍⚕️"
    private static let rainbow = "🏳️‍🌈"

    /// The form in which each is drawn on a terminal that does not draw it as one, and what the terminal must support
    /// for one.
    private static let all: [(text: String, apart: String, needed: Clusters)] = [
        (toned, "👍", .toned), (joined, "👩👩👧", .joined), (both, "👩🚀", [.toned, .joined]),
        (long, "👨👩👧👦", [.joined, .long]), (selected, "❤", .selected), (doctor, "👩⚕", .joined),
        (rainbow, "🏳🌈", [.joined, .selected]),
    ]

    @Test(arguments: (0..<16).map { Clusters(rawValue: $0) })
    func eachIsOneCharacterIfTheTerminalSupportsIt(_ able: Clusters) {
        for (text, apart, needed) in Self.all {
            Columns.$clusters.withValue(able) {
                let isOne = able.isSuperset(of: needed)
                let drawn = Columns.characters(of: "a\(text)b")
                #expect(String(drawn) == "a" + (isOne ? text : apart) + "b")
                if isOne { #expect(Columns.width(of: text) == 2 && drawn.count == 3) }
            }
        }
    }

    /// With all kinds known, text that is not an emoji, or not a single one, is drawn as always.
    @Test(arguments: [
        "🇩🇪", "1️⃣", "a\u{200D}b", "👍🏽🏽", "❤\u{FE0F}\u{FE0F}", "👩\u{200D}", "👩\u{200D}\u{200D}👧", "\u{200D}👩", "☝🏽", "❤‍🔥",
        "👩‍👩‍👩‍👩‍👩", "e\u{301}", "x\u{E0041}", "👍\u{202E}", "\u{1F3FB}",
    ])
    func otherTextIsDrawnAsAlways(_ text: String) {
        let before = Columns.characters(of: text)
        Columns.$clusters.withValue([.toned, .joined, .long, .selected]) {
            #expect(Columns.characters(of: text) == before)
        }
    }

    @Test func eachAnswerCountsForItsKind() {
        for (index, sample) in Clusters.samples.enumerated() {
            for column in 0...16 {
                var stage = Stage(["things": Hand()])
                stage.send(.input(.cursor(Point(row: Clusters.firstRow + index, column: column))))
                #expect(stage.app.state.clusters == (column == 2 ? sample.kind : []))
            }
        }
        var stage = Stage(["things": Hand()])
        for row in [0, Clusters.firstRow + Clusters.samples.count, 500] {
            stage.send(.input(.cursor(Point(row: row, column: 2))))
        }
        #expect(stage.app.state.clusters == [])
    }

    /// The answers come at any time: the screen changes, typed text does not.
    @Test func anAnswerIsNotAKey() throws {
        var stage = Stage(["things": Notation.hand("one two three \(Self.joined)-x").hand])
        #expect(stage.lines.contains { $0.contains("👩👩👧-x") })
        stage.press("2")
        stage.send(.input(.cursor(Point(row: Clusters.firstRow + 1, column: 2))))
        #expect(stage.lines.contains { $0.contains("\(Self.joined)-x") })
        stage.press("j o 'ne'")
        stage.send(.input(.cursor(Point(row: Clusters.firstRow, column: 4))))
        stage.press("'w' enter")
        #expect(stage.hand()[3].content == .task("new", done: false))
        // An existing message stays.
        stage.press("esc g g p")
        let said = try #require(stage.lines.dropLast().last)
        stage.send(.input(.cursor(Point(row: Clusters.firstRow, column: 2))))
        #expect(stage.lines.dropLast().last == said)
    }

    /// The canvas draws the base of a cluster if clusters are unknown.
    @Test func aClusterHasABaseOfItsWidth() {
        Columns.$clusters.withValue([.toned, .selected]) {
            var canvas = Canvas(Size(rows: 1, columns: 8))
            canvas.write(Line("\(Self.selected)\(Self.toned)é"), at: Point(row: 0, column: 0))
            #expect(canvas.rows[0].map(\.base) == ["❤ ", nil, "👍", nil, nil, nil, nil, nil])
            #expect(canvas.rows[0].map(\.text).prefix(5) == [Self.selected, "", Self.toned, "", "é"])
        }
    }
}
