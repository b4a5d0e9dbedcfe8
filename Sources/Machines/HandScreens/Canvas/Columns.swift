/// How many columns of a terminal text takes.
///
/// Terminals disagree about characters that are made of several wide ones (families, skin tones, emoji that a selector asks
/// for), so these are drawn in a form on which all agree: `characters(of:)` takes joiners, selectors and skin tones out.
/// The right columns then follow from the scalars' East Asian width (UAX #11) alone.
public enum Columns {
    /// Columns of a text as it is drawn.
    public static func width(of text: String) -> Int {
        // Most text is plain.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return characters(of: text).reduce(0) { $0 + width(of: $1) }
    }

    /// Columns of one character from `characters(of:)`: 0, 1 or 2.
    public static func width(of character: Character) -> Int {
        guard let base = character.unicodeScalars.first else { return 0 }
        return width(of: base)
    }

    /// The characters of a text as they are drawn, none of which is joined to its neighbour.
    public static func characters(of text: String) -> [Character] {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return Array(text) }
        var characters: [Character] = []
        for scalar in text.unicodeScalars where !isLeftOut(scalar) {
            if isMark(scalar), let last = characters.last, last.unicodeScalars.count < mostMarks {
                characters[characters.count - 1] = Character(String(last) + String(scalar))
            } else if !isMark(scalar) {
                characters.append(Character(scalar))
            }
        }
        return characters
    }

    /// Marks above and below one letter; more of them are only there to deface the screen.
    private static let mostMarks = 8

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Joiners, variation selectors, skin tones, and everything else that terminals draw as nothing or each in its own way.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200B...0x200F, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF, 0x1F3FB...0x1F3FF, 0xE0000...0xE0FFF: true
        case 0..<0x20, 0x7F..<0xA0, 0xAD: true
        default: false
        }
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        if isMark(scalar) { return 0 }
        return wide.contains { $0.contains(value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3]
}
