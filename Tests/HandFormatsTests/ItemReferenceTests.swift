import HandCore
import HandFormats
import HandTestSupport
import HandWire
import Testing

/// Items and places as people name them.
@Suite struct ItemReferenceTests {
    /// Ids that share their first two characters, and one that shares none with them.
    private static let list = Hand(
        [(0 as UInt64) << 59 | 1 << 54 | 1 << 49, 0 << 59 | 1 << 54 | 2 << 49, 3 << 59].map {
            Item(id: ItemID(rawValue: $0), content: .note("n"))
        })

    private func position(_ text: String) throws(ItemReference.Problem) -> Int {
        try ItemReference(text).position(in: Self.list)
    }

    @Test func itemsByTheirNumbers() throws {
        #expect(try (1...3).map { try position("\($0)") } == [0, 1, 2])
        for text in ["0", "4"] {
            #expect(throws: ItemReference.Problem.outOfRange(Int(text)!, count: 3)) { try position(text) }
        }
        for text in ["-1", "+1", "", "@", "not an id", "u"] {
            #expect(throws: ItemReference.Problem.notAReference(text)) { try position(text) }
        }
    }

    @Test func rangesHaveABound() throws {
        #expect(try ItemReference.all(["2-4", "7"]) == [2, 3, 4, 7].map { .index($0) })
        #expect(try ItemReference.all(["1-1000000"]).count == 1_000_000)
        #expect(throws: ItemReference.Problem.tooWide("1-1000001")) { try ItemReference.all(["1-1000001"]) }
        #expect(throws: ItemReference.Problem.tooWide("1-\(Int.max)")) { try ItemReference.all(["1-\(Int.max)"]) }
        #expect(throws: ItemReference.Problem.notARange("4-2")) { try ItemReference.all(["4-2"]) }
    }

    /// The length of short ids is just enough to distinguish all ids of a list, even if they are not random.
    @Test func idsAreToldApart() {
        var random = SplitMix64(seed: testSeed(31))
        for round in 0..<300 {
            let close = round % 3 == 0
            let ids = Set((0..<round).map { _ in close ? (random.next() >> 50) << UInt64(round % 50) : random.next() })
                .map(ItemID.init(rawValue:))
            let length = ShortID.length(of: ids)
            func areTold(_ length: Int) -> Bool {
                Set(ids.map { String($0.description.prefix(length)) }).count == ids.count
            }
            #expect(areTold(length) && (length == 4 || !areTold(length - 1)), "\(ids.count)")
        }
    }

    /// An id that is printed is never taken for a number.
    @Test func aPrintedIDNamesItsItem() throws {
        for text in ["1100aaaaaaaac", "0123aaaaaaaac", "2049abcdefgh0", "a100aaaaaaaac", "1234567890124"] {
            let id = try #require(ItemID.range(ofPrefix: text)).lowerBound
            for length in 4...ItemID.textLength {
                let printed = ShortID.text(of: id, length: length)
                #expect(try ItemReference(printed) == .prefix(String(text.prefix(length))), "\(printed)")
            }
        }
        #expect(
            ShortID.text(of: try #require(ItemID.range(ofPrefix: "1100aaaaaaaac")).lowerBound, length: 4) == "@1100")
    }

    @Test func itemsByTheBeginningOfTheirIDs() throws {
        let ids = Self.list.map { "\($0.id)" }
        for (index, id) in ids.enumerated() { #expect(try position("@" + id) == index) }
        let shared = String(ids[0].prefix(2))
        #expect(ids[1].hasPrefix(shared) && !ids[2].hasPrefix(shared))
        #expect(throws: ItemReference.Problem.ambiguous(shared, matches: 2)) { try position("@" + shared) }
        #expect(try position("@" + ids[1].prefix(3)) == 1)
        #expect(try position("@" + ids[2].prefix(1)) == 2)
        #expect(throws: ItemReference.Problem.unknown("zz")) { try position("@zz") }
        #expect(ShortID.length(in: Self.list) == 4)
    }

    /// An id may begin with digits alone: with a leading zero they are no number, and a number that is too large may be
    /// an id.
    @Test func idsOfDigits() throws {
        #expect(try ItemReference("0002") == .prefix("0002") && ItemReference("002") == .index(2))
        #expect("\(ItemReference.Problem.outOfRange(9_858, count: 7))".hasSuffix("the start of an id, write @9858"))
        #expect("\(ItemReference.Problem.outOfRange(985, count: 7))" == "there is no item 985; the list has 7")
    }

    @Test func placesBecomeGapsInTheList() throws {
        func spot(_ place: Place, in list: Hand = Self.list) throws -> String {
            let (gap, side, level) = try place.spot(in: PartialList(list))
            return "\(side) \(gap) at \(level)"
        }
        #expect(try spot(.top) == "after 0 at 0" && spot(.end) == "before 3 at 0")
        #expect(try spot(.before(.index(2))) == "before 1 at 0" && spot(.after(.index(2))) == "after 2 at 0")
        #expect(throws: ItemReference.Problem.outOfRange(4, count: 3)) { try spot(.after(.index(4))) }
        // After an item is after its sub-items; levels are those that people see.
        let tree = Hand(
            zip(UInt64(1)..., [0, 1, 5, 1, 0]).map { Item(id: ItemID(rawValue: $0), level: $1, content: .note("")) })
        #expect(try spot(.after(.index(1)), in: tree) == "after 4 at 0")
        #expect(try spot(.after(.index(2)), in: tree) == "after 3 at 1")
        #expect(try spot(.before(.index(3)), in: tree) == "before 2 at 2")
    }
}
