import HandCore
import HandSync
import Testing

/// Edits that wait in several copies of one list, shown together.
@Suite struct JoinedCopiesTests {
    private static func item(_ number: UInt64) -> Item {
        Item(id: ItemID(rawValue: number), content: .note("n\(number)"))
    }

    private func copy(_ items: ClosedRange<UInt64>, _ revision: Int, log: UInt64 = 8) -> Replica {
        Replica(confirmed: Hand(items.map(Self.item)), revision: revision, logID: log, sequence: 0)
    }

    @Test func pendingEditsOfAllCopiesAreShown() throws {
        var newest = copy(1...4, 9)
        try newest.edit(.deleting(1..<2))
        // Has not seen item 4.
        var older = copy(1...3, 5)
        try older.edit(.inserting([Self.item(10)], at: 3, .after))
        try older.edit(.deleting(0..<1), isExact: true)
        // Without pending edits, a copy has nothing to add.
        let idle = copy(1...2, 1)
        let ids = newest.view(with: [idle, older]).map(\.id.rawValue)
        #expect(Set(ids) == [3, 4, 10] && ids.first == 3)
    }

    @Test func anotherListHasNothingToAdd() throws {
        let mine = copy(1...2, 9)
        var other = copy(1...2, 9, log: 4_711 << 32)
        try other.edit(.deleting(0..<1))
        #expect(mine.view(with: [other]) == mine.view)
    }
}
