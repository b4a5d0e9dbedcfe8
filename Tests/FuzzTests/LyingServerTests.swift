import HandCore
import HandSync
import HandWire
import Testing

/// A server that says what none may say: the client closes the connection or believes nonsense, and goes on running.
@Suite struct LyingServerTests {
    private struct Driven {
        var machine = ClientMachine(client: ClientID(high: 0, low: 1), person: "", program: "", seed: 1)

        init(lastSequence: UInt64 = 0) {
            machine.start()
            machine.connected(now: 0)
            hear(
                .welcome(
                    .init(
                        version: 1, capabilities: [], author: 1, idleDeadline: 45_000, frameBytes: 1 << 20,
                        program: "")))
            machine.open("a")
            hear(subscribed(lastSequence: lastSequence, .snapshot(revision: 0, count: 0, digest: 0)))
        }

        func subscribed(lastSequence: UInt64, _ start: DownMessage.Subscribed.Start) -> DownMessage {
            .subscribed(
                .init(request: 1, list: 1, logID: 5, rules: Rules(), lastSequence: lastSequence, start: start))
        }

        mutating func hear(_ message: DownMessage) {
            message.frame.withUnsafeBytes { machine.received($0, now: 0) }
        }

        mutating func edit() throws {
            try machine.edit("a", Delta.inserting([note(2)], at: 0, .after))
        }

        var replica: Replica? { machine.subscriptions["a"]?.replica }
    }

    @Test func theLastSequenceOfAllWasUsed() throws {
        var driven = Driven(lastSequence: .max)
        try driven.edit()
        driven.hear(driven.subscribed(lastSequence: .max, .resumed(head: 0)))
        #expect(driven.machine.isReady)
        #expect(driven.replica?.brokenInvariant() == nil)
    }

    @Test func sequencesThatNobodyCanHave() throws {
        var driven = Driven()
        try driven.edit()
        driven.hear(.stale(list: 1, sequence: 0, head: 0))
        driven.hear(.rejected(list: 1, sequence: 0, .notStored))
        driven.hear(.acknowledged(list: 1, sequence: .max, revision: 0))
        #expect(driven.machine.isReady)
        #expect(driven.replica?.brokenInvariant() == nil)
    }

    /// The difference to a list in which an item is there twice was no delta.
    @Test func aSnapshotWithOneItemTwice() throws {
        var driven = Driven()
        let first = Hand([note(1), note(3)])
        driven.hear(driven.subscribed(lastSequence: 0, .snapshot(revision: 1, count: 2, digest: first.digest)))
        driven.hear(.chunk(request: 1, items: first))
        try driven.edit()
        let twice = Hand([note(3), note(1), note(3, "x"), note(1), note(1)])
        driven.hear(driven.subscribed(lastSequence: 0, .snapshot(revision: 2, count: 5, digest: twice.digest)))
        driven.hear(.chunk(request: 1, items: twice))
        let replica = try #require(driven.replica)
        #expect(replica.confirmed == twice)
        #expect(try replica.pending.reduce(replica.confirmed) { try $0.applying($1) } == replica.view)
    }

    @Test func theDifferenceOfListsWithItemsTwice() throws {
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
