import HandCore
import HandFormats
import Testing

@Suite struct ItemOrderTests {
    private static func sorted(_ contents: [Content], _ order: ItemOrder, reversed: Bool = false) throws -> [String] {
        let hand = Hand(contents.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) })
        return try hand.applying(order.sorting(hand, isReversed: reversed)).map { "\($0.content.text)" }
    }

    @Test(arguments: [
        ("b a C", "a b C"), ("Zebra apfel Äpfel Azur", "apfel Äpfel Azur Zebra"),
        ("item10 item9 item09 item1", "item1 item9 item09 item10"), ("item10 item009", "item009 item10"),
        ("éb eb ea", "ea éb eb"), ("2l 10l 1l", "1l 2l 10l"), ("v1.10 v1.9 v1", "v1 v1.9 v1.10"), ("ß z a", "a z ß"),
        ("a0b a00c a", "a a0b a00c"), ("99999999999999999999999 1", "1 99999999999999999999999"),
    ])
    func textsAreInTheOrderOfPeople(before: String, after: String) throws {
        let words = before.split(separator: " ").map { Content.note(String($0)) }
        #expect(try Self.sorted(words, .text).joined(separator: " ") == after)
    }

    @Test func tickedTasksComeLast() throws {
        let contents: [Content] = [.task("a", done: true), .note("b"), .task("c", done: false), .task("d", done: true)]
        #expect(try Self.sorted(contents, .done) == ["b", "c", "a", "d"])
        #expect(try Self.sorted(contents, .done, reversed: true) == ["a", "d", "b", "c"])
    }

    @Test func whatIsDueComesFirst() throws {
        let texts = ["none", "b due:2026-12-01", "due:2026-02-30x no", "due:2025-01-31 a", "x due:2026-12-01 y"]
        #expect(
            try Self.sorted(texts.map { .task($0, done: false) }, .due)
                == ["due:2025-01-31 a", "b due:2026-12-01", "x due:2026-12-01 y", "none", "due:2026-02-30x no"])
    }

    @Test func cardsAreSortedBySuitAndRank() throws {
        let cards = ["Q♠", "10♥", "2♥", "A♣"].compactMap { Card($0) }
        let hand = Hand(cards.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: .card($1)) })
        let sorted = try hand.applying(ItemOrder.text.sorting(hand))
        #expect(sorted.map(\.content) == ["A♣", "2♥", "10♥", "Q♠"].compactMap { Card($0).map { .card($0) } })
    }

    /// The page sorts the same texts in the same order (`Tests/WebTests/view.test.mjs`).
    @Test func textsAreSortedForPeople() throws {
        let texts = [
            "ß", "Zebra", "_x", "(y)", "10", "9", "1.5", "éa", "E\u{301}b", "ea", "007", "7", "ss", "ς", "Σ", "😀",
            "\u{FFEE}",
        ]
        let hand = Hand(texts.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: .note($1)) })
        let sorted = try hand.applying(ItemOrder.text.sorting(hand)).map(\.content.text)
        #expect(sorted.joined(separator: " ") == "(y) 1.5 007 7 9 10 _x éa ea E\u{301}b ss Zebra ß ς Σ \u{FFEE} 😀")
    }

    /// Neither case nor the composition of letters matters, and many marks cost no more than many letters.
    @Test func textsAreFound() {
        for (text, query, isFound) in [
            ("KÄSE", "ka\u{308}se", true), ("ka\u{308}se", "Käse", true), ("ΣΊΣΥΦΟΣ", "σίσυφος", true),
            ("a 👨‍👩‍👧 b", "👨", true), ("kase", "käse", false), ("Milk", "mILk", true), ("Milk", "", true),
            ("m", "milk", false),
        ] { #expect(TextSearch(query).isFound(in: text) == isFound, "\(query) in \(text)") }
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        #expect(TextSearch("B").isFound(in: "a" + marks + "b") && !TextSearch("c").isFound(in: "a" + marks + "b"))
    }

    /// An item without a revision came after those that were looked up.
    @Test func theNewestComeFirst() throws {
        let hand = Hand((1...5).map { Item(id: ItemID(rawValue: $0), content: .note("\($0)")) })
        let arrivals = [1: 7, 2: 0, 3: 9, 4: 7].map { (ItemID(rawValue: UInt64($0.key)), $0.value) }
        let delta = ItemOrder.newest.sorting(hand, arrivals: Dictionary(uniqueKeysWithValues: arrivals))
        #expect(try hand.applying(delta).map(\.content.text) == ["5", "3", "1", "4", "2"])
    }
}
