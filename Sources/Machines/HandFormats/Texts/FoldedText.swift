@_spi(_Unicode) import Swift

/// Texts as people compare them: “KÄSE” and “käse” are the same, however their letters are composed.
enum FoldedText {
    /// How many marks in a row are put in order. To order a text of nothing else takes quadratic time; Unicode calls
    /// texts without longer runs stream-safe (UAX #15, D4).
    private static let maxMarks = 30

    /// Returns a text in lower case, decomposed (NFD). O(n)
    static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var (folded, part, marks) = (String.UnicodeScalarView(), String.UnicodeScalarView(), 0)
        func finishPart() {
            for scalar in String(part)._nfd { folded.append(scalar) }
            part.removeAll(keepingCapacity: true)
            marks = 0
        }
        for scalar in text.lowercased().unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            if marks > maxMarks { finishPart() }
            // A sigma has another form at the end of a word.
            part.append(scalar == "ς" ? "σ" : scalar)
        }
        finishPart()
        return String(folded)
    }
}

/// What somebody looks for in texts. Neither case nor the composition of letters matters.
package struct TextSearch: Sendable {
    private let needle: [UInt8]

    package init(_ query: String) { needle = Array(FoldedText.folded(query).utf8) }

    package func isFound(in text: String) -> Bool {
        guard let first = needle.first else { return true }
        var text = text
        let isASCII = text.withUTF8 { bytes in bytes.allSatisfy { $0 < 0x80 } }
        if !isASCII { text = FoldedText.folded(text) }
        return text.withUTF8 { bytes in
            guard bytes.count >= needle.count else { return false }
            for start in 0...(bytes.count - needle.count) where Self.folded(bytes[start]) == first {
                var offset = 1
                while offset < needle.count, Self.folded(bytes[start + offset]) == needle[offset] { offset += 1 }
                if offset == needle.count { return true }
            }
            return false
        }
    }

    private static func folded(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte + 32 : byte }
}
