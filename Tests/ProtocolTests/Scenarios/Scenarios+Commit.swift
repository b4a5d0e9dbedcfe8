import HandCore
import HandWire

/// A commit arrives: one's own, or somebody else's.
extension Scenarios {
    static let commit: [Scenario] = [
        Scenario("commit: one's own", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.accept()
        },
        Scenario("commit: one's own, after somebody else's", ["a", "b"]) {
            $0.follow()
            $0.insert("mine", at: 2)
            $0.others("theirs", at: 0)
            $0.accept()
        },
        Scenario("commit: one's own, and the next goes out", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("next", at: 1)
            $0.accept()
            $0.accept()
        },
        Scenario("commit: one's own, with the card that was dealt") {
            $0.hand = Hand([], rules: .fiveCards)
            $0.follow()
            $0.edit(.inserting([Item(id: ItemID(rawValue: 50), content: .card(.faceDown))], at: 0, .after))
            $0.commit(
                .inserting([Item(id: ItemID(rawValue: 50), content: .card(.faceUp(.queen, .spades)))], at: 0, .after),
                author: 1, sequence: 1)
        },
        Scenario("commit: one's own, refused", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("next", at: 0)
            $0.refuse(.storeFull(limit: 1))
        },
        Scenario("commit: somebody else's", ["a", "b"]) {
            $0.follow()
            $0.others("theirs", at: 1)
            $0.commit(.moving(0..<1, to: 3, .before))
        },
        Scenario("commit: somebody else's, refused", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.commit(.identity, refusal: .storeFull(limit: 1))
            $0.accept()
        },
        Scenario("commit: somebody else's, with edits in flight and waiting", ["a", "b"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.edit(.deleting(2..<3))
            $0.commit(Self.reword(1, "b", "B"))
            $0.others("theirs", at: 1)
            $0.accept()
            $0.accept()
        },
        Scenario("commit: one that is known", ["a"]) {
            $0.follow()
            $0.others("theirs", at: 1)
            $0.hear(.commit(list: 7, $0.commits[0]))
        },
        Scenario("commit: one is missing", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.revision = 2 }
            $0.snapshot()
        },
        Scenario("commit: the digest is another", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.wrongCommit { $0.digest = 12 }
            $0.others("theirs", at: 1)
            $0.snapshot()
        },
        Scenario("commit: the count is another", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.count = 12 }
        },
        Scenario("commit: one that does not fit", ["a"]) {
            $0.follow()
            $0.wrongCommit { $0.delta = .deleting(3..<4) }
        },
        Scenario("commit: while a snapshot arrives", ["a", "b"]) {
            $0.connect()
            $0.beginSnapshot()
            $0.wrongCommit { _ in }
            $0.chunk(Array($0.hand))
        },
        Scenario("commit: another edit under one's own sequence", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.commit(.deleting(0..<1), author: 1, sequence: 1)
            $0.accept()
        },
        Scenario("commit: another edit under one's own sequence, while catching up", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.commit(.deleting(0..<1), author: 1, sequence: 1, isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.resume(after: 0, last: 1)
        },
        Scenario("commit: one of one's own that is not in flight") {
            $0.hand = Hand([Item(id: ItemID(rawValue: 1), content: .task("a", done: false))])
            $0.follow()
            $0.edit(.editing(at: 0, Change(done: true)))
            $0.accept()
            $0.commit(.editing(at: 0, Change(done: false)), author: 1, sequence: 9, base: 0)
        },
        Scenario("commit: another edit under one's own sequence, after a snapshot", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.others("theirs", at: 1, isSent: false)
            $0.connect()
            $0.snapshot()
            $0.commit(
                .inserting([Item(id: ItemID(rawValue: 101), content: .note("mine"))], at: 2, .before), author: 1,
                sequence: 1)
            $0.snapshot(last: 1)
        },
    ]
}
