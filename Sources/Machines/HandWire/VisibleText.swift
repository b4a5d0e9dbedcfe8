/// The characters that people may be shown, and that names of lists may have (`Protocol.md`, “Names of lists”).
package enum VisibleText {
    /// Whether a character is no control character, no mark of writing direction, and is visible or has a meaning after
    /// the previous character.
    package static func isHarmless(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: false
        // Embeddings, overrides, isolates, direction marks; line and paragraph separators.
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C, 0x2028, 0x2029: false
        // Zero-width spaces, obsolete format characters, fillers.
        case 0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x2060...0x2065, 0x206A...0x206F: false
        case 0x3164, 0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A: false
        // Joiners, which are allowed in scripts that use them and between emoji; variation selectors.
        case 0x200C, 0x200D: previous.map { $0.value >= 0x600 && (!isSign($0) || $0 == "\u{FE0F}") } ?? false
        case 0xFE00...0xFE0F: previous.map { ($0.value >= 0x1000 || $0.properties.isEmoji) && !isSign($0) } ?? false
        case 0xE0100...0xE01EF: previous.map { $0.value >= 0x2E80 && !isSign($0) } ?? false
        // Tag characters of flag emoji, which are invisible elsewhere.
        case 0xE0020...0xE007F: previous.map { $0.value == 0x1F3F4 || (0xE0020...0xE007E).contains($0.value) } ?? false
        case 0xE0000...0xE0FFF: false
        case 0x180B...0x180F: previous.map { 0x1820...0x18AF ~= $0.value } ?? false
        case 0x13430...0x1343F: previous.map { 0x13000...0x1342F ~= $0.value } ?? false
        default: true
        }
    }

    /// Whether a scalar is a joiner or a selector, or stands in place of such a sign. A sign makes no sense after
    /// another sign.
    private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF, 0xFFFD, 0xE0000...0xE0FFF: true
        default: false
        }
    }

    /// Returns the first character that people cannot see, or nil if they see all.
    package static func firstHidden(in text: String) -> Unicode.Scalar? {
        var previous: Unicode.Scalar?
        return text.unicodeScalars.first { scalar in
            defer { previous = scalar }
            return !isHarmless(scalar, after: previous)
        }
    }
}
