import HandCore
import HandSimulation
import HandTestSupport
import Testing

@Suite struct ItemTests {
    @Test func idsReadBackFromTheirText() throws {
        var random = SplitMix64(seed: 1)
        for id in (0..<200).map({ _ in ItemID.random(using: &random) }) + [ItemID(rawValue: 0), ItemID(rawValue: .max)]
        {
            #expect(id.description.count == ItemID.textLength)
            #expect(ItemID(id.description) == id)
            for length in 1...ItemID.textLength {
                let range = try #require(ItemID.range(ofPrefix: String(id.description.prefix(length)).uppercased()))
                #expect(range.contains(id))
            }
        }
        #expect(ItemID("0000000000001") == nil, "the last digit has only four bits")
        #expect(ItemID.range(ofPrefix: "") == nil)
        #expect(ItemID.range(ofPrefix: "u") == nil)
        #expect(ItemID.range(ofPrefix: "o") == ItemID.range(ofPrefix: "0"))
    }

    @Test func cardsHaveNumbersAndNames() {
        for code in UInt8(0)...52 {
            let card = Card(code: code)
            #expect(card?.code == code)
            #expect(card.flatMap { Card($0.description) } == card)
        }
        #expect(Card(code: 53) == nil)
        #expect(Card("10h") == .faceUp(.ten, .hearts))
        #expect(Card("1h") == nil)
        #expect(Card("") == nil)
    }

    @Test func changesOfDifferentFieldsBothCount() throws {
        let task = Content.task("milk", done: false)
        let merged = Change(text: "milk", to: "oat milk").followed(by: Change(done: true))
        #expect(try task.applying(merged) == .task("oat milk", done: true))
        #expect(task.inverse(of: merged) == Change(text: "oat milk", to: "milk", done: false))
        #expect(throws: Change.Misfit.fieldsDoNotExist(.url, of: .task)) {
            try task.applying(Change(url: TextChange(from: "", to: "x")))
        }
        let (a, b) = (Change(text: "milk", to: "a", done: true), Change(text: "milk", to: "b"))
        #expect(a.transformed(over: b, as: .earlier) == Change(done: true))
        #expect(b.transformed(over: a, as: .later) == Change(text: "a", to: "b"))
        #expect(Change(from: task, to: .task("milk", done: true)) == Change(done: true))
        #expect(Change(from: task, to: .note("milk")) == nil)
        #expect(merged.fields.names == ["text", "done"])
    }

    @Test func contentIsComparedByBytes() {
        #expect(Content.note("e\u{301}") != Content.note("\u{e9}"))
        #expect(Change(from: .note("e\u{301}"), to: .note("\u{e9}")) == Change(text: "e\u{301}", to: "\u{e9}"))
    }

    @Test func aDeckDealsEachCardOnce() {
        var deck = Deck(seed: 5)
        #expect(deck == Deck(seed: 5))
        #expect(deck != Deck(seed: 6))
        var dealt: [Card] = []
        while let card = deck.deal() { dealt.append(card) }
        #expect(Set(dealt).count == 52)
        deck.putUnder(dealt[0])
        deck.putUnder(dealt[1])
        deck.putUnder(dealt[1])
        deck.putUnder(.faceDown)
        #expect(deck.count == 2)
        let isTaken = deck.take(dealt[1])
        let isTakenAgain = deck.take(dealt[1])
        #expect(isTaken && !isTakenAgain)
        let next = deck.deal()
        #expect(next == dealt[0])
    }

    @Test func rulesSayWhyNot() {
        let hand = Hand(tasks(5).map { Item(id: $0.id, content: .card(.faceDown)) }, rules: .fiveCards)
        #expect(hand.violation(inserting: .card(.faceDown)) == .listFull(maximum: 5))
        let four = Hand(hand.dropLast(), rules: hand.rules)
        #expect(four.violation(inserting: .card(.faceDown)) == nil)
        #expect(four.violation(inserting: .note("x")) == .kindNotAllowed(.note))
        let small = Rules(maximumSize: 3)
        #expect(small.violation(of: .note("éé")) == .itemTooLarge(size: 4, maximum: 3))
    }

    /// The digest is the polynomial that `Digest` defines, computed here without the tree.
    @Test func theDigestIsThePolynomial() {
        var chaos = Chaos(seed: 9)
        let items = chaos.items(300)
        let plain = items.reduce(UInt64(0)) { Digest.add(Digest.multiply($0, Digest.base), $1.hash) }
        #expect(Hand(items).digest == plain)
        #expect(Hand(Array(items.reversed())).digest != plain)
        #expect(Hand().digest == 0)
        #expect(Digest.multiply(Digest.modulus - 1, Digest.modulus - 1) == 1)
        #expect(Digest.multiply(Digest.base, Digest.inverseOfBase) == 1)
    }
}
