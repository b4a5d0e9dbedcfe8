import HandCore
import HandSimulation
import HandTestSupport
import Testing

@Suite struct TreeTests {
    @Test func editsOfOneElementAgreeWithAnArray() {
        var chaos = Chaos(seed: 11)
        var array: [Item] = []
        var tree = SummaryTree<PackedItem>()
        for step in 0..<6000 {
            let shrinking = step > 4500
            if array.isEmpty || chaos.random.next(below: 10) < (shrinking ? 1 : 6) {
                let index = chaos.random.next(below: array.count + 1)
                let item = chaos.item()
                array.insert(item, at: index)
                tree.insert(PackedItem(item), at: index)
            } else {
                let index = chaos.random.next(below: array.count)
                let removed = tree.remove(at: index).item
                #expect(removed == array.remove(at: index))
            }
            if step % 500 == 0 { #expect(tree.brokenInvariant(sumsAreEqual: ==) == nil) }
        }
        #expect(tree.map(\.item) == array)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 130, 2048, 2049, 5000])
    func splitAndJoinKeepOrderAndInvariants(count: Int) {
        let items = tasks(count)
        let tree = SummaryTree(items.map(PackedItem.init))
        #expect(tree.brokenInvariant(sumsAreEqual: ==) == nil)
        for cut in Set([0, 1, count / 3, count / 2, count - 1, count]) where cut >= 0 && cut <= count {
            let (left, right) = tree.split(at: cut)
            #expect(left.map(\.item) == Array(items[..<cut]))
            #expect(right.map(\.item) == Array(items[cut...]))
            for joined in [left + right, right + left] {
                #expect(joined.brokenInvariant(sumsAreEqual: ==) == nil)
                #expect(joined.count == count)
            }
            #expect((left + right).summary == tree.summary)
        }
    }

    @Test func aCopyIsNotTouchedByEditsOfTheOther() throws {
        let hand = Hand(tasks(1000))
        var copy = hand
        for _ in 0..<500 { copy = try copy.applying(.deleting(copy.count / 2..<copy.count / 2 + 1)) }
        #expect(hand == Hand(tasks(1000)))
        #expect(copy.count == 500)
    }

    @Test func handIsACollection() {
        let hand = Hand(tasks(500))
        #expect(hand.index(of: ItemID(rawValue: 400)) == 399)
        #expect(hand.index(of: ItemID(rawValue: 501)) == nil)
        #expect(hand.items(in: 100..<103).map(\.id.rawValue) == [101, 102, 103])
        #expect(hand[499] == tasks(500)[499])
    }
}
