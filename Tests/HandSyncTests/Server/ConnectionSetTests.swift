import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Places of connections are used again; ids are not.
@Suite struct ConnectionSetTests {
    private static func connection(_ id: ConnectionID) -> Connection {
        Connection(
            id: id, stream: TestStream(TestWorld()),
            session: ServerSession(ServerSession.Terms(limits: Limits(), program: ""), now: 0))
    }

    @Test func aPlaceIsUsedAgainButNotAnID() {
        var set = ConnectionSet()
        let members = (0..<4).map { _ in set.add(Self.connection) }
        #expect(members.map(\.number) == [1, 2, 3, 4])
        let removals = [set.remove(members[1]), set.remove(members[1])]
        #expect(removals == [true, false])
        let next = set.add(Self.connection)
        #expect(next.number == 5 && next.id.rawValue > members[3].id.rawValue)
        #expect(set[members[1].id] == nil && set[next.id] === next && set[members[3].id] === members[3])
        #expect(!set.contains(members[1]) && set.count == 4)
        // It stands where the removed one stood.
        #expect(set.map(\.number) == [1, 5, 3, 4])
        for member in [members[0], next, members[2], members[3]] { set.remove(member) }
        #expect(set.isEmpty && set[next.id] == nil && set.map(\.number) == [])
        let last = set.add(Self.connection)
        #expect(last.number == 6)
    }

    @Test func membersAreFoundAfterManyChanges() {
        var random = SplitMix64(seed: 7)
        var set = ConnectionSet()
        var (here, gone): ([Connection], [Connection]) = ([], [])
        for _ in 0..<2_000 {
            if here.isEmpty || Bool.random(using: &random) {
                here.append(set.add(Self.connection))
            } else {
                let leaving = here.remove(at: Int.random(in: 0..<here.count, using: &random))
                set.remove(leaving)
                gone.append(leaving)
            }
            #expect(set.count == here.count)
        }
        #expect(set.map(\.id.rawValue).sorted() == here.map(\.id.rawValue))
        #expect(here.allSatisfy { set[$0.id] === $0 })
        #expect(gone.allSatisfy { set[$0.id] == nil })
    }
}
