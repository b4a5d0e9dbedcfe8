/// Splits a text into words and the text between them.
///
/// A word is a run of letters and digits; one punctuation mark between two such runs joins them into one word, as in
/// `10:30`, `don't` and `ada@example.org`. Ideographs and kana, which are written without spaces, are words of their
/// own, and so is every other character.
enum Words {
    /// Returns the end of each word of some UTF-8; the last one is the end of the text.
    ///
    /// - Complexity: linear in the text.
    static func ends(of bytes: ArraySlice<UInt8>) -> [Int] {
        var ends: [Int] = []
        var end = bytes.startIndex
        /// Whether the word that ends here consists of letters and digits.
        var isInWord = false
        /// The end of a punctuation mark behind a word. If a word follows, the mark joins the two.
        var mark: Int?
        for character in String(decoding: bytes, as: UTF8.self) {
            let isWord = character.isPartOfWord
            // A character that belongs to the word in front of it extends that word.
            if isWord, isInWord {
                ends.removeLast()
            } else if isWord, mark == end {
                ends.removeLast(2)
            }
            mark = !isWord && isInWord && !character.standsAlone ? end + character.utf8.count : nil
            isInWord = isWord
            end += character.utf8.count
            ends.append(end)
        }
        return ends
    }

    /// Whether a text contains a word; blanks and punctuation are not words.
    static func hasAny(_ text: some StringProtocol) -> Bool { text.contains(where: \.isOfWords) }

    /// Returns the length, in bytes, of the blanks and punctuation in front of the first word of a text.
    static func marks(before text: String) -> Int { text.prefix { !$0.isOfWords }.utf8.count }

    /// Whether two texts have a word in common.
    static func haveCommon(_ left: String, _ right: String) -> Bool {
        func words(_ text: String) -> Set<String> {
            let bytes = Array(text.utf8)
            var start = 0
            return Set(
                ends(of: bytes[...]).compactMap { end in
                    defer { start = end }
                    let word = String(decoding: bytes[start..<end], as: UTF8.self)
                    return hasAny(word) ? word : nil
                })
        }
        return !words(left).isDisjoint(with: words(right))
    }
}

extension Character {
    fileprivate var isOfWords: Bool { isPartOfWord || isIdeograph }

    /// Whether the character is a letter or a digit of a script that separates words with spaces.
    fileprivate var isPartOfWord: Bool {
        guard let scalar = unicodeScalars.first, !standsAlone else { return false }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    /// Whether the character never belongs to a word of several characters: a space, an ideograph, a kana.
    fileprivate var standsAlone: Bool {
        unicodeScalars.first?.properties.isWhitespace != false || isIdeograph
    }

    /// Whether the character is an ideograph or a kana.
    fileprivate var isIdeograph: Bool {
        unicodeScalars.first.map { $0.properties.isIdeographic || (0x3040...0x30FF).contains($0.value) } == true
    }
}
