/// The fingerprint of a sequence of items: a polynomial in a fixed base over the field of integers modulo 2⁶¹ − 1.
///
/// `digest([h₀ … hₙ₋₁]) = Σ hᵢ · Bⁿ⁻¹⁻ⁱ mod (2⁶¹ − 1)`, where the hᵢ are the items' hashes. The digests of two parts
/// are joined in constant time, so a tree updates its digest in O(log n) per edit. This is Rabin and Karp's rolling
/// hash; it detects faults, not forgery.
package enum Digest {
    /// The prime 2⁶¹ − 1.
    package static let modulus: UInt64 = (1 << 61) - 1
    package static let base: UInt64 = 0x0E3B_7C9D_5F17_A36B

    /// Returns `left · right` modulo 2⁶¹ − 1, for factors below the modulus.
    @inline(__always)
    package static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return reduce(high: product.high, low: product.low)
    }

    /// Returns `left · right + term` modulo 2⁶¹ − 1, for numbers below the modulus.
    @inline(__always)
    static func multiply(_ left: UInt64, _ right: UInt64, adding term: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        let (low, carry) = product.low.addingReportingOverflow(term)
        return reduce(high: product.high &+ (carry ? 1 : 0), low: low)
    }

    /// Like `multiply(_:_:adding:)`, but faster: `left` need only be below 2⁶², and the result is below 2⁶², too. For
    /// sums that are reduced once at the end.
    @inline(__always)
    static func multiplyRoughly(_ left: UInt64, _ right: UInt64, adding term: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        let (low, carry) = product.low.addingReportingOverflow(term)
        let high = product.high &+ (carry ? 1 : 0)
        let sum = (low & modulus) &+ (high << 3 | low >> 61)
        return (sum & modulus) &+ (sum >> 61)
    }

    @inline(__always)
    package static func add(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let sum = left &+ right
        return sum >= modulus ? sum &- modulus : sum
    }

    @inline(__always)
    static func subtract(_ left: UInt64, _ right: UInt64) -> UInt64 {
        left >= right ? left &- right : left &+ modulus &- right
    }

    /// The multiplicative inverse of `base`: base^(p − 2), by Fermat.
    package static let inverseOfBase: UInt64 = 0x0930_29BD_B1ED_5902

    /// Reduces a 128-bit number modulo 2⁶¹ − 1, using 2⁶¹ ≡ 1.
    @inline(__always)
    static func reduce(high: UInt64, low: UInt64) -> UInt64 {
        let middle = (high << 3 | low >> 61) & modulus
        var sum = (low & modulus) &+ middle &+ (high >> 58)
        sum = (sum & modulus) &+ (sum >> 61)
        return sum >= modulus ? sum &- modulus : sum
    }

    /// Four rows of 256 powers, one row for each byte of an exponent: powers of base, of base²⁵⁶, of base to the power
    /// of 256², and of base to the power of 256³.
    static let powers: [UInt64] = {
        var powers: [UInt64] = []
        var step = base
        for _ in 0..<4 {
            var power: UInt64 = 1
            for _ in 0..<256 {
                powers.append(power)
                power = multiply(power, step)
            }
            step = power
        }
        return powers
    }()

    /// `base` to the power of a list's length. O(1).
    static func power(_ exponent: Int) -> UInt64 {
        precondition(exponent >> 32 == 0, "no list has 2³² items")
        return powers.withUnsafeBufferPointer { powers in
            var power = powers[exponent & 255]
            var (rest, row) = (exponent >> 8, 256)
            while rest > 0 {
                power = multiply(power, powers[row + rest & 255])
                (rest, row) = (rest >> 8, row + 256)
            }
            return power
        }
    }
}
