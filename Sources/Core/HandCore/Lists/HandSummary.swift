/// The count and digest of a run of items, and the base to the power of the count, which is needed for joining.
package struct HandSummary: Summary, Equatable {
    package let count: Int
    let digest: UInt64
    let power: UInt64

    package static let zero = HandSummary(count: 0, digest: 0, power: 1)

    package static func + (left: HandSummary, right: HandSummary) -> HandSummary {
        HandSummary(
            count: left.count + right.count,
            digest: Digest.multiply(left.digest, right.power, adding: right.digest),
            power: Digest.multiply(left.power, right.power))
    }

    /// The digest is D = P + x · Bᵏ + R: P is the contribution of the items before the part, x the part's own digest, k
    /// the number of items behind it, and R their digest. If the part becomes y, with d items more, D becomes P · Bᵈ +
    /// y · Bᵏ + R. One of P and R is computed from its items, and the other is what then remains of D.
    @inline(__always)
    package func replacing(
        _ old: HandSummary, by new: HandSummary, before: some RandomAccessCollection<HandSummary>,
        behind: some RandomAccessCollection<HandSummary>
    ) -> HandSummary {
        let growth = new.count - old.count
        if growth == 0 {
            let change = Digest.subtract(new.digest, old.digest)
            let power = Digest.power(behind.reduce(0) { $0 + $1.count })
            return HandSummary(count: count, digest: Digest.multiply(change, power, adding: digest), power: self.power)
        }
        precondition(abs(growth) == 1, "one item comes or goes at a time")
        let ratio = growth > 0 ? Digest.base : Digest.inverseOfBase
        let isFront = before.count < behind.count
        let fewer = isFront ? Self.joined(before) : Self.joined(behind)
        let scale = Digest.power(isFront ? count - old.count - fewer.count : fewer.count)
        let rest = Digest.subtract(digest, Digest.multiply(old.digest, scale))
        let share =
            isFront
            ? Digest.multiply(fewer.digest, Digest.multiply(old.power, scale)) : Digest.subtract(rest, fewer.digest)
        let own = Digest.multiply(new.digest, scale)
        return HandSummary(
            count: count + growth,
            digest: Digest.add(Digest.multiply(share, ratio, adding: own), Digest.subtract(rest, share)),
            power: Digest.multiply(power, ratio))
    }

    /// Returns the number of items in some parts, and their digest.
    @inline(__always)
    private static func joined(_ parts: some Sequence<HandSummary>) -> (count: Int, digest: UInt64) {
        let (count, digest) = parts.reduce((0, 0)) {
            ($0.0 &+ $1.count, Digest.multiplyRoughly($0.1, $1.power, adding: $1.digest))
        }
        return (count, Digest.reduce(high: 0, low: digest))
    }
}

extension PackedItem {
    /// The products are summed in 128 bits and reduced once; 64 products of 61-bit factors fit.
    package static func summary(of elements: [PackedItem]) -> HandSummary {
        let count = elements.count
        precondition(count <= 64, "a leaf holds at most 64 items")
        var high: UInt64 = 0
        var low: UInt64 = 0
        Digest.powers.withUnsafeBufferPointer { powers in
            for (index, element) in elements.enumerated() {
                let product = element.hash.multipliedFullWidth(by: powers[count - 1 - index])
                let (sum, carry) = low.addingReportingOverflow(product.low)
                low = sum
                high = high &+ product.high &+ (carry ? 1 : 0)
            }
        }
        return HandSummary(count: count, digest: Digest.reduce(high: high, low: low), power: Digest.powers[count])
    }
}
