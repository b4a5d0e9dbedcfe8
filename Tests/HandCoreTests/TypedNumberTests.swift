import HandCore
import HandTestSupport
import Testing

@Suite struct TypedNumberTests {
    @Test func numbersAreKeys() {
        var keys = Set((0..<1_000).map(AuthorID.init))
        #expect(keys.count == 1_000 && keys.contains(999) && !keys.contains(1_000))
        keys.remove(3)
        #expect(!keys.contains(3) && keys.count == 999)
    }

    /// Numbers that differ in a few bits only, as counters and multiples of large powers of two do, spread over the
    /// buckets.
    @Test(arguments: [0, 8, 16, 32, 48], [0, 7, 8]) func similarNumbersSpread(shift: UInt64, seed: Int) {
        let count = 4_096
        let numbers = (0..<UInt64(count)).map { AuthorID(rawValue: $0 << shift) }
        let buckets = Set(numbers.map { $0._rawHashValue(seed: seed) & (count - 1) })
        // Thrown at random, as many balls leave 37 % of the buckets empty.
        #expect(buckets.count > count / 2, "\(buckets.count) of \(count)")
    }

    /// A table of another size has another order, so that filling one from another does not collide again and again.
    @Test func seedsChangeTheHash() {
        let key: AuthorID = 12_345
        #expect(Set((0..<64).map { key._rawHashValue(seed: 2 * $0) }).count == 64)
    }
}
