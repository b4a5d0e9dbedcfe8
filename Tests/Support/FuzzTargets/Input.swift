import HandCore

/// The bytes of an input as a stream of choices. After its end, all choices are 0.
struct Input {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// Returns a number in `0..<bound`. The bound is at most 256.
    mutating func below(_ bound: Int) -> Int { Int(byte()) % bound }

    mutating func number<Number: TypedNumber>() -> Number { Number(rawValue: number()) }

    /// Returns mostly small numbers, and numbers at which something may overflow.
    mutating func number() -> UInt64 {
        let choice = byte()
        switch choice {
        case 0..<200: return UInt64(choice % 16)
        case 200..<230: return UInt64(choice) << 8 | UInt64(byte())
        default:
            let edges: [UInt64] = [1 << 53 - 1, 1 << 53 - 2, 1 << 31 - 1, 1 << 32, 1 << 53]
            return edges[Int(choice - 230) % edges.count]
        }
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        let part = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return part
    }

    mutating func rest() -> [UInt8] { bytes(bytes.count) }

    /// Returns a seed for generators of whole values.
    mutating func seed() -> UInt64 { UInt64(byte()) << 8 | UInt64(byte()) }
}
