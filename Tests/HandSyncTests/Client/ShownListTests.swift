import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What the user of a list is shown, and how changes are joined until then.
@Suite struct ShownListTests {
    private static func state(_ replica: Replica, isLoaded: Bool = true) -> ListState {
        ListState(replica, isLoaded: isLoaded, isLive: isLoaded)
    }

    private static func items(_ numbers: ClosedRange<UInt64>) -> Hand {
        Hand(numbers.map { Item(id: ItemID(rawValue: $0), content: .note("\($0)")) })
    }

    /// The shown changes lead from each shown view to the next, whenever the user looks; each own edit is shown alone,
    /// and what others did between two own edits is shown at once.
    @Test func changesLeadFromViewToView() throws {
        for round in 0..<60 {
            var chaos = Chaos(seed: testSeed(91) &+ UInt64(round))
            var world = TestNetwork(tasks(5), replicas: 2)
            var shown = ShownList(Self.state(world.replicas[0]))
            var (others, edits) = (0, 0)
            for _ in 0..<40 {
                if chaos.random.next(below: 3) == 0 {
                    let view = world.replicas[0].view
                    let delta = chaos.edit(on: view).fitting(view)
                    try world.edit(0, delta)
                    shown.add(Self.state(world.replicas[0]), Replica.Update(Retraction(delta: delta), in: view))
                    edits += delta.isIdentity ? 0 : 1
                } else {
                    let view = world.replicas[1].view
                    try world.edit(1, chaos.edit(on: view).fitting(view))
                    let before = world.replicas[0].view
                    try world.settle()
                    let after = world.replicas[0].view
                    let delta = Delta(from: before, to: after)
                    shown.add(Self.state(world.replicas[0]), Replica.Update(delta: delta))
                    others += delta.isIdentity ? 0 : 1
                }
                guard chaos.random.next(below: 8) == 0 else { continue }
                try show(&shown, edits, others)
                (others, edits) = (0, 0)
                #expect(shown.state == Self.state(world.replicas[0]))
            }
        }
    }

    private func show(_ shown: inout ShownList, _ edits: Int, _ others: Int) throws {
        var (own, joined) = (0, 0)
        var view = shown.state.view
        while let update = shown.next() {
            view = try view.applying(update.delta)
            #expect(view == shown.state.view)
            if update.delta.isIdentity { continue }
            if update.origin == .own { own += 1 } else { joined += 1 }
        }
        #expect(own == edits && joined <= min(others, edits + 1))
    }

    /// A list that is seen for the first time is not a change; a list that is loaded again is the change that it is,
    /// and stays as it was until its items are there.
    @Test func aListIsLoadedAgain() throws {
        var shown = ShownList()
        var replica = Replica()
        let update = replica.reset(to: Self.items(1...4), revision: 4, logID: 1, lastSequence: 0)
        shown.add(Self.state(replica), update)
        #expect(shown.next()?.delta == .identity)
        #expect(shown.state.view.count == 4 && shown.next() == nil)
        // The list is opened anew, without a copy.
        replica = Replica()
        shown.add(Self.state(replica, isLoaded: false), Replica.Update())
        #expect(shown.isUpToDate && shown.state.view.count == 4)
        let again = replica.reset(to: Self.items(2...6), revision: 9, logID: 1, lastSequence: 0)
        shown.add(Self.state(replica), again)
        let change = shown.next()?.delta ?? .identity
        #expect(try Self.items(1...4).applying(change) == Self.items(2...6))
        // The list is opened anew from a copy that has other items.
        let copy = Replica(confirmed: Self.items(5...8), revision: 12, logID: 1, sequence: 0)
        shown.add(Self.state(copy), Replica.Update())
        let jump = shown.next()?.delta ?? .identity
        #expect(try Self.items(2...6).applying(jump) == Self.items(5...8))
    }

    /// Changes by several people have no author; those of one person have that person.
    @Test func joinedChangesHaveTheirAuthor() {
        let (one, two) = (Self.commit(by: 2, 1), Self.commit(by: 2, 2))
        for (third, origin) in [(Self.commit(by: 2, 3), Replica.Origin.author(2)), (Self.commit(by: 3, 3), .unknown)] {
            var shown = ShownList(Self.state(Replica(confirmed: Hand(), revision: 0, logID: 1, sequence: 0)))
            var list = Hand()
            for commit in [one, two, third] {
                list = (try? list.applying(commit.delta)) ?? list
                let replica = Replica(confirmed: list, revision: commit.revision, logID: 1, sequence: 0)
                shown.add(Self.state(replica), Replica.Update(.commit(commit), delta: commit.delta))
            }
            let update = shown.next()
            #expect(update?.origin == origin && update?.delta.insertedItems.count == 3 && shown.isUpToDate)
        }
    }

    private static func commit(by author: AuthorID, _ revision: Int) -> Commit {
        let item = Item(id: ItemID(rawValue: UInt64(revision)), content: .note("x"))
        return Commit(
            revision: revision, author: author, sequence: 1, base: 0, time: 0, count: revision, digest: 0,
            delta: .inserting([item], at: 0, .after))
    }
}
