/// A number as the key of a set or a dictionary where the speed of hashing matters. Its hash is one multiplication; the
/// standard library's SipHash takes five times as long.
///
/// Clients may have chosen the numbers. The hash is a folded product, as in Wang Yi's wyhash, with a secret that each
/// process draws anew, as the standard library does. So nobody can choose numbers that collide.
@usableFromInline
package struct NumberKey: Hashable, Sendable {
    @usableFromInline package let number: UInt64

    @inlinable
    package init(_ number: UInt64) {
        self.number = number
    }

    @usableFromInline static let secret = UInt64(bitPattern: Int64(Hasher().finalize()))

    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
    }

    /// The hash that sets and dictionaries use.
    @inlinable
    package func _rawHashValue(seed: Int) -> Int {
        // Odd, so that no low bit is lost.
        let factor = (0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: Int64(seed))) | 1
        let product = (number ^ Self.secret).multipliedFullWidth(by: factor)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}

extension Dictionary where Key == NumberKey {
    @inlinable
    package subscript(number: UInt64) -> Value? {
        get { self[NumberKey(number)] }
        _modify { yield &self[NumberKey(number)] }
    }
}
