import HandScreens
import Testing

@Suite struct WrappingTests {
    /// Text, width, lines.
    @Test(arguments: [
        ("", 5, [""]), ("abc", 5, ["abc"]), ("abcde", 5, ["abcde"]), ("abc de", 5, ["abc", "de"]),
        ("ab cd", 5, ["ab cd"]),
        ("one two three", 7, ["one two", "three"]), ("one two three", 8, ["one two", "three"]),
        ("abcdefg", 3, ["abc", "def", "g"]),
        ("a bcdefg", 3, ["a", "bcd", "efg"]), ("ab cdefg", 4, ["ab", "cdef", "g"]), ("ab  cd", 2, ["ab", "cd"]),
        ("ab   cd", 4, ["ab", "cd"]), ("ab     ", 3, ["ab "]), ("  ab cd", 5, ["  ab", "cd"]),
        ("  abcdef", 5, ["  abc", "def"]),
        ("    ab", 3, ["   ", "ab"]), ("a\nb", 5, ["a", "b"]), ("\n", 5, ["", ""]),
        ("a\n\nb\n", 5, ["a", "", "b", ""]),
        ("ab\ncd", 2, ["ab", "cd"]), ("ab \n cd", 2, ["ab", " c", "d"]), ("abc", 1, ["a", "b", "c"]),
        ("abc", 0, ["a", "b", "c"]),
        ("abc", -1, ["a", "b", "c"]), ("a\u{A0}b c", 3, ["a\u{A0}b", "c"]), ("abc", .max, ["abc"]),
    ])
    func linesBreakBetweenWords(_ text: String, _ width: Int, _ lines: [String]) {
        #expect(Wrapping.lines(text, width: width) == lines)
    }

    @Test(arguments: [
        ("世界世界", 4, ["世界", "世界"]), ("世界世界", 5, ["世界", "世界"]), ("a世界", 4, ["a世", "界"]), ("ab 世界", 6, ["ab", "世界"]),
        ("世a", 1, ["\u{FFFD}", "a"]), ("e\u{301}e\u{301}e\u{301}", 2, ["e\u{301}e\u{301}", "e\u{301}"]),
        ("\u{301}a", 2, ["a"]), ("\u{200B}", 2, [""]),
    ])
    func columnsCountAndNotCharacters(_ text: String, _ width: Int, _ lines: [String]) {
        #expect(Wrapping.lines(text, width: width) == lines)
    }

    /// Text, width, limit, lines.
    @Test(arguments: [
        ("one two three", 7, 1, ["one tw…"]), ("one two three", 9, 1, ["one two…"]),
        ("one two three", 5, 2, ["one", "two…"]),
        ("one two", 7, 1, ["one two"]), ("one two  ", 7, 1, ["one two"]), ("one\ntwo", 7, 1, ["one…"]),
        ("one\ntwo", 3, 1, ["on…"]),
        ("one\n", 7, 1, ["one…"]), ("\na", 7, 1, ["…"]), ("a\nb\nc", 7, 2, ["a", "b…"]),
        ("a\nb\nc", 7, 3, ["a", "b", "c"]),
        ("ab", 1, 1, ["…"]), ("ab", 1, 2, ["a", "b"]), ("世界世界", 6, 1, ["世界…"]), ("世界世界", 7, 1, ["世界世…"]),
        ("世界世界", 2, 1, ["…"]), ("ab", 5, 0, ["ab"]), ("ab", 5, -3, ["ab"]), ("    a", 3, 1, ["…"]),
    ])
    func linesOverTheLimitAreCutOff(_ text: String, _ width: Int, _ limit: Int, _ lines: [String]) {
        #expect(Wrapping.lines(text, width: width, limit: limit) == lines)
    }

    @Test(arguments: [
        ("a\tb", "a b"), ("a\u{7}b", "a�b"), ("a\u{1B}[1m", "a�[1m"), ("a\r", "a�"),
        ("a\u{0}\u{7F}\u{85}\u{9B}", "a����"),
        ("a\u{202E}b", "a�b"), ("\u{202A}\u{202B}\u{202C}\u{202D}", "����"),
        ("\u{2066}\u{2067}\u{2068}\u{2069}", "����"),
        ("\u{200E}\u{200F}\u{061C}", "���"), ("a\u{2028}b\u{2029}", "a�b�"), ("a\u{B}\u{C}b", "a��b"),
    ])
    func deceptiveCharactersAreShown(_ text: String, _ line: String) {
        #expect(Wrapping.lines(text, width: 20) == [line])
    }

    @Test func aCarriageReturnIsShownAndTheBreakAfterItKept() {
        #expect(Wrapping.lines("a\r\nb", width: 5) == ["a�", "b"])
    }

    /// A character that is drawn as several stays whole if a line can hold it.
    @Test func aFlagIsNotSplit() {
        let flag = "🇩🇪"
        let width = Columns.width(of: flag)
        #expect(Wrapping.lines("a" + flag, width: width) == ["a", flag])
        #expect(Wrapping.lines(flag + flag, width: width + 1) == [flag, flag])
        #expect(Wrapping.lines(flag, width: width - 1).count == 2)
    }

    @Test(arguments: (0..<200).map { _ in UInt64.random(in: 0...UInt64.max) })
    func anyTextFitsTheWidthWithoutLoss(seed: UInt64) throws {
        var numbers = LineEditorRandomTests.Numbers(state: seed)
        let alphabet = ["a", "b", "c", " ", " ", "世", "e\u{301}", "\n", "\u{202E}", "🇩🇪", "\u{7}", "👩‍👩‍👧"]
        let text = (0..<Int.random(in: 0...80, using: &numbers)).compactMap { _ in
            alphabet.randomElement(using: &numbers)
        }
        .joined()
        let width = Int.random(in: 2...20, using: &numbers)
        let all = Wrapping.lines(text, width: width)
        #expect(all.allSatisfy { Columns.width(of: $0) <= width }, "seed \(seed)")

        // Nothing but spaces is lost, and everything is in its order.
        let drawn = text.replacing("\u{202E}", with: "�").replacing("\u{7}", with: "�")
        #expect(
            Columns.characters(of: all.joined()).filter { $0 != " " }
                == Columns.characters(of: drawn).filter { $0 != " " }, "seed \(seed)")
        // No line has room for the first word of the next. This does not hold where several spaces would come between,
        // or where the word is broken after a few characters because the rest is as wide as a line.
        let isPlain = !["👩‍👩‍👧", "🇩🇪", "  "].contains { text.contains($0) }
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) where isPlain {
            let lines = Wrapping.lines(String(paragraph), width: width)
            for (line, next) in zip(lines, lines.dropFirst()) where line.contains(where: { $0 != " " }) {
                #expect(next.first != " ", "seed \(seed)")
                let word = String(next.prefix { $0 != " " })
                let isBroken = Columns.width(of: line) + Columns.width(of: word) > width - 1
                #expect(isBroken, "seed \(seed): '\(line)' had room for '\(word)'")
            }
        }

        let limit = Int.random(in: 1...10, using: &numbers)
        let some = Wrapping.lines(text, width: width, limit: limit)
        if all.count <= limit {
            #expect(some == all, "seed \(seed)")
        } else {
            #expect(some.count == limit && some.dropLast() == all.prefix(limit - 1), "seed \(seed)")
            #expect(some.last?.last == "…" && Columns.width(of: some.last ?? "") <= width, "seed \(seed)")
        }
    }

    /// This would take minutes if each went through the megabyte.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["a", "ab ", " ", "\n", "世", "\u{301}", "\u{200B}", "\u{200D}👩", "\u{7}", "\u{202E}"])
    func aHugeTextIsNotRead(_ piece: String) {
        let huge = "a" + String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        for _ in 0..<10 {
            let lines = Wrapping.lines(huge, width: 10, limit: 3)
            #expect(lines.count <= 3 && lines.last?.last == "…")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aHugeTextIsReadOnce() {
        let count = 100_000
        #expect(Wrapping.lines(String(repeating: "ab cd ", count: count), width: 5).count == count)
        #expect(Wrapping.lines(String(repeating: "x", count: count), width: 10).count == count / 10)
        #expect(
            Wrapping.lines(String(repeating: "x", count: count), width: count) == [String(repeating: "x", count: count)]
        )
    }
}
