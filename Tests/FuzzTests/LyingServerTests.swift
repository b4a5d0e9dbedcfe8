import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A server that sends what no server may send: the client closes the connection or believes nonsense, and keeps
/// running.
@Suite struct LyingServerTests {
    private static func follower(lastSequence: SequenceNumber = 0) -> DrivenClient {
        var client = DrivenClient()
        client.connect()
        client.perform { $0.open("a") }
        client.begin(1, lastSequence: lastSequence)
        return client
    }

    @Test func theLargestSequenceMayBeUsed() throws {
        var driven = Self.follower(lastSequence: 9_007_199_254_740_991)
        try driven.edit()
        driven.enter(1, lastSequence: 9_007_199_254_740_991, .resumed(at: 0))
        #expect(driven.machine.isReady)
        #expect(driven.replica?.brokenInvariant() == nil)
    }

    @Test func impossibleSequencesAreSurvived() throws {
        var driven = Self.follower()
        try driven.edit()
        driven.hear(.rejected(list: 1, sequence: 0, .notStored))
        driven.hear(.acknowledged(list: 1, sequence: 9_007_199_254_740_991, revision: 0))
        #expect(driven.machine.isReady)
        #expect(driven.replica?.brokenInvariant() == nil)
    }

    /// The difference to a list with a repeated item was not a delta.
    @Test func aSnapshotWithARepeatedItemIsSurvived() throws {
        var driven = Self.follower()
        let first = Hand([note(1), note(3)])
        driven.begin(1, first, revision: 1)
        try driven.edit()
        let twice = Hand([note(3), note(1), note(3, "x"), note(1), note(1)])
        driven.begin(1, twice, revision: 2)
        let replica = try #require(driven.replica)
        #expect(replica.confirmed == twice)
        #expect(try replica.pending.reduce(replica.confirmed) { try $0.applying($1) } == replica.view)
    }

    @Test func listsWithRepeatedItemsHaveADifference() throws {
        let few = [note(1), note(2), note(1), note(3)]
        let lists = [few, Array(few.reversed()), few + few, [note(1, "x"), note(1), note(2)], []]
        for old in lists {
            for new in lists {
                #expect(try Hand(old).applying(Delta(from: old, to: new)) == Hand(new))
            }
        }
    }
}

private func note(_ id: UInt64, _ text: String = "n") -> Item {
    Item(id: ItemID(rawValue: id * 2), content: .note(text))
}

extension DrivenClient {
    fileprivate mutating func edit() throws {
        try perform { try $0.edit("a", Delta.inserting([note(2)], at: 0, .after)) }
    }

    fileprivate var replica: Replica? { machine.subscriptions["a"]?.replica }
}
