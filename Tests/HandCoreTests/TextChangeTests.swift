import HandCore
import HandSimulation
import HandTestSupport
import Testing

/// The laws of text changes: exhaustively on short texts, at random on long ones, against an oracle that is written
/// from the rules and not from the code.
@Suite struct TextChangeTests {
    /// Every change of `text` with up to two splices, whose insertions are among `words`.
    private static func changes(of text: String, _ words: [String]) -> [TextChange] {
        let bytes = Array(text.utf8)
        var splices: [Splice] = []
        for start in 0...bytes.count {
            for end in start...bytes.count {
                let removed = String(decoding: bytes[start..<end], as: UTF8.self)
                splices += words.map { Splice(at: start, removed: removed, inserted: $0) }
            }
        }
        var all: Set<TextChange> = [TextChange()]
        for first in splices {
            if let change = try? TextChange([first]) { all.insert(change) }
            for second in splices where second.at > first.at + first.removed.utf8.count {
                if let change = try? TextChange([first, second]) { all.insert(change) }
            }
        }
        return Array(all)
    }

    private static func expectLaws(_ text: String, _ a: TextChange, _ b: TextChange) throws {
        let (afterA, afterB) = (try a.applied(to: text), try b.applied(to: text))
        let (restOfB, restOfA) = (b.transformed(over: a, as: .later), a.transformed(over: b, as: .earlier))
        let merged = try restOfB.applied(to: afterA)
        try #require(try merged == restOfA.applied(to: afterB), "TP1: \(text), \(a), \(b)")
        try #require(merged == NaiveText(text, a, b).text, "the rules: \(text), \(a), \(b)")
        // Applied one after the other, or as one.
        try #require(try a.followed(by: restOfB).applied(to: text) == merged, "compose: \(text), \(a), \(restOfB)")
        // What `b` leaves of what `a` removes: each byte that `a` removes and `b` does not.
        _ = try a.remainder(after: b).applied(to: afterB)
        let removals = a.splices.map { Splice(at: $0.at, removed: $0.removed, inserted: "") }
        let rest = try TextChange(removals).remainder(after: b)
        func removed(_ change: TextChange) -> Set<Int> {
            change.splices.reduce(into: []) { $0.formUnion($1.at..<$1.at + $1.removed.utf8.count) }
        }
        try #require(removed(rest).count == removed(a).subtracting(removed(b)).count, "rest: \(text), \(a), \(b)")
        let losses = TextChange.losses(earlier: a, later: b).map { [$0.original, $0.lost, $0.present] }
        try #require(losses == NaiveText(text, a, b).losses, "losses: \(text), \(a), \(b)")
    }

    @Test(arguments: ["", "a", "ab", "a b"]) func lawsHoldForAllPairs(text: String) throws {
        let all = Self.changes(of: text, ["", "x", "b"])
        for a in all {
            try #require(try a.inverted.applied(to: a.applied(to: text)) == text)
            try #require(a.inverted.inverted == a && a.followed(by: a.inverted).isIdentity)
            for b in all { try Self.expectLaws(text, a, b) }
        }
    }

    @Test func lawsHoldForRandomTexts() throws {
        var random = SplitMix64(seed: 16)
        let words = ["milk", "2 l", " ", "é", "牛奶", "👩‍👩‍👧", "", "\n", "oat milk", "don't"]
        func text(_ count: Int) -> String { (0..<count).map { _ in words[random.next(below: words.count)] }.joined() }
        func edited(_ text: String) -> String {
            var characters = Array(text)
            for _ in 0..<random.next(below: 4) {
                let start = random.next(below: characters.count + 1)
                let count = min(characters.count - start, random.next(below: 4))
                characters.replaceSubrange(start..<start + count, with: Array(words[random.next(below: words.count)]))
            }
            return String(characters)
        }
        for _ in 0..<4_000 {
            let old = text(random.next(below: 12))
            let (one, two) = (edited(old), edited(old))
            let (a, b) = (TextChange(from: old, to: one), TextChange(from: old, to: two))
            try #require(
                try a.applied(to: old).hasBytes(of: one) && b.applied(to: old).hasBytes(of: two), "\(old) \(one)")
            try Self.expectLaws(old, a, b)
            // Composition is associative, and continues from the result.
            let c = TextChange(from: two, to: edited(two))
            let d = TextChange(from: try c.applied(to: two), to: text(3))
            for three in [b.followed(by: c).followed(by: d), b.followed(by: c.followed(by: d))] {
                try #require(try three.applied(to: old).hasBytes(of: d.applied(to: c.applied(to: two))))
            }
            // Later edits of others stay when a user undoes an edit.
            let merged = try b.transformed(over: a, as: .later).applied(to: a.applied(to: old))
            let undo = a.inverted.transformed(over: b.transformed(over: a, as: .later), as: .later)
            _ = try undo.applied(to: merged)
        }
    }

    // MARK: Words

    private static func merged(_ old: String, _ one: String, _ two: String) throws -> String {
        let (a, b) = (TextChange(from: old, to: one), TextChange(from: old, to: two))
        return try b.transformed(over: a, as: .later).applied(to: a.applied(to: old))
    }

    @Test(arguments: [
        ("cheese", "cheese [one]", "cheese [two]", "cheese [one] [two]"),
        ("milk", "oat milk", "milk 2 l", "oat milk 2 l"),
        ("12", "13", "22", "22"),
        ("at 10:30", "at 11:30", "at 10:45", "at 10:45"),
        ("I don't know", "I do know", "I won't know", "I won't know"),
        ("salted butter", "unsalted butter", "salted margarine", "unsalted margarine"),
        ("牛奶面包", "牛油面包", "牛奶面条", "牛油面条"),
        ("a b c", "x", "a y c", "a y c"),
        ("a b c", "a y c", "x", "x"),
        ("", "one", "two", "onetwo"),
    ]) func wordsMerge(old: String, one: String, two: String, merged: String) throws {
        #expect(try Self.merged(old, one, two) == merged)
    }

    @Test(arguments: [
        ("12", "13", [Splice(at: 0, removed: "12", inserted: "13")]),
        ("cheese", "cheese [one]", [Splice(at: 6, removed: "", inserted: " [one]")]),
        ("the red fox", "the blue fox", [Splice(at: 4, removed: "red", inserted: "blue")]),
        (
            "see ada@example.org.", "see bob@example.org.",
            [Splice(at: 4, removed: "ada@example.org", inserted: "bob@example.org")]
        ),
        ("é", "è", [Splice(at: 0, removed: "é", inserted: "è")]),
        ("👩‍👩‍👧 a", "👩‍👩‍👦 a", [Splice(at: 0, removed: "👩‍👩‍👧", inserted: "👩‍👩‍👦")]),
        ("a e\u{301}", "a e", [Splice(at: 2, removed: "e\u{301}", inserted: "e")]),
        ("a \u{301}b", "a b", [Splice(at: 1, removed: " \u{301}", inserted: " ")]),
        ("a\r\nb", "a\nb", [Splice(at: 1, removed: "\r\n", inserted: "\n")]),
        ("same", "same", []),
        ("かな", "かに", [Splice(at: 3, removed: "な", inserted: "に")]),
        ("cheese [one]", "cheese [two] [one]", [Splice(at: 6, removed: "", inserted: " [two]")]),
        ("a [two] [one]", "a [one]", [Splice(at: 1, removed: " [two]", inserted: "")]),
        (
            "x [a] [b]", "y [a] [c] [b]",
            [Splice(at: 0, removed: "x", inserted: "y"), Splice(at: 5, removed: "", inserted: " [c]")]
        ),
        ("x x x x", "x x", [Splice(at: 1, removed: " x x", inserted: "")]),
        ("[a]", "[a] [a]", [Splice(at: 3, removed: "", inserted: " [a]")]),
    ]) func differencesAreWholeWords(old: String, new: String, splices: [Splice]) throws {
        #expect(TextChange(from: old, to: new).splices == splices)
    }

    /// Something stays between two splices, and the law holds, even in texts with repetitions.
    @Test func differencesOfAllShortTexts() throws {
        var texts = [""]
        for length in 0..<4 {
            texts += texts.filter { $0.count == length }.flatMap { text in ["a", " ", "["].map { text + $0 } }
        }
        for old in texts {
            for new in texts {
                let change = TextChange(from: old, to: new)
                try #require(try change.applied(to: old) == new, "\(old) to \(new): \(change)")
                for (left, right) in zip(change.splices, change.splices.dropFirst()) {
                    try #require(left.at + left.removed.utf8.count < right.at, "\(old) to \(new): \(change)")
                }
            }
        }
        // It could slide into the words of the previous splice.
        #expect(try TextChange(from: "p] x", to: "y] [y] x").applied(to: "p] x") == "y] [y] x")
    }

    /// Long texts with little in common are not compared word by word, except for their ends.
    @Test func longDifferencesEnd() throws {
        func words(_ from: Int) -> String { (from..<from + 2_000).map { "w\($0)" }.joined(separator: " ") }
        let (old, new) = ("start " + words(0) + " end", "start " + words(9_000) + " end")
        let change = TextChange(from: old, to: new)
        #expect(try change.applied(to: old) == new)
        #expect(change.splices == [Splice(at: 6, removed: words(0), inserted: words(9_000))])
        // Text common to both ends is matched only once.
        let others = String((0..<600).compactMap { UnicodeScalar(0x4E00 + $0).map(Character.init) })
        let (once, twice) = ("好好", "好好" + others + "好好")
        #expect(try TextChange(from: once, to: twice).applied(to: once) == twice)
        #expect(try TextChange(from: twice, to: once).applied(to: twice) == once)
    }

    // MARK: Misfits

    @Test func whatDoesNotFitIsRefused() throws {
        let change = try TextChange([Splice(at: 2, removed: "b", inserted: "c")])
        for text in ["", "a", "a a", "a ", "ab"] {
            #expect(throws: TextChangeError.misfit(change.splices[0])) { try change.applied(to: text) }
        }
        #expect(try change.applied(to: "a b") == "a c")
        let torn = try TextChange([Splice(at: 1, removed: "", inserted: "x")])
        #expect(throws: TextChangeError.misfit(torn.splices[0])) { try torn.applied(to: "é") }
        #expect(throws: TextChangeError.disorder(at: 1, expected: 2)) {
            try TextChange([Splice(at: 0, removed: "ab", inserted: ""), Splice(at: 1, removed: "b", inserted: "")])
        }
        #expect(throws: TextChangeError.disorder(at: -1, expected: 0)) {
            try TextChange([Splice(at: -1, removed: "", inserted: "x")])
        }
    }

    @Test func splicesThatTouchAreOne() throws {
        let change = try TextChange([
            Splice(at: 0, removed: "a", inserted: "x"), Splice(at: 1, removed: "", inserted: "y"),
            Splice(at: 3, removed: "b", inserted: "b"),
        ])
        #expect(change.splices == [Splice(at: 0, removed: "a", inserted: "xy")])
        let nothing = try TextChange([
            Splice(at: 0, removed: "a", inserted: ""), Splice(at: 1, removed: "", inserted: "a"),
        ])
        #expect(nothing.isIdentity)
        let same = try TextChange([
            Splice(at: 0, removed: "a", inserted: "x"), Splice(at: 1, removed: "b", inserted: "b"),
        ])
        #expect(same.splices == [Splice(at: 0, removed: "a", inserted: "x")])
        // The text between them is gone: a word that moved over it has not moved.
        let moved = try TextChange([
            Splice(at: 0, removed: "a", inserted: ""), Splice(at: 2, removed: "", inserted: "a"),
        ])
        let gone = try TextChange([Splice(at: 1, removed: "x", inserted: "")])
        #expect(moved.transformed(over: gone, as: .later).isIdentity)
    }

    // MARK: Places

    @Test func aPlaceIsCarriedAlong() throws {
        let change = try TextChange([
            Splice(at: 2, removed: "cd", inserted: "xyz"), Splice(at: 6, removed: "", inserted: "++"),
        ])
        // a b c d e f g -> a b x y z e f + + g
        let expected: [(Side, [Int])] = [(.before, [0, 1, 2, 5, 5, 6, 7, 10]), (.after, [0, 1, 2, 5, 5, 6, 9, 10])]
        for (side, places) in expected { #expect((0...7).map { change.mapped($0, side) } == places) }
    }
}

extension String {
    fileprivate func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
