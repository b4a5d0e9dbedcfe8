/// A number that stands for one thing of a kind. Each kind has its own type, so that the compiler tells an author from
/// a list; at run time there is only the number.
///
/// The hash is one multiplication; the standard library's SipHash takes five times as long. Clients may have chosen the
/// numbers: the hash is a folded product, as in Wang Yi's wyhash, with a secret that each process draws anew, as the
/// standard library does. So nobody can choose numbers that collide.
public protocol TypedNumber: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    var rawValue: UInt64 { get }
    init(rawValue: UInt64)
}

extension TypedNumber {
    @inlinable public init(integerLiteral value: UInt64) { self.init(rawValue: value) }

    /// The number after this one. Only a peer that lies makes a number the greatest one, which stays.
    @inlinable package var next: Self { Self(rawValue: Swift.min(rawValue &+ 1, 1 << 53 - 1)) }

    public var description: String { rawValue.description }

    @inlinable public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// The hash that sets and dictionaries use.
    @inlinable
    public func _rawHashValue(seed: Int) -> Int {
        // Odd, so that no low bit is lost.
        let factor = (0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: Int64(seed))) | 1
        let product = (rawValue ^ hashSecret).multipliedFullWidth(by: factor)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}

@usableFromInline let hashSecret = UInt64(bitPattern: Int64(Hasher().finalize()))

/// A number as the key of a set or a dictionary where the speed of hashing matters.
@usableFromInline
package struct NumberKey: TypedNumber {
    @usableFromInline package let rawValue: UInt64

    @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }
    @inlinable package init(_ number: UInt64) { rawValue = number }
}
