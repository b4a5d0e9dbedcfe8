/// A number as the key of a set or a dictionary, for where hashing counts: by one multiplication instead of the standard
/// library's SipHash, which takes five times as long.
///
/// Numbers that a client has chosen may be keys. The hash is a folded product (Yi's wyhash) with a secret that is drawn anew in
/// each process, as the standard library's own is, so that nobody can choose numbers that collide.
package struct NumberKey: Hashable, Sendable {
    package let number: UInt64

    @inline(__always)
    package init(_ number: UInt64) {
        self.number = number
    }

    private static let secret = UInt64(bitPattern: Int64(Hasher().finalize()))

    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
    }

    /// What sets and dictionaries ask for.
    @inline(__always)
    package func _rawHashValue(seed: Int) -> Int {
        let product = (number ^ Self.secret).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: Int64(seed)))
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}
