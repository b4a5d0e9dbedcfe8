import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// When items came into a list, read from its history.
@Suite struct ArrivalTests {
    /// Reads the arrivals from a server that has the commits from `oldest` on, and answers with short pages. Returns them
    /// with the number of requests.
    private static func arrivals(
        _ log: [Commit], from oldest: Int = 1, pages: Int = 100, of items: some Sequence<ItemID>
    ) -> (found: [ItemID: Int], requests: Int) {
        var (arrivals, count) = (ArrivalPages(of: "list", items, at: log.count), 0)
        while let request = arrivals.request {
            guard case .history(_, _, let first, let limit) = request(1) else { break }
            let start = max(first, oldest) - 1
            arrivals.take(.history(Array(log[start...].prefix(min(limit, pages))), people: []))
            count += 1
        }
        return (arrivals.revisions, count)
    }

    private static func log(_ deltas: [Delta]) -> [Commit] {
        deltas.enumerated().map {
            Commit(
                revision: $0 + 1, author: 1, sequence: SequenceNumber(UInt64($0 + 1)), base: $0, time: 0, count: 0,
                digest: 0, delta: $1)
        }
    }

    private static func insertion(_ id: UInt64) -> Delta {
        .inserting([Item(id: ItemID(rawValue: id), content: .note("\(id)"))])
    }

    @Test func eachItemHasTheRevisionOfItsLastInsertion() {
        // Item 1 was deleted and came back; item 9 never came.
        var deltas = (1...2_500).map { Self.insertion(UInt64($0)) }
        deltas += [.deleting(0..<1), Self.insertion(1)]
        let (found, requests) = Self.arrivals(Self.log(deltas), of: [1, 2, 1_500, 9_999].map { ItemID(rawValue: $0) })
        #expect(
            found == [
                ItemID(rawValue: 1): 2_502, ItemID(rawValue: 2): 2, ItemID(rawValue: 1_500): 1_500,
                ItemID(rawValue: 9_999): 0,
            ])
        #expect(requests == 26)
    }

    /// If the server forgets commits between two pages, only those after the gap follow each other.
    @Test func commitsBeforeAGapAreNotReturned() {
        let log = Self.log((1...900).map { Self.insertion(UInt64($0)) })
        var pages = CommitPages(of: "list", from: 1, through: 900)
        pages.take(.history(Array(log[0..<400]), people: []))
        pages.take(.history(Array(log[599..<900]), people: []))
        #expect(pages.commits.map(\.revision) == Array(600...900) && pages.request == nil)
    }

    /// If the server has forgotten all that is asked for, its answer begins with the first commit that it has.
    @Test func commitsAfterTheLastOneAreNotReturned() {
        let log = Self.log((1...30).map { Self.insertion(UInt64($0)) })
        for (oldest, found) in [(13, [13, 14, 15]), (20, [])] {
            var pages = CommitPages(of: "list", from: 8, through: 15)
            pages.take(.history(Array(log[(oldest - 1)...].prefix(8)), people: []))
            #expect(pages.commits.map(\.revision) == found && pages.request == nil)
        }
    }

    /// What was added lately needs no old commits; what the server has forgotten ends the search.
    @Test func onlyWhatIsNeededIsRead() {
        let log = Self.log((1...5_000).map { Self.insertion(UInt64($0)) })
        let recent = Self.arrivals(log, pages: 1_000, of: [ItemID(rawValue: 4_999)])
        #expect(recent.requests == 1 && recent.found == [ItemID(rawValue: 4_999): 4_999])
        let forgotten = Self.arrivals(log, from: 3_500, pages: 1_000, of: [1, 3_600].map { ItemID(rawValue: $0) })
        #expect(forgotten.found == [ItemID(rawValue: 1): 0, ItemID(rawValue: 3_600): 3_600])
        #expect(Self.arrivals(log, of: []).requests == 0)
    }
}
