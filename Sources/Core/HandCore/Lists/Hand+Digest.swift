// How a leaf's digest is computed, and updated without reading the whole leaf: with a million items, each cache line
// that is not read counts. With k elements behind the position of the edit and S their digest, as part of the
// polynomial:
//     insert h:   D′ = (D − S) · B + h · Bᵏ + S
//     remove h:   D′ = (D − S − h · Bᵏ) · B⁻¹ + S
//     replace:    D′ = D + (h′ − h) · Bᵏ
//
// S is computed from elements that the edit has moved, and so touched, anyway.

extension PackedItem {
    package static func summary(of elements: [PackedItem]) -> HandSummary {
        let count = elements.count
        return HandSummary(count: count, digest: digest(of: elements, from: 0), power: Digest.powers[count])
    }

    /// Returns the digest of the elements from `first` on. The products are summed in 128 bits and reduced once; 64
    /// products of 61-bit factors fit.
    private static func digest(of elements: [PackedItem], from first: Int) -> UInt64 {
        let count = elements.count
        precondition(count <= 64, "a leaf holds at most 64 items")
        var high: UInt64 = 0
        var low: UInt64 = 0
        Digest.powers.withUnsafeBufferPointer { powers in
            elements.withUnsafeBufferPointer { elements in
                for index in first..<count {
                    let product = elements[index].hash.multipliedFullWidth(by: powers[count - 1 - index])
                    let (sum, carry) = low.addingReportingOverflow(product.low)
                    low = sum
                    high = high &+ product.high &+ (carry ? 1 : 0)
                }
            }
        }
        return Digest.reduce(high: high, low: low)
    }

    package static func summary(
        _ sum: HandSummary, afterInsertingAt index: Int, of elements: [PackedItem]
    ) -> HandSummary {
        let behind = elements.count - 1 - index
        let suffix = digest(of: elements, from: index + 1)
        let front = Digest.multiply(Digest.subtract(sum.digest, suffix), Digest.base)
        let own = Digest.multiply(elements[index].hash, Digest.powers[behind])
        return HandSummary(
            count: elements.count, digest: Digest.add(Digest.add(front, own), suffix),
            power: Digest.powers[elements.count])
    }

    package static func summary(
        _ sum: HandSummary, afterRemoving removed: PackedItem, at index: Int, of elements: [PackedItem]
    ) -> HandSummary {
        let behind = elements.count - index
        let suffix = digest(of: elements, from: index)
        let own = Digest.multiply(removed.hash, Digest.powers[behind])
        let front = Digest.subtract(Digest.subtract(sum.digest, suffix), own)
        return HandSummary(
            count: elements.count, digest: Digest.add(Digest.multiply(front, Digest.inverseOfBase), suffix),
            power: Digest.powers[elements.count])
    }

    package static func summary(
        _ sum: HandSummary, afterReplacing old: PackedItem, at index: Int, of elements: [PackedItem]
    ) -> HandSummary {
        let change = Digest.subtract(elements[index].hash, old.hash)
        let own = Digest.multiply(change, Digest.powers[elements.count - 1 - index])
        return HandSummary(count: sum.count, digest: Digest.add(sum.digest, own), power: sum.power)
    }
}
