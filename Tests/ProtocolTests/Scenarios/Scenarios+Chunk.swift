import HandCore
import HandWire

/// A snapshot arrives.
extension Scenarios {
    static let chunk: [Scenario] = [
        Scenario("chunk: one that nobody asked for", ["a"]) {
            $0.follow()
            $0.chunk(Array($0.hand))
        },
        Scenario("chunk: another list, on which nothing can be undone", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.accept()
            $0.lose()
            ($0.list, $0.logID) = (9, 0x3_0000_0006)
            $0.connect()
            $0.snapshot()
            $0.undo()
        },
        Scenario("chunk: what is exact stays so in the same history", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.lose()
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: another history, what is exact and waits is taken back", ["a", "b"]) {
            $0.follow()
            $0.lose()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.insert("mine", at: 1)
            $0.logID = 0x9_0000_0005
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: the same revision with other commits", ["a"]) {
            $0.follow()
            $0.lose()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.hand = Hand([Item(id: ItemID(rawValue: 1), content: .note("other"))])
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: an item that was committed is gone already", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(.deleting(1..<2), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: the words of an item that was committed are others already", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(Self.reword(1, "mine", "theirs"), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: an item that was deleted is back", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1))
            $0.lose()
            let item = Array($0.hand)
            $0.accept(isSent: false)
            $0.commit(.inserting(item, at: 0, .after), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: a move and a field are overridden already") {
            $0.hand = Hand((1...4).map { Item(id: ItemID(rawValue: $0), content: .task("\($0)", done: false)) })
            $0.follow()
            $0.edit(.moving(0..<1, to: 4, .before))
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(.moving(3..<4, to: 0, .after), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
            $0.edit(.editing(at: 1, Change(done: true)))
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(.editing(at: 1, Change(done: false)), isSent: false)
            $0.connect()
            $0.snapshot(last: 2)
        },
        Scenario("chunk: items arrive in pieces", ["a", "b", "c"]) {
            $0.connect()
            $0.beginSnapshot()
            $0.chunk(Array($0.hand)[..<2])
            $0.chunk(Array($0.hand)[2...])
        },
        Scenario("chunk: the snapshot arrives damaged", ["a", "b"]) {
            $0.connect()
            $0.beginSnapshot()
            $0.chunk(Array($0.hand).reversed())
        },
        Scenario("chunk: what is in flight is in a list that was restored from a backup", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.logID += 1 << 32
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: what is in flight was refused before the list was restored from a backup", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.logID += 1 << 32
            $0.connect()
            $0.snapshot(last: 1, isRefused: true)
        },
        Scenario("chunk: what is in flight is in the snapshot", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.insert("waits", at: 2)
            $0.lose()
            $0.accept(isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
        Scenario("chunk: what is in flight was refused", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.refuse(.storeFull(limit: 1), isSent: false)
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot(last: 1, isRefused: true)
        },
        Scenario("chunk: what is in flight is not in the snapshot", ["a", "b"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.commit(.deleting(0..<1), isSent: false)
            $0.others("theirs", at: 1, isSent: false)
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: a later sequence is used, and the item in flight is there", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.accept(isSent: false)
            $0.connect()
            $0.snapshot(last: 4)
            $0.insert("next", at: 0)
        },
        Scenario("chunk: a later sequence is used, and the item in flight is not there", ["a"]) {
            $0.follow()
            $0.insert("mine", at: 1)
            $0.lose()
            $0.others("theirs", at: 0, isSent: false)
            $0.connect()
            $0.snapshot(last: 4)
        },
        Scenario("chunk: another history of the same list", ["a"]) {
            $0.follow()
            $0.others("lost", at: 0)
            $0.insert("mine", at: 2)
            $0.lose()
            $0.logID = 0x9_0000_0005
            $0.commit(.deleting(0..<1), isSent: false)
            $0.connect()
            $0.snapshot(last: 0)
        },
        Scenario("chunk: another history, what is exact is taken back", ["a"]) {
            $0.follow()
            $0.edit(.deleting(0..<1), isExact: true)
            $0.lose()
            $0.logID = 0x9_0000_0005
            $0.connect()
            $0.snapshot()
        },
        Scenario("chunk: what was committed is overridden already", ["a", "b"]) {
            $0.follow()
            $0.edit(.editing(at: 0, Change(text: "a", to: "mine")))
            $0.lose()
            $0.accept(isSent: false)
            $0.commit(Self.reword(0, "mine", "theirs"), isSent: false)
            $0.connect()
            $0.snapshot(last: 1)
        },
    ]
}
