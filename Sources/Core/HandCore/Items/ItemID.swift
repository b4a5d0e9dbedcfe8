/// The name of one item: 64 random bits, minted by the item's author and never used again.
///
/// People see it as text of thirteen characters in Crockford's base 32 (`0–9 a–z` without `i l o u`), the most significant
/// bits first, and usually only a prefix long enough to be unique in the list.
public struct ItemID: Hashable, Sendable, Comparable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Mints an id from a source of randomness that the caller owns.
    public static func random(using generator: inout some RandomNumberGenerator) -> ItemID {
        ItemID(rawValue: generator.next())
    }

    public static func < (left: ItemID, right: ItemID) -> Bool {
        left.rawValue < right.rawValue
    }
}

// MARK: - Text

extension ItemID: CustomStringConvertible {
    /// Number of characters in the full text of an id: ⌈64 / 5⌉.
    public static let textLength = 13

    /// Crockford's base 32: five bits a character, and none that looks like another.
    package static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// The full text: 13 characters of five bits each; the last one carries the four lowest bits, shifted up by one.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) { buffer in
            for index in 0..<Self.textLength {
                buffer[index] = Self.alphabet[Self.digit(of: rawValue, at: index)]
            }
            return Self.textLength
        }
    }

    private static func digit(of value: UInt64, at index: Int) -> Int {
        let shift = 59 - 5 * index
        return Int((shift >= 0 ? value >> UInt64(shift) : value << UInt64(-shift)) & 31)
    }

    /// The ids whose text starts with `prefix`, or nil if `prefix` is empty, too long or not in the alphabet.
    ///
    /// Case does not matter, and `o`, `i`, `l` are read as `0`, `1`, `1`, as Crockford's encoding asks.
    public static func range(ofPrefix prefix: String) -> ClosedRange<ItemID>? {
        guard !prefix.isEmpty, prefix.utf8.count <= textLength else { return nil }
        var low: UInt64 = 0
        for (index, byte) in prefix.utf8.enumerated() {
            guard let digit = value(of: byte) else { return nil }
            let shift = 59 - 5 * index
            if shift < 0, digit & 1 != 0 { return nil }
            low |= shift >= 0 ? UInt64(digit) << UInt64(shift) : UInt64(digit) >> UInt64(-shift)
        }
        let free = UInt64(max(0, 64 - 5 * prefix.utf8.count))
        let high = free == 0 ? low : low | (UInt64.max >> (64 - free))
        return ItemID(rawValue: low)...ItemID(rawValue: high)
    }

    /// Reads the full text of an id; nil if it is not one.
    public init?(_ text: String) {
        guard text.utf8.count == Self.textLength, let range = Self.range(ofPrefix: text) else { return nil }
        self = range.lowerBound
    }

    private static func value(of byte: UInt8) -> Int? {
        let lower = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 32 : byte
        switch lower {
        case UInt8(ascii: "o"): return 0
        case UInt8(ascii: "i"), UInt8(ascii: "l"): return 1
        default: return alphabet.firstIndex(of: lower)
        }
    }
}
