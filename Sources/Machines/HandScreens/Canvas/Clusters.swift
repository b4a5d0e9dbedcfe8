/// The kinds of joined emoji that a terminal draws as one character of two columns. Terminals differ, so the client
/// tests each one; a terminal that does not answer is assumed to draw none of them.
package struct Clusters: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An emoji with a skin tone.
    package static let toned = Clusters(rawValue: 1)
    /// Two or three emoji joined.
    package static let joined = Clusters(rawValue: 2)
    /// More than three emoji joined, which some terminals cannot draw.
    package static let long = Clusters(rawValue: 4)
    /// A sign with the selector for its emoji form, instead of its narrow form.
    package static let selected = Clusters(rawValue: 8)

    /// The samples that a terminal must draw, each at the start of a row. The terminal supports a kind if its cursor is
    /// in column 2 after the sample.
    package static let samples: [(kind: Clusters, text: String)] = [
        (.toned, "👍🏽"), (.joined, "👩‍👩‍👧"), (.long, "👨‍👩‍👧‍👦"), (.selected, "❤️"),
    ]

    /// The row of the first sample. A report from row 0 reads like F3 with ctrl or alt.
    package static let firstRow = 1

    /// Learns from the position of the cursor after a sample. The row identifies the sample.
    mutating func calibrate(_ cursor: Point) {
        let index = cursor.row - Self.firstRow
        guard Self.samples.indices.contains(index) else { return }
        if cursor.column == 2 { insert(Self.samples[index].kind) } else { remove(Self.samples[index].kind) }
    }

    /// Whether the terminal draws a cluster as one character of two columns.
    func drawsAsOne(_ character: Character) -> Bool {
        guard let needed = Self.kinds(in: character) else { return false }
        return isSuperset(of: needed)
    }

    /// The kinds that a terminal must support for this character; nil if it is not a cluster.
    private static func kinds(in character: Character) -> Clusters? {
        var kinds: Clusters = []
        var emoji = 0
        // What may come next: an emoji (isOpen), a modifier of the previous emoji (isBare), or only a joiner.
        var (isOpen, isBare) = (true, false)
        var isWide = false
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0x200D where !isOpen:
                kinds.insert(.joined)
                isOpen = true
            case 0xFE0F where isBare:
                if emoji == 1, !isWide { (isWide, _) = (true, kinds.insert(.selected)) }
                isBare = false
            case 0x1F3FB...0x1F3FF where isBare:
                kinds.insert(.toned)
                isBare = false
            case 0x2000... where isOpen && scalar.properties.isEmoji && !isFlag(scalar):
                emoji += 1
                if emoji == 1 { isWide = Columns.isWide(scalar.value) }
                (isOpen, isBare) = (false, true)
            default: return nil
            }
        }
        guard !isOpen, isWide, !kinds.isEmpty, emoji <= 4 else { return nil }
        return emoji > 3 ? kinds.union(.long) : kinds
    }

    /// Whether a scalar is one of the letters that form flags. Flags take two columns in every terminal.
    private static func isFlag(_ scalar: Unicode.Scalar) -> Bool { (0x1F1E6...0x1F1FF).contains(scalar.value) }
}
