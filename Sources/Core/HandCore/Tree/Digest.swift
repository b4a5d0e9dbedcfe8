/// The fingerprint of a sequence of items: a polynomial in a fixed base over the field of integers modulo 2⁶¹ − 1.
///
/// `digest([h₀ … hₙ₋₁]) = Σ hᵢ · Bⁿ⁻¹⁻ⁱ mod (2⁶¹ − 1)`, the hᵢ being the items' hashes. Two parts are joined in constant
/// time, so a tree keeps it up to date in O(log n) an edit. Rabin and Karp's rolling hash; it finds faults, not forgers.
public enum Digest {
    /// The prime 2⁶¹ − 1.
    public static let modulus: UInt64 = (1 << 61) - 1
    /// The base of the polynomial.
    public static let base: UInt64 = 0x0E3B_7C9D_5F17_A36B

    /// `left · right` modulo 2⁶¹ − 1, for factors below the modulus.
    @inline(__always)
    public static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return reduce(high: product.high, low: product.low)
    }

    @inline(__always)
    public static func add(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let sum = left &+ right
        return sum >= modulus ? sum &- modulus : sum
    }

    @inline(__always)
    static func subtract(_ left: UInt64, _ right: UInt64) -> UInt64 {
        left >= right ? left &- right : left &+ modulus &- right
    }

    /// The number that `base` is multiplied with to give 1: base^(p − 2), by Fermat.
    static let inverseOfBase: UInt64 = {
        var result: UInt64 = 1
        var square = base
        var exponent = modulus - 2
        while exponent > 0 {
            if exponent & 1 == 1 { result = multiply(result, square) }
            square = multiply(square, square)
            exponent >>= 1
        }
        return result
    }()

    /// A 128-bit number modulo 2⁶¹ − 1, using 2⁶¹ ≡ 1.
    @inline(__always)
    static func reduce(high: UInt64, low: UInt64) -> UInt64 {
        let middle = (high << 3 | low >> 61) & modulus
        var sum = (low & modulus) &+ middle &+ (high >> 58)
        sum = (sum & modulus) &+ (sum >> 61)
        return sum >= modulus ? sum &- modulus : sum
    }

    /// base⁰ … base⁶⁴.
    static let powers: [UInt64] = {
        var powers: [UInt64] = [1]
        for _ in 0..<64 { powers.append(multiply(powers[powers.count - 1], base)) }
        return powers
    }()
}

// MARK: - Hash of one item

extension Item {
    /// FNV-1a of the item's bytes on the wire, mixed once more (MurmurHash3's 64-bit finalizer), modulo 2⁶¹ − 1.
    public var hash: UInt64 {
        var hasher = ItemHasher()
        hasher.feed(id.rawValue)
        hasher.feed(varint: UInt64(content.kind.rawValue))
        hasher.feed(content)
        return hasher.finish()
    }
}

/// Feeds the same bytes that the codec writes for an item, without writing them (`Protocol.md`, “Items”).
private struct ItemHasher {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    mutating func feed(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    mutating func feed(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { feed(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    mutating func feed(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            feed(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        feed(UInt8(truncatingIfNeeded: rest))
    }

    mutating func feed(_ text: String) {
        let fed: Void? = text.utf8.withContiguousStorageIfAvailable { for byte in $0 { feed(byte) } }
        if fed == nil { for byte in text.utf8 { feed(byte) } }
    }

    mutating func feed(_ content: Content) {
        feed(varint: UInt64(content.bodySize))
        switch content {
        case .card(let card): feed(card.code)
        case .note(let text), .heading(let text): feed(text)
        case .task(let text, let done):
            feed(UInt8(done ? 1 : 0))
            feed(text)
        case .link(let text, let url):
            feed(varint: UInt64(text.utf8.count))
            feed(text)
            feed(url)
        case .unknown(_, let bytes): for byte in bytes { feed(byte) }
        }
    }

    func finish() -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        mixed = (mixed ^ (mixed >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        mixed ^= mixed >> 33
        return mixed % Digest.modulus
    }
}

extension Content {
    /// Bytes that the body of this content takes on the wire (`Protocol.md`, “Items”).
    public var bodySize: Int {
        switch self {
        case .card: 1
        case .note(let text), .heading(let text): text.utf8.count
        case .task(let text, _): 1 + text.utf8.count
        case .link(let text, let url):
            UInt64(text.utf8.count).varintSize + text.utf8.count + url.utf8.count
        case .unknown(_, let bytes): bytes.count
        }
    }
}

extension UInt64 {
    /// Bytes that this number takes as a varint: seven bits a byte.
    public var varintSize: Int {
        self == 0 ? 1 : (70 - leadingZeroBitCount) / 7
    }
}
