import HandCore
import HandFormats
import HandWire

/// How many columns a text takes in a terminal.
///
/// Terminals differ in how they draw characters made of several wide ones (families, skin tones, emoji with a
/// selector). The characters that the terminal is known to draw as one take two columns. All others are drawn in a form
/// that every terminal draws in the same way: `characters(of:)` removes joiners, selectors and skin tones. The width
/// then follows from the East Asian width (UAX #11) of the scalars alone.
package enum Columns {
    /// The clusters that the terminal is known to draw as one character. ``App`` sets this around all its work.
    @TaskLocal package static var clusters: Clusters = []

    package static func width(of text: String) -> Int {
        if Printable.isPlain(text) { return text.utf8.count }
        return characters(of: text).reduce(0) { $0 + width(of: $1) }
    }

    /// The width of a character from `characters(of:)`: 0, 1 or 2.
    package static func width(of character: Character) -> Int {
        guard let base = character.unicodeScalars.first else { return 0 }
        return isCluster(character) ? 2 : width(of: base)
    }

    /// Whether a character from `characters(of:)` is a cluster that the terminal draws as one.
    static func isCluster(_ character: Character) -> Bool {
        character.utf8.count > 1 && character.unicodeScalars.count > 1
            && character.unicodeScalars.contains(where: isLeftOut)
    }

    /// The characters of a text as they are drawn, none of which is joined to its neighbour.
    package static func characters(of text: String) -> [Character] {
        if Printable.isPlain(text) { return Array(text) }
        let known = clusters
        if known.isEmpty { return apart(text.unicodeScalars) }
        return text.flatMap { known.drawsAsOne($0) ? [$0] : apart($0.unicodeScalars) }
    }

    private static func apart(_ scalars: some Sequence<Unicode.Scalar>) -> [Character] {
        var characters: [Character] = []
        for scalar in scalars where !isLeftOut(scalar) {
            guard isMark(scalar) else {
                characters.append(Character(scalar))
                continue
            }
            // A mark that does not combine with the character before is left out.
            guard let last = characters.last, last.unicodeScalars.count < maxMarks else { continue }
            let joined = String(last) + String(scalar)
            if joined.count == 1 { characters[characters.count - 1] = Character(joined) }
        }
        return characters
    }

    /// The most marks on one letter; more would only garble the screen.
    private static let maxMarks = 8

    /// The scalar of a character that has only one scalar, is drawn unchanged, and never joins another such character;
    /// nil for all other characters. This fast path covers most text.
    package static func plain(_ character: Character) -> UInt32? {
        guard let first = character.unicodeScalars.first, character.utf8.count == UTF8.width(first) else { return nil }
        switch first.value {
        case 0x20...0x7E, 0xC0...0x2FF, 0x391...0x3FF, 0x400...0x481, 0x3041...0x3096, 0x30A1...0x30FA,
            0x4E00...0x9FFF, 0xAC00...0xD7A3:
            return first.value
        default: return nil
        }
    }

    /// Whether a scalar is a mark above or below a letter, or a Hangul vowel or final that joins an initial to form a
    /// syllable.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1160...0x11FF, 0xD7B0...0xD7FB: return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return true
        default: return false
        }
    }

    /// Whether a scalar is a joiner, a variation selector, a skin tone, a format character, or anything else that
    /// terminals do not draw, or draw differently.
    private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
        0x1F3FB...0x1F3FF ~= scalar.value || !VisibleText.isHarmless(scalar, after: nil)
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        return isMark(scalar) ? 0 : isWide(scalar.value) ? 2 : 1
    }

    package static func isWide(_ value: UInt32) -> Bool {
        let index = wide.partitioningIndex { $0.upperBound >= value }
        return index < wide.count && wide[index].contains(value)
    }

    /// Wide and full-width scalars, sorted: East Asian Width W and F of Unicode 15. A test compares them with the
    /// system's `wcwidth`. Ranges may contain unassigned code points.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
        0x3041...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A,
        0x1F200...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA,
        0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440,
        0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A,
        0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
        0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0,
        0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3134A,
    ]
}
