extension Wrapping {
    /// The fewest columns to which a quotation is shortened.
    private static let leastQuoted = 8

    /// A sentence as one line. If it is too long, its quotations in `'…'` are shortened, the longest first: the words
    /// around them say what happened.
    static func sentence(_ text: String, width: Int) -> String {
        let clean = lines(text, width: .max / 2, limit: 1)[0]
        guard Columns.width(of: clean) > width else { return clean }
        let parts = parts(of: clean)
        let widths = parts.map { Columns.width(of: $0.text) }
        func total(_ widest: Int) -> Int {
            zip(parts, widths).reduce(0) { $0 + ($1.0.isQuoted ? min($1.1, widest) : $1.1) }
        }
        let widest = (leastQuoted...max(leastQuoted, width)).last { total($0) <= width } ?? leastQuoted
        let short = parts.map { $0.isQuoted ? lines($0.text, width: widest, limit: 1)[0] : $0.text }
        return lines(short.joined(), width: max(1, width), limit: 1)[0]
    }

    /// The text within quotation marks, and the text around it. An apostrophe within a word is no quotation mark.
    private static func parts(of text: String) -> [(text: String, isQuoted: Bool)] {
        var parts = [(text: "", isQuoted: false)]
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            let last = index > 0 ? characters[index - 1] : " "
            let next = index + 1 < characters.count ? characters[index + 1] : " "
            let isQuoted = parts[parts.count - 1].isQuoted
            if character == "'", isQuoted ? " ,;.:)".contains(next) : " (".contains(last) {
                if isQuoted { parts.append(("'", false)) } else { parts[parts.count - 1].text.append("'") }
                if !isQuoted { parts.append(("", true)) }
            } else {
                parts[parts.count - 1].text.append(character)
            }
        }
        return parts
    }
}
