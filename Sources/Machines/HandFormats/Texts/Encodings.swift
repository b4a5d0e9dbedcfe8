import FoundationEssentials

/// Bytes as hexadecimal digits.
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two lowercase digits per byte.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns sixteen lowercase digits, the most significant first. Digests and log ids have this form in JSON,
    /// because not every language can read integers of that size exactly.
    package static func text(_ word: UInt64) -> String {
        text((0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) })
    }

    /// Returns the bytes for an even number of digits of either case, or nil for any other text.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(digit(_:))
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Returns the word for sixteen digits, or nil for any other text.
    package static func word(_ text: String) -> UInt64? {
        guard let bytes = bytes(text), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the value of a digit of either case, or nil for any other byte.
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Bytes in base 64 as RFC 4648 defines it, with padding.
enum Base64 {
    static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns nil if the text is not base 64. Only one form is accepted: full padding, and no bits left over.
    static func bytes(_ text: String) -> [UInt8]? {
        Data(base64Encoded: text).map { [UInt8]($0) }.flatMap { self.text($0) == text ? $0 : nil }
    }
}

extension JSON {
    /// Returns a time in UTC in ISO 8601 format, with milliseconds: `2026-01-31T09:30:00.250Z`.
    ///
    /// - Parameter milliseconds: since 1970. A year may have more than four digits. Foundation's calendar ends after
    ///   half a million years.
    package static func date(milliseconds: UInt64) -> String {
        // Format whole seconds only: a fraction is not exact in binary.
        let seconds = Date(timeIntervalSince1970: Double(milliseconds / 1_000)).formatted(.iso8601)
        let rest = String(milliseconds % 1_000 + 1_000).dropFirst()
        return "\(seconds.dropLast()).\(rest)Z"
    }
}
